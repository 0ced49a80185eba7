//! Whether the server's threads still take up new work, for a watchdog.

use std::sync::Weak;

use super::io_threads::IoThreads;
use crate::admission::Admission;
use crate::error::Stuck;
use crate::sources::headers::HeaderReaders;

/// Tells a watchdog whether the server's threads still take up new work. Remains valid after reloads.
#[derive(Clone, Debug)]
pub struct Pulse {
    pub(super) io_threads: Weak<IoThreads>,
    pub(super) admission: Weak<Admission>,
    pub(super) headers: HeaderReaders,
}

/// The outcome of [`Pulse::beat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// All I/O threads take up new work, and so do some threads of every other kind.
    Alive,
    /// No new image can be made until threads return from their work, which may never happen.
    Stuck(Stuck),
    /// The server has ended.
    Ended,
}

impl Pulse {
    /// Waits until every I/O thread has taken up new work, and then checks whether worker threads, header readers and worker
    /// processes are stuck. Never returns if an I/O thread hangs.
    pub async fn beat(&self) -> Beat {
        let Some(io_threads) = self.io_threads.upgrade() else {
            return Beat::Ended;
        };
        if io_threads.beat().await.is_err() {
            return Beat::Ended;
        }
        let workers = self.admission.upgrade().and_then(|it| it.stuck());
        workers
            .or_else(|| self.headers.stuck())
            .or_else(Stuck::of_processes)
            .map_or(Beat::Alive, Beat::Stuck)
    }
}
