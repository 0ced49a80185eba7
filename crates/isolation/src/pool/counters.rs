//! What is counted of workers.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a worker ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Death {
    /// By a signal or a panic of its own code: a fault, or memory beyond its limit.
    Crash,
    /// By its limit of processor time.
    Cpu,
    /// Killed because it did not stop when nobody wanted its result any more.
    Overstayed,
    /// Killed by somebody else: the system, where memory ran out.
    Killed,
    /// By what it answered, which was no answer.
    Garbled,
}

impl Death {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Crash,
        Self::Cpu,
        Self::Overstayed,
        Self::Killed,
        Self::Garbled,
    ];

    /// One word.
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

    /// Of a worker that ended by itself.
    pub(super) fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(SIGKILL) => Self::Killed,
            Some(SIGXCPU) => Self::Cpu,
            _ => Self::Crash,
        }
    }

    /// Does it speak against the file?
    pub(super) fn accuses(self) -> bool {
        matches!(self, Self::Crash | Self::Cpu | Self::Garbled)
    }
}

const SIGKILL: i32 = libc::SIGKILL;
const SIGXCPU: i32 = libc::SIGXCPU;

/// What there is, and what was counted since the start.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Workers that wait for a job.
    pub idle: u64,
    /// Workers that have one.
    pub busy: u64,
    /// Workers that were started.
    pub started: u64,
    /// Jobs that were done.
    pub jobs: u64,
    /// Workers that ended before their time, as in [`Death::ALL`].
    pub deaths: [u64; 5],
    /// Bytes of memory that workers had after their last jobs.
    pub resident: u64,
    /// Files that ended workers.
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
    pub(super) fn died(&self, death: Death) {
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
        // Nothing panics within.
        self.resident.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
