//! A thread per core for connections, each with a reactor of its own.
//!
//! A runtime whose threads share one reactor hands every event from the thread that saw it to the one that
//! acts on it; for cached hits that hand-over is most of the work. A connection stays on the thread that accepts it, unless that
//! one has more of them than another: the system shares new connections out without knowing who has how many.
//!
//! A client that opens a connection for every request often runs on the same machine: a proxy, or a load generator. A thread that has
//! answered such requests yields its core before it looks for more. The next connections then come together, and one round
//! answers them all; otherwise client and server wake each other up for every single one. On connections that stay open this
//! costs more than it saves. While images are made the thread keeps its core: a pixel thread would hold it for milliseconds,
//! and all connections of this thread would wait.

use std::cell::Cell;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinError;

use crate::admission::priority;

/// The only request of a connection was answered on this thread as it was accepted.
pub(crate) fn answered_on_arrival() {
    ANSWERED.set(true);
}

thread_local! {
    /// Since this thread last looked for events.
    static ANSWERED: Cell<bool> = const { Cell::new(false) };
}

/// The threads. They end when it is dropped.
pub(crate) struct IoThreads {
    io_threads: Vec<IoThread>,
    next: AtomicUsize,
}

struct IoThread {
    handle: Handle,
    connections: Arc<AtomicUsize>,
    close: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl IoThreads {
    /// One per core; each may have so many threads that wait for disks.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub(crate) fn open(waiters: usize) -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let io_threads = (0..cores).map(|_| IoThread::open(waiters));
        Ok(Self {
            io_threads: io_threads.collect::<io::Result<_>>()?,
            next: AtomicUsize::new(0),
        })
    }

    /// Waits until each of them has turned to something new.
    ///
    /// # Errors
    /// When one of them has ended.
    pub(crate) async fn beat(&self) -> Result<(), JoinError> {
        for io_thread in &self.io_threads {
            io_thread.handle.spawn(async {}).await?;
        }
        Ok(())
    }

    /// The number of I/O threads.
    pub(crate) fn count(&self) -> usize {
        self.io_threads.len()
    }

    /// What runs tasks on one of them.
    pub(crate) fn handle(&self, thread: usize) -> &Handle {
        &self.io_threads[thread].handle
    }

    /// A place for a connection that was accepted on a thread. Where each thread accepts `its_own`, it stays there unless the next
    /// one in turn has clearly fewer: short connections would otherwise move as often as not.
    pub(crate) fn seat(&self, thread: usize, its_own: bool) -> Seat<'_> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.io_threads.len();
        let count = |thread: usize| self.io_threads[thread].connections.load(Ordering::Relaxed);
        let chosen = match its_own && count(turn) + 1 >= count(thread) {
            true => thread,
            false => turn,
        };
        let IoThread {
            handle,
            connections,
            ..
        } = &self.io_threads[chosen];
        connections.fetch_add(1, Ordering::Relaxed);
        Seat {
            handle,
            taken: Taken(connections.clone()),
        }
    }
}

/// A place for a connection.
pub(crate) struct Seat<'a> {
    pub(crate) handle: &'a Handle,
    /// To be dropped with the connection.
    pub(crate) taken: Taken,
}

/// Counts a connection of a thread.
pub(crate) struct Taken(Arc<AtomicUsize>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl IoThread {
    fn open(waiters: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(waiters)
            .thread_name("andon-file")
            .on_thread_start(|| priority::yield_to_replies(NICENESS))
            .on_thread_park(|| {
                if ANSWERED.take() && !priority::pixels_are_made() {
                    thread::yield_now();
                }
            })
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (close, closed) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name("andon-io".to_owned())
            .spawn(move || {
                // Ends when the sender is used or dropped.
                let _ = runtime.block_on(closed);
                runtime.shutdown_background();
            })?;
        Ok(Self {
            handle,
            connections: Arc::default(),
            close: Some(close),
            thread: Some(thread),
        })
    }
}

/// Of threads that wait for disks, and copy files of megabytes: half of the weight of those that answer, when both want a
/// core; still before those that make images.
const NICENESS: i32 = 3;

impl Drop for IoThread {
    fn drop(&mut self) {
        drop(self.close.take());
        // The last task of the server may end on one of its threads.
        let is_other = |thread: &JoinHandle<()>| thread.thread().id() != thread::current().id();
        if let Some(thread) = self.thread.take().filter(is_other) {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
    }
}
