//! Decodes the scans of a progressive image in turns, some rows of each at a time, on several cores.
//!
//! A scan adds to what earlier scans of its band left, row by row, so it can go as far as they have come. Scans of
//! other components or bands are independent of it. A worker decodes a few rows of one scan, then the same rows of the
//! next one, and finally makes their samples: until then their coefficients stay in the cache of its core, and they are
//! freed with that step. No worker waits for another one while there is a scan that can go on. Neither the samples nor
//! the error depend on which worker did what: the error is the one that comes first in the file.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use andon_kernels::cores::Looks;

use crate::decode::entropy::WORTH_IT;
use crate::decode::lock::lock;
use crate::decode::plane::PlaneDecoder;
use crate::decode::progressive::job::Job;
use crate::decode::progressive::rows::{BlockRow, Rows};
use crate::decode::request::Request;
use crate::error::{Error, Result};

/// Helper threads beyond which nothing is gained, because luma's scans depend on each other.
const MOST_HELPERS: usize = 3;
/// Approximate bytes of coefficients in the rows that are taken at a time, which stay in a core's own cache from scan
/// to scan. Less in tests, whose images are small.
const BYTES_AT_A_TIME: usize = if cfg!(any(test, fuzzing)) {
    1 << 10
} else {
    512 << 10
};
/// The least number of steps into which an image is cut, because other cores have to wait for a step in progress.
const LEAST_STEPS: usize = 16;
/// How many steps ahead of the hindmost one a worker begins new rows rather than taking over those of another core.
const AHEAD: u32 = 1;
/// Value in `done` for a job that has ended.
const ALL: u32 = u32::MAX;

/// All jobs of an image and their progress.
pub(super) struct Wave {
    jobs: Vec<Job>,
    rows: Vec<Rows>,
    /// Rows of MCUs that a worker takes at a time.
    step: u32,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Rows of MCUs that each job has finished, or [`ALL`] if it has ended; `busy` says whether a worker is at it.
    done: Vec<u32>,
    busy: Vec<bool>,
    /// The worker that first took each step's rows, for all jobs: their coefficients are in the cache of its core.
    owners: Vec<Option<usize>>,
    /// How many workers wait for a change.
    waiting: u32,
    /// The index of the failed job that comes first in the file, and its error.
    failed: Option<(usize, Error)>,
    /// Whether the decode was interrupted.
    stopped: bool,
}

/// What a worker does next.
enum Next {
    /// Process these rows of MCUs of the job with this index.
    Rows(usize, Range<u32>),
    /// Wait, because other workers are busy with everything that can be done now.
    Wait,
    Nothing,
}

impl Wave {
    /// Creates the wave of these jobs, each of which adds to the rows of its components.
    pub(super) fn new(jobs: Vec<Job>, rows: Vec<Rows>) -> Self {
        let state = State {
            done: vec![0; jobs.len()],
            busy: vec![false; jobs.len()],
            owners: Vec::new(),
            waiting: 0,
            failed: None,
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

    /// Runs all jobs, with the help of idle cores if that is worth it, and returns the planes.
    pub(super) fn run(self, wanted: &Request<'_>) -> Result<Vec<PlaneDecoder>> {
        let wave = Arc::new(self);
        let size: usize = wave.jobs.iter().map(Job::size).sum();
        let helpers = if size < WORTH_IT { 0 } else { MOST_HELPERS };
        for helper in 1..=helpers {
            let wave = wave.clone();
            let refused = (wanted.cores).lend(Box::new(move || wave.work(helper, &|| false)));
            if refused.is_some() {
                break;
            }
        }
        wave.work(0, wanted.interrupted);
        let state = lock(&wave.state);
        if state.stopped {
            return Err(Error::Interrupted);
        }
        if let Some((_, why)) = state.failed {
            return Err(why);
        }
        drop(state);
        let samples = wave.jobs.iter().filter(|job| job.is_of_samples());
        let planes = samples.map(Job::take_plane);
        planes.collect::<Option<_>>().ok_or(Error::UNSUPPORTED)
    }

    /// Processes rows of one job after the other until everything is done. `worker` is a number unique to each worker.
    fn work(&self, worker: usize, interrupted: &dyn Fn() -> bool) {
        let mut looks = None;
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
                    looks = None;
                    let taken = Taken { wave: self, job };
                    taken.end(self.jobs[job].perform(rows, &self.rows));
                }
                Next::Wait => {
                    // The state must not be locked meanwhile, and is looked at once more before this worker sleeps.
                    drop(state);
                    if !looks.get_or_insert_with(Looks::begin).go_on() {
                        self.wait(worker);
                    }
                }
            }
        }
    }

    /// Waits for a change, at most for `A_MOMENT`, unless there is already something to do.
    fn wait(&self, worker: usize) {
        let mut state = lock(&self.state);
        if !matches!(state.next(&self.jobs, self.step, worker), Next::Wait) {
            return;
        }
        state.waiting += 1;
        let waited = self.changed.wait_timeout(state, A_MOMENT);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
    }
}

/// How long a worker waits before it checks for an interrupt.
const A_MOMENT: Duration = Duration::from_millis(20);

/// The rows of a job that a worker is decoding. Dropping this without [`end`](Self::end) means that the worker
/// panicked, and fails the job.
struct Taken<'a> {
    wave: &'a Wave,
    job: usize,
}

impl Taken<'_> {
    fn end(self, result: Result<u32>) {
        let mut state = lock(&self.wave.state);
        state.busy[self.job] = false;
        match result {
            Ok(rows) if rows == self.wave.jobs[self.job].mcu_rows() => state.done[self.job] = ALL,
            Ok(rows) => state.done[self.job] = rows,
            Err(why) => state.fail(self.job, why),
        }
        if state.waiting > 0 {
            self.wave.changed.notify_all();
        }
        drop(state);
        std::mem::forget(self);
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.wave.state);
        state.busy[self.job] = false;
        // A bug of ours: libjpeg may know better.
        state.fail(self.job, Error::UNSUPPORTED);
        self.wave.changed.notify_all();
    }
}

impl State {
    fn fail(&mut self, job: usize, why: Error) {
        if self.failed.is_none_or(|(first, _)| job < first) {
            self.failed = Some((job, why));
        }
    }

    /// Makes `worker` the owner of `step`, unless the step has an owner already.
    fn own(&mut self, step: u32, worker: usize) {
        let step = step as usize;
        if self.owners.len() <= step {
            self.owners.resize(step + 1, None);
        }
        self.owners[step].get_or_insert(worker);
    }

    /// Chooses up to `step` rows of MCUs of a job that can go on. Steps that this worker owns come first, then steps
    /// without an owner that are at most `AHEAD` steps ahead of the job furthest behind; among equals, the topmost
    /// rows.
    fn next(&self, jobs: &[Job], step: u32, worker: usize) -> Next {
        // What comes after a failed job in the file does not matter any more.
        let end = match self.failed {
            _ if self.stopped => return Next::Nothing,
            Some((failed, _)) => failed,
            None => jobs.len(),
        };
        let unfinished = (0..end).filter(|&job| self.done[job] != ALL);
        let Some(behind) = unfinished.clone().map(|job| self.done[job] / step).min() else {
            return Next::Nothing;
        };
        let rank = |begun: u32| match self.owners.get(begun as usize).copied().flatten() {
            Some(owner) if owner == worker => 0,
            None if begun <= behind + AHEAD => 1,
            _ => 2,
        };
        let can_go_on = unfinished.filter_map(|job| {
            let done = self.done[job];
            let before = jobs[job].after.iter().map(|&before| self.done[before]);
            let most = before.min().unwrap_or(ALL).min(done + step);
            (!self.busy[job] && most > done).then_some((job, done..most))
        });
        let chosen = can_go_on.min_by_key(|(_, rows)| (rank(rows.start / step), rows.start));
        chosen.map_or(Next::Wait, |(job, rows)| Next::Rows(job, rows))
    }
}
