//! One thread per core for connections, each with a reactor of its own.
//!
//! In a runtime whose threads share one reactor, every event is handed from the thread that saw it to the one that acts
//! on it; for cached hits that hand-over is most of the work. Here a connection stays on the thread that accepts it,
//! unless that thread has more connections than another: the system distributes new connections without knowing how
//! many each thread has.
//!
//! A client that opens a connection for every request often runs on the same machine, such as a proxy or a load
//! generator. A thread that has answered such requests yields its core before it looks for further events. The next
//! connections then arrive together and are answered one after the other; otherwise client and server wake each other
//! up for every single connection. With connections that stay open, yielding costs more than it saves. While images are
//! being made the thread keeps its core: a worker thread would hold it for milliseconds, and all connections of this
//! thread would wait.

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

/// Records that a connection's only request was answered on this thread as the connection was accepted.
pub(crate) fn answered_on_arrival() {
    ANSWERED.set(true);
}

thread_local! {
    /// Whether this thread has answered the only request of a connection on its arrival since it last looked for
    /// events.
    static ANSWERED: Cell<bool> = const { Cell::new(false) };
}

/// The I/O threads, which end when this is dropped.
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
    /// Starts one I/O thread per core. Each may start up to `waiters` further threads that wait for disks.
    ///
    /// # Errors
    /// If the system cannot start the threads.
    pub(crate) fn open(waiters: usize) -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let io_threads = (0..cores).map(|_| IoThread::open(waiters));
        Ok(Self {
            io_threads: io_threads.collect::<io::Result<_>>()?,
            next: AtomicUsize::new(0),
        })
    }

    /// Waits until each I/O thread has taken up new work.
    ///
    /// # Errors
    /// If one of them has ended.
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

    /// Returns the handle that runs tasks on the I/O thread of this number.
    pub(crate) fn handle(&self, thread: usize) -> &Handle {
        &self.io_threads[thread].handle
    }

    /// Chooses the I/O thread for a connection that was accepted on `thread`: the next thread in turn or, if each
    /// thread accepts `its_own` connections, `thread` itself unless the next one has at least two connections fewer.
    /// With a smaller margin, short connections would often move without need.
    pub(crate) fn seat(&self, thread: usize, its_own: bool) -> Seat<'_> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.io_threads.len();
        let count = |thread: usize| self.io_threads[thread].connections.load(Ordering::Relaxed);
        let index = match its_own && count(turn) + 1 >= count(thread) {
            true => thread,
            false => turn,
        };
        let IoThread {
            handle,
            connections,
            ..
        } = &self.io_threads[index];
        connections.fetch_add(1, Ordering::Relaxed);
        Seat {
            handle,
            guard: SeatGuard(connections.clone()),
        }
    }
}

/// The I/O thread that was chosen for a connection.
pub(crate) struct Seat<'a> {
    pub(crate) handle: &'a Handle,
    /// The guard that counts the connection. The caller drops the guard when the connection ends.
    pub(crate) guard: SeatGuard,
}

/// A guard that counts a connection of an I/O thread until it is dropped.
pub(crate) struct SeatGuard(Arc<AtomicUsize>);

impl Drop for SeatGuard {
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
        let (close, closing) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name("andon-io".to_owned())
            .spawn(move || {
                // Ends when the sender is used or dropped.
                let _ = runtime.block_on(closing);
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

/// Niceness of threads that wait for disks and copy megabytes from files. When one of them and a thread that answers
/// requests compete for a core, it gets half of the other's weight, which is still more than threads that make images
/// get.
const NICENESS: i32 = 3;

impl Drop for IoThread {
    fn drop(&mut self) {
        drop(self.close.take());
        // The server may be dropped by its last task, which runs on one of these threads: a thread cannot join itself.
        let is_other = |thread: &JoinHandle<()>| thread.thread().id() != thread::current().id();
        if let Some(thread) = self.thread.take().filter(is_other) {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
    }
}
