//! Reads files without delaying anything else: in a few slots apart from the worker threads, and with a limit on the
//! bytes in memory at a time. Inspecting files has slots apart from reading them, so that revalidating a cache hit or
//! refusing a request need not wait for megabytes to be read.

use std::panic::{self, AssertUnwindSafe};

use andon_cache::Deadline;
use tokio::task;

use crate::config::LimitsConfig;
use crate::error::Error;
use crate::origins::{Blocking, Budget, Reservation, SourceMemory};
use crate::permits::Permits;

/// The slots for reading and for inspecting files, and the limit on the bytes in memory.
#[derive(Clone, Debug)]
pub(crate) struct Fetcher {
    slots: Permits,
    inspection_slots: Permits,
    memory: SourceMemory,
}

impl Fetcher {
    pub(crate) fn new(limits: &LimitsConfig) -> Self {
        Self {
            slots: Permits::of(limits.fetches),
            inspection_slots: Permits::of(limits.fetches),
            memory: SourceMemory::new(limits.held_bytes.0),
        }
    }

    /// Changes the number of slots and the memory limit, for all clones. Reads under way are completed.
    pub(crate) fn resize(&self, limits: &LimitsConfig) {
        self.slots.resize_to(limits.fetches);
        self.inspection_slots.resize_to(limits.fetches);
        self.memory.resize(limits.held_bytes.0);
    }

    /// Waits until `bytes` more fit under the memory limit for sources, and reserves them.
    pub(crate) async fn hold(&self, bytes: u64) -> Reservation {
        self.memory.take(bytes).await
    }

    /// Returns the counter of the bytes of sources in memory, wherever the sources come from.
    pub(crate) fn held(&self) -> &SourceMemory {
        &self.memory
    }

    /// Returns the budget of a fetch over a network: its deadline, and the memory limit for sources, to which its bytes
    /// count.
    pub(crate) fn budget(&self, deadline: impl Into<Deadline>) -> Budget {
        Budget {
            deadline: deadline.into(),
            held: self.memory.clone(),
        }
    }

    /// Runs `work`, which may wait for a disk, in one of the slots for reading. The slot stays taken until the work is
    /// complete, even if the caller stops waiting.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        run_in(&self.slots, work).await
    }

    /// Runs `work`, which inspects files without reading them, in one of the slots for inspecting.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        run_in(&self.inspection_slots, work).await
    }

    /// Calls `read` with `source`: on this thread if the operating system has the bytes in memory, otherwise in one of
    /// the slots for reading. Changing to another thread and back takes longer than copying some hundred kilobytes.
    pub(crate) async fn read<S: Send + 'static, T: Send + 'static>(
        &self,
        source: S,
        read: impl Fn(&S, Blocking) -> Result<T, Error> + Send + 'static,
    ) -> Result<(S, T), Error> {
        match at_once(|blocking| read(&source, blocking)) {
            Some(result) => Ok((source, result?)),
            None => {
                let read = move || {
                    let result = read(&source, Blocking::Allowed)?;
                    Ok((source, result))
                };
                self.run(read).await
            }
        }
    }

    /// Calls `open`, which opens files without reading them: on this thread if that needs no disk, otherwise in one of
    /// the slots for inspecting.
    pub(crate) async fn open<T: Send + 'static>(
        &self,
        open: impl Fn(Blocking) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        match at_once(&open) {
            Some(result) => result,
            None => self.look(move || open(Blocking::Allowed)).await,
        }
    }
}

/// Runs `work` on this thread, or returns `None` if it would have to wait for a disk.
fn at_once<T>(work: impl FnOnce(Blocking) -> Result<T, Error>) -> Option<Result<T, Error>> {
    let blocking = Blocking::Refused;
    let result = panic::catch_unwind(AssertUnwindSafe(|| work(blocking)));
    match result.unwrap_or(Err(Error::Panicked)) {
        Err(error) if blocking.ends_with(&error) => None,
        result => Some(result),
    }
}

async fn run_in<T: Send + 'static>(
    slots: &Permits,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let slot = slots.acquire(1).await;
    let task = task::spawn_blocking(move || {
        let result = work();
        drop(slot);
        result
    });
    task.await.unwrap_or(Err(Error::Panicked))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn a_panic_while_reading_is_an_error_and_frees_the_slot() {
        let fetcher = Fetcher::new(&LimitsConfig {
            fetches: 1,
            ..LimitsConfig::default()
        });
        let result: Result<(), _> = fetcher.run(|| panic::resume_unwind(Box::new(()))).await;
        assert!(matches!(result, Err(Error::Panicked)));
        assert_eq!(fetcher.run(|| Ok(1)).await.unwrap(), 1);
    }

    fn would_block() -> Error {
        Error::Io(std::io::ErrorKind::WouldBlock.into())
    }

    #[tokio::test]
    async fn what_needs_no_waiting_is_read_on_the_very_thread_even_while_all_slots_are_taken() {
        let fetcher = Fetcher::new(&LimitsConfig {
            fetches: 1,
            ..LimitsConfig::default()
        });
        let _taken = (
            fetcher.slots.acquire(1).await,
            fetcher.inspection_slots.acquire(1).await,
        );
        let here = thread::current().id();
        let is_here = move || Ok(thread::current().id() == here);
        let (seven, read) = fetcher.read(7, move |_, _| is_here()).await.unwrap();
        assert!(read && seven == 7);
        assert!(fetcher.open(move |_| is_here()).await.unwrap());
        let panics = fetcher.open(|_| panic::resume_unwind(Box::new(())));
        let panicked: Result<(), _> = panics.await;
        assert!(matches!(panicked, Err(Error::Panicked)));
    }

    #[tokio::test]
    async fn what_needs_waiting_is_read_on_a_thread_that_may() {
        let fetcher = Fetcher::new(&LimitsConfig::default());
        let here = thread::current().id();
        let elsewhere = move |blocking: Blocking| {
            blocking.allow(false)?;
            Ok(thread::current().id() != here)
        };
        let read = fetcher.read((), move |(), blocking| elsewhere(blocking));
        assert!(read.await.unwrap().1);
        assert!(fetcher.open(elsewhere).await.unwrap());
        // Who has waited is not sent to wait once more.
        let read = fetcher.read((), |(), _| Err::<(), _>(would_block())).await;
        assert!(matches!(read, Err(Error::Io(_))));
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
