//! Whether requests should be sent to this server. `/readyz` reports this, whereas `/healthz` only reports that the
//! server responds.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// Whether the server has started, and whether it is about to stop.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    started: AtomicBool,
    stopping: AtomicBool,
}

impl Readiness {
    /// Marks the server as started: the cache entries of earlier runs have been found, so hits are as fast as usual.
    pub(crate) fn start(&self) {
        self.started.store(true, Ordering::Relaxed);
    }

    /// Marks the server as stopping. It never becomes ready again.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Checks that the server is ready.
    ///
    /// # Errors
    /// [`Error::NotReady`], while requests should be sent to another server.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_stopping() {
            return Err(Error::NotReady("stopping"));
        }
        match self.started.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err(Error::NotReady("starting")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ready_between_start_and_stop() {
        let readiness = Readiness::default();
        let said = || readiness.check().map_err(|error| error.to_string());
        assert_eq!(said(), Err("the server is starting".to_owned()));
        readiness.start();
        assert_eq!(said(), Ok(()));
        readiness.stop();
        assert_eq!(said(), Err("the server is stopping".to_owned()));
    }
}
