//! A thread per core for connections, each with a reactor of its own.
//!
//! A runtime whose threads share one reactor hands every event from the thread that saw it to the one that
//! acts on it; for cached hits that hand-over is most of the work. A connection stays on the thread that it was
//! given, in turn.
//!
//! Whoever waits for a hit often runs on the same machine: a proxy, or a load generator. A thread that has answered hits
//! yields its core before it looks for more. Their next requests then come together, and one
//! round answers them all; otherwise the two wake each other up for every single one, while whoever else shares the
//! core waits for its slice of time. While pictures are made it keeps its core: a pixel thread would hold it for
//! milliseconds, and all connections of this thread would wait.

use std::cell::Cell;
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinError;

use crate::admission::priority;

/// A hit was answered on this thread.
pub(crate) fn answered() {
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

    /// The next one in turn.
    pub(crate) fn next(&self) -> &Handle {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        &self.io_threads[turn % self.io_threads.len()].handle
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
            close: Some(close),
            thread: Some(thread),
        })
    }
}

/// Of threads that wait for disks, and copy files of megabytes: half of the weight of those that answer, when both want a
/// core; still before those that make pictures.
const NICENESS: i32 = 3;

impl Drop for IoThread {
    fn drop(&mut self) {
        drop(self.close.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
    }
}
