//! Reads files without holding up anything else: in a few slots of their own, apart from the worker threads, and with a
//! ceiling on the bytes that are held at a time. Inspecting files has slots apart from reading them, so that a hit that
//! is checked and a request that is refused need not wait for megabytes to be read.

use std::panic::{self, AssertUnwindSafe};

use andon_cache::Deadline;
use tokio::task;

use crate::config::LimitsConfig;
use crate::error::Error;
use crate::origins::{Blocking, Budget, Reservation, SourceMemory};
use crate::permits::Permits;

/// The slots for reading and for inspecting files, and the ceiling on the bytes held.
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

    /// Changes the limits, for all clones. What is being read is read to its end.
    pub(crate) fn resize(&self, limits: &LimitsConfig) {
        self.slots.resize_to(limits.fetches);
        self.looks.resize_to(limits.fetches);
        self.held.resize(limits.held_bytes.0);
    }

    /// Waits until `bytes` more may be held, and reserves them.
    pub(crate) async fn hold(&self, bytes: u64) -> Reservation {
        self.held.take(bytes).await
    }

    /// Returns the counter of the bytes of sources, wherever they come from.
    pub(crate) fn held(&self) -> &SourceMemory {
        &self.held
    }

    /// Returns the time and memory for a fetch over a network that nobody waits for after `deadline`.
    pub(crate) fn budget(&self, deadline: impl Into<Deadline>) -> Budget {
        Budget {
            deadline: deadline.into(),
            held: self.held.clone(),
        }
    }

    /// Runs `work`, which may wait for a disk, in one of the slots. The slot stays taken until the
    /// work is done, even if nobody waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        run_in(&self.slots, work).await
    }

    /// Runs `work` that inspects files and reads none, in one of the slots for that.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        run_in(&self.looks, work).await
    }

    /// Reads something of `source`: at once if the system has it in memory, otherwise in one of the slots. Changing to
    /// another thread and back takes longer than copying some hundred kilobytes.
    pub(crate) async fn read<S: Send + 'static, T: Send + 'static>(
        &self,
        source: S,
        read: impl Fn(&S, Blocking) -> Result<T, Error> + Send + 'static,
    ) -> Result<(S, T), Error> {
        match at_once(|blocking| read(&source, blocking)) {
            Some(done) => Ok((source, done?)),
            None => {
                let read = move || {
                    let done = read(&source, Blocking::Allowed)?;
                    Ok((source, done))
                };
                self.run(read).await
            }
        }
    }

    /// Runs work that opens files and reads none.
    pub(crate) async fn open<T: Send + 'static>(
        &self,
        open: impl Fn(Blocking) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        match at_once(&open) {
            Some(opened) => opened,
            None => self.look(move || open(Blocking::Allowed)).await,
        }
    }
}

/// Runs `work` on this thread; `None` if it would have to wait for a disk.
fn at_once<T>(work: impl FnOnce(Blocking) -> Result<T, Error>) -> Option<Result<T, Error>> {
    let blocking = Blocking::Refused;
    let tried = panic::catch_unwind(AssertUnwindSafe(|| work(blocking)));
    match tried.unwrap_or(Err(Error::Panicked)) {
        Err(error) if blocking.ends_with(&error) => None,
        done => Some(done),
    }
}

async fn run_in<T: Send + 'static>(
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
            fetcher.looks.acquire(1).await,
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
