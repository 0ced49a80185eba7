//! What is found out about sources, apart from results: found out once for all requests that need it, and remembered by
//! the state of the source.

use std::sync::Arc;
use std::time::Duration;

use andon_cache::{Deadline, FlightError, Flights, Key, Table};

use super::MOST_REMEMBERED;
use crate::error::{Error, SharedError};

/// Remembers one kind of finding about sources.
#[derive(Clone, Debug)]
pub(crate) struct SourceMemo<V> {
    flights: Flights<Key, Result<V, SharedError>>,
    known: Arc<Table<Key, Result<V, SharedError>>>,
    /// How long errors of the client or the source are remembered.
    negative: Duration,
}

impl<V: Clone + Send + Sync + 'static> SourceMemo<V> {
    pub(crate) fn new(negative: Duration) -> Self {
        Self {
            flights: Flights::new(),
            known: Arc::new(Table::new(MOST_REMEMBERED)),
            negative,
        }
    }

    /// Returns what is known about the source in the state that `key` names.
    pub(crate) fn get(&self, key: &Key) -> Option<Result<V, Error>> {
        Some(self.known.get(key)?.map_err(Error::from))
    }

    /// Returns what is known about the source in the state that `key` names, or what `work` finds out until the
    /// deadline that it is handed. Concurrent callers share one run of the work, which has the latest of their deadlines.
    ///
    /// # Errors
    /// Those of `work`, which may be another caller's.
    pub(crate) async fn get_or<W>(
        &self,
        key: Key,
        deadline: &Deadline,
        work: impl FnOnce(Deadline) -> W + Send + 'static,
    ) -> Result<V, Error>
    where
        W: Future<Output = Result<V, Error>> + Send + 'static,
    {
        if let Some(known) = self.get(&key) {
            return known;
        }
        let (known, negative) = (self.known.clone(), self.negative);
        let work = move |deadline| async move {
            let found = work(deadline).await.map_err(Error::shared);
            let span = match &found {
                Ok(_) => REMEMBERED,
                Err(fault) if fault.status().is_client_error() => negative,
                Err(_) => Duration::ZERO,
            };
            known.insert_for(key, found.clone(), span);
            found
        };
        let landed = self.flights.run(key, deadline, work).await;
        Ok(landed.map_err(fallen)?.value?)
    }

    /// Returns the number of callers that wait for the work of another caller.
    pub(crate) fn followers(&self) -> usize {
        self.flights.followers()
    }
}

/// Returns the error for shared work that panicked or was stopped.
pub(crate) fn fallen(error: FlightError) -> Error {
    match error {
        FlightError::Panicked => Error::Panicked,
        FlightError::Stopped => Error::NotReady("stopping"),
    }
}

/// How long a finding is remembered. It never becomes wrong, because a changed source has another key, so this only
/// limits the memory taken.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
