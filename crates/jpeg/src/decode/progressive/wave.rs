//! Decodes the scans of a progressive image in turns, some rows of each at a time, on several cores.
//!
//! A scan adds to the results of earlier scans of the same band, so in each row it follows them. Scans of other
//! components or bands are independent of it. A worker decodes a few rows of one scan, then the same rows of the next
//! one, and so on, and finally computes their samples. Until then, the coefficients of these rows stay in the cache of
//! its core; afterwards they are freed. No worker waits for another one while there is a scan that can go on. Neither
//! the samples nor the error depend on which worker did what: the error is the one that comes first in the file.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use andon_kernels::cores::Polling;

use crate::decode::entropy::WORTH_IT;
use crate::decode::lock::lock;
use crate::decode::plane::PlaneDecoder;
use crate::decode::progressive::job::Job;
use crate::decode::progressive::rows::{BlockRow, Rows};
use crate::decode::request::Request;
use crate::error::{Error, Result};

/// Maximum number of helper threads. More gain nothing, because luma's scans depend on each other.
const MOST_HELPERS: usize = 3;
/// Approximate size in bytes of the coefficients in the rows that a worker takes at a time. They stay in a core's own
/// cache from scan to scan. It is smaller for tests, which have small images.
const BYTES_AT_A_TIME: usize = if cfg!(any(test, fuzzing)) {
    1 << 10
} else {
    512 << 10
};
/// Minimum number of steps (groups of rows that a worker takes at a time) into which an image is cut, because other
/// cores have to wait for a step in progress.
const LEAST_STEPS: usize = 16;
/// Maximum number of steps (groups of rows) by which rows that no worker has begun may lie ahead of the job furthest
/// behind. A worker prefers rows up to there to those that another worker has begun.
const AHEAD: u32 = 1;
/// Value in `State::progress` for a job that has ended.
const ALL: u32 = u32::MAX;

/// All jobs of decoding an image (its scans and then its samples), and their progress.
pub(super) struct Wave {
    jobs: Vec<Job>,
    rows: Vec<Rows>,
    /// Rows of MCUs that a worker takes at a time.
    step: u32,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// For each job, the number of rows of MCUs that it has finished, or [`ALL`] if it has ended.
    progress: Vec<u32>,
    /// For each job, whether a worker is processing it.
    busy: Vec<bool>,
    /// For each step (group of rows), the worker that was the first to process its rows in any job. The coefficients of
    /// these rows are in the cache of that worker's core.
    owners: Vec<Option<usize>>,
    /// Number of workers that sleep until the state changes.
    waiters: u32,
    /// The index of the failed job that comes first in the file, and its error.
    failure: Option<(usize, Error)>,
    /// Whether the decode was interrupted.
    stopped: bool,
}

/// What a worker does next.
enum Next {
    /// Process these rows of MCUs of the job with this index.
    Rows(usize, Range<u32>),
    /// Wait, because other workers are busy with everything that can currently be done.
    Wait,
    Nothing,
}

impl Wave {
    /// Creates the shared state of these jobs, before any of them has started. `rows` are the coefficients of each
    /// component.
    pub(super) fn new(jobs: Vec<Job>, rows: Vec<Rows>) -> Self {
        let state = State {
            progress: vec![0; jobs.len()],
            busy: vec![false; jobs.len()],
            owners: Vec::new(),
            waiters: 0,
            failure: None,
            stopped: false,
        };
        let of_row = |row: &Mutex<BlockRow>| 2 * lock(row).count;
        let bytes: usize = rows.iter().flatten().map(of_row).sum();
        let mcus = jobs.iter().map(Job::mcu_rows).max().unwrap_or(0) as usize;
        Self {
            step: (mcus * BYTES_AT_A_TIME / bytes.max(1))
                .clamp(1, mcus.div_ceil(LEAST_STEPS).max(1)) as u32,
            jobs,
            rows,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Runs all jobs, with the help of idle cores if that pays, and returns the planes.
    pub(super) fn run(self, request: &Request<'_>) -> Result<Vec<PlaneDecoder>> {
        let wave = Arc::new(self);
        let size: usize = wave.jobs.iter().map(Job::size).sum();
        let helpers = if size < WORTH_IT { 0 } else { MOST_HELPERS };
        for helper in 1..=helpers {
            let wave = wave.clone();
            let task = (request.cores).lend(Box::new(move || wave.work(helper, &|| false)));
            if task.is_some() {
                break;
            }
        }
        wave.work(0, request.interrupted);
        let state = lock(&wave.state);
        if state.stopped {
            return Err(Error::Interrupted);
        }
        if let Some((_, why)) = state.failure {
            return Err(why);
        }
        drop(state);
        let samples = wave.jobs.iter().filter(|job| job.is_of_samples());
        let planes = samples.map(Job::take_plane);
        planes.collect::<Option<_>>().ok_or(Error::UNSUPPORTED)
    }

    /// Processes rows of one job after the other until everything is done. `worker` is a number unique to each worker.
    fn work(&self, worker: usize, interrupted: &dyn Fn() -> bool) {
        let mut polling = None;
        loop {
            let is_interrupted = interrupted();
            let mut state = lock(&self.state);
            if is_interrupted && !state.stopped {
                state.stopped = true;
                self.changed.notify_all();
            }
            match state.next(&self.jobs, self.step, worker) {
                Next::Nothing => return,
                Next::Rows(job, rows) => {
                    state.busy[job] = true;
                    state.own(rows.start / self.step, worker);
                    drop(state);
                    polling = None;
                    let claim = Claim { wave: self, job };
                    claim.end(self.jobs[job].perform(rows, &self.rows));
                }
                Next::Wait => {
                    // The state must not stay locked meanwhile. It is checked again before this worker sleeps.
                    drop(state);
                    if !polling.get_or_insert_with(Polling::begin).go_on() {
                        self.wait(worker);
                    }
                }
            }
        }
    }

    /// Waits until another worker changes the state, at most for `A_MOMENT`, unless there is already something to do.
    fn wait(&self, worker: usize) {
        let mut state = lock(&self.state);
        if !matches!(state.next(&self.jobs, self.step, worker), Next::Wait) {
            return;
        }
        state.waiters += 1;
        let waited = self.changed.wait_timeout(state, A_MOMENT);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiters -= 1;
    }
}

/// Interval at which a waiting worker checks for an interrupt.
const A_MOMENT: Duration = Duration::from_millis(20);

/// The rows of a job that a worker is decoding. Dropping this without [`end`](Self::end) means that the worker
/// panicked, and fails the job.
struct Claim<'a> {
    wave: &'a Wave,
    job: usize,
}

impl Claim<'_> {
    fn end(self, result: Result<u32>) {
        let mut state = lock(&self.wave.state);
        state.busy[self.job] = false;
        match result {
            Ok(rows) if rows == self.wave.jobs[self.job].mcu_rows() => {
                state.progress[self.job] = ALL
            }
            Ok(rows) => state.progress[self.job] = rows,
            Err(why) => state.fail(self.job, why),
        }
        if state.waiters > 0 {
            self.wave.changed.notify_all();
        }
        drop(state);
        std::mem::forget(self);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.wave.state);
        state.busy[self.job] = false;
        // A panic is a bug of this decoder: libjpeg may be able to decode the file.
        state.fail(self.job, Error::UNSUPPORTED);
        self.wave.changed.notify_all();
    }
}

impl State {
    fn fail(&mut self, job: usize, why: Error) {
        if self.failure.is_none_or(|(first, _)| job < first) {
            self.failure = Some((job, why));
        }
    }

    /// Records `worker` as the first one to process the rows of step (group of rows) `step`, unless another worker is
    /// recorded already.
    fn own(&mut self, step: u32, worker: usize) {
        let step = step as usize;
        if self.owners.len() <= step {
            self.owners.resize(step + 1, None);
        }
        self.owners[step].get_or_insert(worker);
    }

    /// Chooses up to `step` rows of MCUs of a job that can go on. Rows that this worker was the first to process come
    /// first, then rows that no worker has processed and that are at most [`AHEAD`] steps ahead of the job furthest
    /// behind, then all others; among equals, the topmost rows.
    fn next(&self, jobs: &[Job], step: u32, worker: usize) -> Next {
        // Jobs that come after a failed one in the file no longer matter.
        let end = match self.failure {
            _ if self.stopped => return Next::Nothing,
            Some((job, _)) => job,
            None => jobs.len(),
        };
        let unfinished = (0..end).filter(|&job| self.progress[job] != ALL);
        let Some(hindmost) = unfinished
            .clone()
            .map(|job| self.progress[job] / step)
            .min()
        else {
            return Next::Nothing;
        };
        let rank = |index: u32| match self.owners.get(index as usize).copied().flatten() {
            Some(owner) if owner == worker => 0,
            None if index <= hindmost + AHEAD => 1,
            _ => 2,
        };
        let can_go_on = unfinished.filter_map(|job| {
            let start = self.progress[job];
            let limits = jobs[job].predecessors.iter().map(|&job| self.progress[job]);
            let end = limits.min().unwrap_or(ALL).min(start + step);
            (!self.busy[job] && end > start).then_some((job, start..end))
        });
        let chosen = can_go_on.min_by_key(|(_, rows)| (rank(rows.start / step), rows.start));
        chosen.map_or(Next::Wait, |(job, rows)| Next::Rows(job, rows))
    }
}
