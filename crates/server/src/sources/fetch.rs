//! Reading files without holding up anything else: a few slots of their own, apart from the pixel
//! threads, and a ceiling on the bytes that are held at a time. Looking at files has slots apart from
//! reading them: a hit that is checked and a request that is refused wait for no megabytes.

use std::time::{Duration, Instant};

use tokio::task;

use crate::config::LimitsConfig;
use crate::error::Error;
use crate::origins::{Budget, Reservation, SourceMemory};
use crate::permits::Permits;

/// The slots and the ceiling.
#[derive(Clone, Debug)]
pub(crate) struct Fetcher {
    slots: Permits,
    looks: Permits,
    held: SourceMemory,
}

impl Fetcher {
    pub(crate) fn new(limits: &LimitsConfig) -> Self {
        Self {
            slots: Permits::of(limits.fetches),
            looks: Permits::of(limits.fetches),
            held: SourceMemory::new(limits.held_bytes.0),
        }
    }

    /// Other limits from now on, for whoever shares them; what is being read is read to its end.
    pub(crate) fn resize(&self, limits: &LimitsConfig) {
        self.slots.resize_to(limits.fetches);
        self.looks.resize_to(limits.fetches);
        self.held.resize(limits.held_bytes.0);
    }

    /// Waits until so many bytes may be held.
    pub(crate) async fn hold(&self, bytes: u64) -> Reservation {
        self.held.take(bytes).await
    }

    /// Where the bytes of sources are counted, wherever they come from.
    pub(crate) fn held(&self) -> &SourceMemory {
        &self.held
    }

    /// What a fetch over a network may take that nobody waits for after `deadline`. It ends a little earlier,
    /// so that there is time to say whose fault it was: both ends at once would be a race.
    pub(crate) fn budget(&self, deadline: Instant) -> Budget {
        Budget {
            deadline: deadline.checked_sub(TIME_TO_TELL).unwrap_or(deadline),
            held: self.held.clone(),
        }
    }

    /// Runs `work`, which may wait for a disk, in one of the slots. The slot stays taken until the
    /// work is done, even if nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run_in(&self.slots, work).await
    }

    /// The same for `work` that opens files and reads none.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run_in(&self.looks, work).await
    }

    async fn run_in<T: Send + 'static>(
        &self,
        slots: &Permits,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let slot = slots.acquire(1).await;
        let done = task::spawn_blocking(move || {
            let result = work();
            drop(slot);
            result
        });
        done.await.unwrap_or(Err(Error::Panicked))
    }
}

/// Some steps of the runtime's timers, which count milliseconds.
const TIME_TO_TELL: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn a_panic_while_reading_is_an_error_and_frees_the_slot() {
        let fetcher = Fetcher::new(&LimitsConfig {
            fetches: 1,
            ..LimitsConfig::default()
        });
        let result: Result<(), _> = fetcher
            .run(|| std::panic::resume_unwind(Box::new(())))
            .await;
        assert!(matches!(result, Err(Error::Panicked)));
        assert_eq!(fetcher.run(|| Ok(1)).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_look_waits_for_no_read() {
        let fetcher = Arc::new(Fetcher::new(&LimitsConfig {
            fetches: 1,
            ..LimitsConfig::default()
        }));
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let reading = tokio::spawn({
            let fetcher = fetcher.clone();
            async move { fetcher.run(move || Ok(ends.recv().is_ok())).await }
        });
        while fetcher.slots.available() > 0 {
            task::yield_now().await;
        }
        assert_eq!(fetcher.look(|| Ok(1)).await.unwrap(), 1);
        end.send(()).unwrap();
        assert!(reading.await.unwrap().unwrap());
    }
}
