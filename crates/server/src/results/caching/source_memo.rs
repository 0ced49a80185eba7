//! What is found out about sources beside results: once for all who want to know, and remembered by the state of the
//! source.

use std::sync::Arc;
use std::time::Duration;

use andon_cache::{FlightError, Flights, Key};

use super::Memo;
use crate::error::{Error, SharedError};

/// One kind of it.
#[derive(Clone, Debug)]
pub(crate) struct SourceMemo<V> {
    flights: Flights<Key, Result<V, SharedError>>,
    known: Arc<Memo<Result<V, SharedError>>>,
    /// How long the client's and the source's faults are remembered.
    negative: Duration,
}

impl<V: Clone + Send + Sync + 'static> SourceMemo<V> {
    pub(crate) fn new(negative: Duration) -> Self {
        Self {
            flights: Flights::new(),
            known: Arc::default(),
            negative,
        }
    }

    /// What is known of the source in the state that `key` names.
    pub(crate) fn get(&self, key: &Key) -> Option<Result<V, Error>> {
        let (known, _) = self.known.get(key)?;
        Some(known.map_err(Error::from))
    }

    /// What is known of the source in that state, or what `work` finds out.
    ///
    /// # Errors
    /// Those of `work`, which may have been somebody else's.
    pub(crate) async fn get_or<W>(
        &self,
        key: Key,
        work: impl FnOnce() -> W + Send + 'static,
    ) -> Result<V, Error>
    where
        W: Future<Output = Result<V, Error>> + Send + 'static,
    {
        if let Some(known) = self.get(&key) {
            return known;
        }
        let (known, negative) = (self.known.clone(), self.negative);
        let work = move |_| async move {
            let found = work().await.map_err(Error::shared);
            let span = match &found {
                Ok(_) => REMEMBERED,
                Err(fault) if fault.status().is_client_error() => negative,
                Err(_) => Duration::ZERO,
            };
            known.remember(key, found.clone(), span);
            found
        };
        let landed = self.flights.run(key, work).await;
        Ok(landed.map_err(fallen)?.value?)
    }

    /// How many wait for what somebody else is finding out.
    pub(crate) fn followers(&self) -> usize {
        self.flights.followers()
    }
}

/// A flight that did not land.
pub(crate) fn fallen(error: FlightError) -> Error {
    match error {
        FlightError::Panicked => Error::Panicked,
        FlightError::Stopped => Error::Busy,
    }
}

/// A changed source has another key, so it is only for the room.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
