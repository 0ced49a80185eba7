//! Threads that read the headers of sources and plan, apart from those that read files: a few slots, and a time limit
//! for each header.
//!
//! Reading a header needs no worker thread, so that an image that is refused because of its header is refused within
//! milliseconds, even under load. But formats are read by libraries that cannot be interrupted. The request for a
//! header that takes longer than `MOST_TIME` gets an error, as do other requests for the same file, while its thread is
//! stuck and keeps its slot. Meanwhile files and other headers are still read. When all slots are taken by stuck
//! threads, every request that needs a slot is refused at once.

use std::collections::HashMap;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use andon_cache::Key;
use tokio::task;
use tokio::time::timeout;

use crate::error::{Error, Stuck, Threads};
use crate::permits::Permits;

/// The slots for reading headers. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct HeaderReaders(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    slots: Permits,
    most_time: Duration,
    running: Mutex<Running>,
}

/// The headers that are being read.
#[derive(Debug, Default)]
struct Running {
    next: u64,
    all: HashMap<u64, Reading>,
}

#[derive(Clone, Copy, Debug)]
/// A header that is being read.
struct Reading {
    /// Key of the bytes, if other requests may read the same ones.
    source: Option<Key>,
    start: Instant,
}

/// Counts a header as being read until this is dropped.
struct Registration {
    readers: HeaderReaders,
    number: u64,
}

impl Default for HeaderReaders {
    /// Creates two slots for each core, because reading headers takes processor time only.
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Self::new((2 * cores).max(FEWEST), MOST_TIME)
    }
}

impl HeaderReaders {
    fn new(slots: usize, most_time: Duration) -> Self {
        Self(Arc::new(Shared {
            slots: Permits::of(slots),
            most_time,
            running: Mutex::default(),
        }))
    }

    /// Runs `work`, which reads the header of a source that is in memory: on this thread if that takes no longer than
    /// changing threads (`is_short`), otherwise in one of the slots. `holds` keeps the source's memory reserved until
    /// the work is complete, even if the caller stops waiting.
    ///
    /// # Errors
    /// The errors of `work`; `SlowHeader` if it takes longer than [`MOST_TIME`], or if other work on the same source
    /// already does; `Stuck` if all slots are taken by such work; `NoRoom` if no slot becomes free in time; `Panicked`
    /// if `work` panicked.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        source: Option<Key>,
        is_short: bool,
        holds: impl Send + 'static,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        if is_short {
            let result = panic::catch_unwind(AssertUnwindSafe(work));
            return result.unwrap_or(Err(Error::Panicked));
        }
        self.check(source)?;
        let most_time = self.0.most_time;
        let Ok(slot) = timeout(most_time, self.0.slots.acquire(1)).await else {
            return Err(self.stuck().map_or(Error::NoRoom, Error::Stuck));
        };
        self.check(source)?;
        let registration = self.register(source);
        let task = task::spawn_blocking(move || {
            let result = work();
            drop((holds, registration, slot));
            result
        });
        match timeout(most_time, task).await {
            Ok(result) => result.unwrap_or(Err(Error::Panicked)),
            Err(_) => Err(Error::SlowHeader(most_time)),
        }
    }

    /// Returns details if every slot is taken by a thread that has read a header for too long.
    pub(crate) fn stuck(&self) -> Option<Stuck> {
        let most_time = self.0.most_time;
        let running = self.lock();
        let late = running.late(most_time);
        let count = late.clone().count();
        (count > 0 && count >= self.0.slots.total() as usize).then(|| Stuck {
            threads: Threads::Headers,
            count,
            since: late.map(|late| late.0).min().unwrap_or_default(),
        })
    }

    /// Returns how many headers are being read, and how many of them have taken too long.
    pub(crate) fn counts(&self) -> [usize; 2] {
        let running = self.lock();
        [running.all.len(), running.late(self.0.most_time).count()]
    }

    /// Refuses a source for which waiting for a slot is pointless, because all slots are stuck, or another thread has
    /// been reading its header for too long.
    fn check(&self, source: Option<Key>) -> Result<(), Error> {
        if let Some(stuck) = self.stuck() {
            return Err(Error::Stuck(stuck));
        }
        let most_time = self.0.most_time;
        let running = self.lock();
        match running
            .late(most_time)
            .any(|(_, late)| source.is_some() && late == source)
        {
            true => Err(Error::SlowHeader(most_time)),
            false => Ok(()),
        }
    }

    fn register(&self, source: Option<Key>) -> Registration {
        let mut running = self.lock();
        let number = running.next;
        running.next += 1;
        let reading = Reading {
            source,
            start: Instant::now(),
        };
        running.all.insert(number, reading);
        Registration {
            readers: self.clone(),
            number,
        }
    }

    /// Locks the list of headers being read. No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Running> {
        (self.0.running.lock()).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Returns, for each header that has taken longer than `most_time`, the time in excess of it and the key of the
    /// header's source.
    fn late(
        &self,
        most_time: Duration,
    ) -> impl Iterator<Item = (Duration, Option<Key>)> + Clone + '_ {
        let all = self.all.values();
        all.filter_map(move |reading| {
            let late = reading.start.elapsed().checked_sub(most_time)?;
            Some((late, reading.source))
        })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.readers.lock().all.remove(&self.number);
    }
}

/// Time limit for reading one header and planning: a thousand times what a large header takes.
const MOST_TIME: Duration = Duration::from_secs(5);

/// Minimum number of slots for reading headers, as on a machine with one core.
const FEWEST: usize = 4;

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    const TIME: Duration = Duration::from_millis(200);

    /// Starts reading a header, which does not end before the returned sender is used or dropped.
    async fn hang(readers: &HeaderReaders, source: Option<Key>) -> Sender<()> {
        let (end, ends): (Sender<()>, Receiver<()>) = channel();
        let hanging = readers.read(source, false, (), move || {
            let _ = ends.recv();
            Ok(())
        });
        let given_up = hanging.await;
        assert!(
            matches!(given_up, Err(Error::SlowHeader(_))),
            "{given_up:?}"
        );
        end
    }

    fn key(name: &str) -> Option<Key> {
        Some(Key::of(&[name]))
    }

    #[tokio::test]
    async fn a_header_that_is_never_read_costs_one_slot_and_no_other_file() {
        let readers = HeaderReaders::new(2, TIME);
        let _end = hang(&readers, key("bad")).await;
        assert_eq!(readers.counts(), [1, 1]);
        assert_eq!(readers.stuck(), None);
        let again = readers.read(key("bad"), false, (), || Ok(1)).await;
        assert!(matches!(again, Err(Error::SlowHeader(_))), "{again:?}");
        assert_eq!(readers.counts(), [1, 1], "the same file takes one slot");
        for other in [key("good"), None] {
            assert_eq!(readers.read(other, false, (), || Ok(1)).await.unwrap(), 1);
        }
    }

    #[tokio::test]
    async fn when_all_slots_are_stuck_the_next_is_refused_at_once_until_one_comes_back() {
        let readers = HeaderReaders::new(2, TIME);
        let ends = [
            hang(&readers, key("a")).await,
            hang(&readers, key("b")).await,
        ];
        assert_eq!(readers.stuck().unwrap().count, 2);
        let began = Instant::now();
        let refused = readers.read(key("c"), false, (), || Ok(1)).await;
        assert!(matches!(refused, Err(Error::Stuck(_))), "{refused:?}");
        assert!(began.elapsed() < TIME);
        assert_eq!(readers.read(None, true, (), || Ok(1)).await.unwrap(), 1);
        drop(ends);
        // Both: a file whose header is not read to its end is refused until then.
        while readers.counts() != [0, 0] {
            task::yield_now().await;
        }
        assert_eq!(
            readers.read(key("a"), false, (), || Ok(1)).await.unwrap(),
            1
        );
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_frees_the_slot() {
        let readers = HeaderReaders::new(1, TIME);
        for is_short in [true, false] {
            let work = || panic::resume_unwind(Box::new(()));
            let result: Result<(), _> = readers.read(None, is_short, (), work).await;
            assert!(matches!(result, Err(Error::Panicked)), "{result:?}");
        }
        assert_eq!(readers.counts(), [0, 0]);
    }
}
