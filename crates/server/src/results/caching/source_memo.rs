//! Findings about sources, such as measurements. Each is determined once for all requests that need it, and remembered
//! by the state of the source.

use std::sync::Arc;
use std::time::Duration;

use andon_cache::{Deadline, FlightError, Flights, Key, Table};

use super::MOST_REMEMBERED;
use crate::error::{Error, SharedError};

/// A cache of one kind of finding about sources, such as measurements. Each finding is determined once.
#[derive(Clone, Debug)]
pub(crate) struct SourceMemo<V> {
    flights: Flights<Key, Result<V, SharedError>>,
    findings: Arc<Table<Key, Result<V, SharedError>>>,
    /// How long errors of the client or the source are remembered.
    negative: Duration,
}

impl<V: Clone + Send + Sync + 'static> SourceMemo<V> {
    pub(crate) fn new(negative: Duration) -> Self {
        Self {
            flights: Flights::new(),
            findings: Arc::new(Table::new(MOST_REMEMBERED)),
            negative,
        }
    }

    /// Returns the finding about the source in the state with this key, or the error of determining it; `None` if
    /// neither is remembered.
    pub(crate) fn get(&self, key: &Key) -> Option<Result<V, Error>> {
        Some(self.findings.get(key)?.map_err(Error::from))
    }

    /// Returns the finding about the source in the state with this key, or runs `work` to determine it. Concurrent
    /// callers share one run of the work, which receives the latest of their deadlines.
    ///
    /// # Errors
    /// The errors of `work`, which may be that of another caller.
    pub(crate) async fn get_or<W>(
        &self,
        key: Key,
        deadline: &Deadline,
        work: impl FnOnce(Deadline) -> W + Send + 'static,
    ) -> Result<V, Error>
    where
        W: Future<Output = Result<V, Error>> + Send + 'static,
    {
        if let Some(finding) = self.get(&key) {
            return finding;
        }
        let (findings, negative) = (self.findings.clone(), self.negative);
        let work = move |deadline| async move {
            let result = work(deadline).await.map_err(Error::shared);
            let span = match &result {
                Ok(_) => REMEMBERED,
                Err(fault) if fault.status().is_client_error() => negative,
                Err(_) => Duration::ZERO,
            };
            findings.insert_for(key, result.clone(), span);
            result
        };
        let outcome = self.flights.run(key, deadline, work).await;
        Ok(outcome.map_err(flight_error)?.value?)
    }

    /// Returns the number of callers that wait for the work of another caller.
    pub(crate) fn followers(&self) -> usize {
        self.flights.followers()
    }
}

/// Returns the error for shared work that panicked or was stopped.
pub(crate) fn flight_error(error: FlightError) -> Error {
    match error {
        FlightError::Panicked => Error::Panicked,
        FlightError::Stopped => Error::NotReady("stopping"),
    }
}

/// How long a finding is remembered. It never becomes wrong, because a changed source has another key. The limit only
/// frees memory.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
