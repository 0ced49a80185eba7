//! Counters of worker processes.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a worker ended prematurely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Death {
    /// The worker's code failed, for instance by a segmentation fault, a panic, or an allocation beyond the memory
    /// limit.
    Crash,
    /// The worker reached its limit of processor time.
    Cpu,
    /// The pool killed the worker, because it did not stop when its result was no longer needed.
    Overstayed,
    /// Something other than the pool killed the worker: usually the system, when memory ran out.
    Killed,
    /// The worker sent something that was not a valid answer.
    Garbled,
}

impl Death {
    /// All causes of death.
    pub const ALL: [Self; 5] = [
        Self::Crash,
        Self::Cpu,
        Self::Overstayed,
        Self::Killed,
        Self::Garbled,
    ];

    /// Returns the cause as one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Cpu => "cpu",
            Self::Overstayed => "overstayed",
            Self::Killed => "killed",
            Self::Garbled => "garbled",
        }
    }

    /// Determines the cause of death from the exit status of a worker that the pool did not kill.
    pub(super) fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(SIGKILL) => Self::Killed,
            Some(SIGXCPU) => Self::Cpu,
            _ => Self::Crash,
        }
    }

    /// Whether the worker's file counts as suspect after a death of this cause.
    pub(super) fn accuses(self) -> bool {
        matches!(self, Self::Crash | Self::Cpu | Self::Garbled)
    }
}

const SIGKILL: i32 = libc::SIGKILL;
const SIGXCPU: i32 = libc::SIGXCPU;

/// Present state of the workers, and counters since the start.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Number of workers that wait for a job.
    pub idle: u64,
    /// Number of workers that have a job.
    pub busy: u64,
    /// Number of workers started so far.
    pub started: u64,
    /// Number of jobs that workers have answered so far.
    pub jobs: u64,
    /// Number of workers that ended prematurely for each cause, in the order of [`Death::ALL`].
    pub deaths: [u64; 5],
    /// Total resident memory of the workers after their last jobs, in bytes.
    pub resident: u64,
    /// Number of suspect files: files on which workers died.
    pub suspects: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) started: AtomicU64,
    pub(super) jobs: AtomicU64,
    deaths: [AtomicU64; 5],
    resident: Mutex<HashMap<u32, u64>>,
}

impl Counters {
    pub(super) fn count_death(&self, death: Death) {
        let all = Death::ALL.iter().zip(&self.deaths);
        for (_, count) in all.filter(|(it, _)| **it == death) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn resident(&self, worker: u32, bytes: u64) {
        self.lock().insert(worker, bytes);
    }

    pub(super) fn forget(&self, worker: u32) {
        self.lock().remove(&worker);
    }

    pub(super) fn counts(&self, idle: usize, busy: usize, suspects: usize) -> Counts {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            idle: idle as u64,
            busy: busy as u64,
            started: load(&self.started),
            jobs: load(&self.jobs),
            deaths: self.deaths.each_ref().map(load),
            resident: self.lock().values().sum(),
            suspects: suspects as u64,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, u64>> {
        // A poisoned lock is safe to use, because no code that holds it can panic.
        self.resident.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
