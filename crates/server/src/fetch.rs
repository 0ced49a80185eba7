//! Reading files without holding up anything else: a few slots of their own, apart from the pixel
//! threads, and a ceiling on the bytes that are held at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task;

use crate::config::LimitsConfig;
use crate::error::Error;

/// The slots and the ceiling.
#[derive(Debug)]
pub(crate) struct Fetcher {
    slots: Arc<Semaphore>,
    held: Arc<Semaphore>,
    most: u32,
}

/// The right to hold a file's bytes.
#[derive(Debug)]
pub(crate) struct Hold(#[allow(dead_code, reason = "held for its Drop")] OwnedSemaphorePermit);

impl Fetcher {
    pub(crate) fn new(limits: &LimitsConfig) -> Self {
        let most = kibibytes(limits.held_bytes.0);
        Self {
            slots: Arc::new(Semaphore::new(limits.fetches)),
            held: Arc::new(Semaphore::new(most as usize)),
            most,
        }
    }

    /// Waits until so many bytes may be held.
    pub(crate) async fn hold(&self, bytes: u64) -> Result<Hold, Error> {
        let share = kibibytes(bytes).min(self.most);
        let permit = self.held.clone().acquire_many_owned(share).await;
        permit.map(Hold).map_err(|_| Error::Busy)
    }

    /// Runs `work`, which may wait for a disk, in one of the slots. The slot stays taken until the
    /// work is done, even if nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let slot = self.slots.clone().acquire_owned().await;
        let slot = slot.map_err(|_| Error::Busy)?;
        let done = task::spawn_blocking(move || {
            let result = work();
            drop(slot);
            result
        });
        done.await.unwrap_or(Err(Error::Panicked))
    }
}

/// Semaphores count in 32 bits: whole KiB reach far enough.
fn kibibytes(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(1024))
        .unwrap_or(u32::MAX)
        .min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Bytes;

    fn fetcher() -> Fetcher {
        Fetcher::new(&LimitsConfig {
            held_bytes: Bytes(10 << 10),
            fetches: 1,
            ..LimitsConfig::default()
        })
    }

    #[tokio::test]
    async fn no_more_is_held_than_the_ceiling() {
        let fetcher = fetcher();
        let first = fetcher.hold(8 << 10).await.unwrap();
        let second = tokio::time::timeout(Duration::ZERO, fetcher.hold(8 << 10)).await;
        assert!(second.is_err(), "8 KiB and 8 KiB of 10");
        drop(first);
        fetcher.hold(8 << 10).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_while_reading_is_an_error_and_frees_the_slot() {
        let fetcher = fetcher();
        let result: Result<(), _> = fetcher
            .run(|| std::panic::resume_unwind(Box::new(())))
            .await;
        assert!(matches!(result, Err(Error::Panicked)));
        assert_eq!(fetcher.run(|| Ok(1)).await.unwrap(), 1);
    }
}
