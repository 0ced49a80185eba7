//! The state that requests and worker threads share: the queue, the state of the threads, and the cache of frames.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use andon_pixels::{Bound, Cores, SharedPeak, Task, buffers};
use tokio::sync::Notify;

use super::calibration::Calibration;
use super::counters::Counters;
use super::frames::Frames;
use super::job::{Job, NumberedJob, Outcome};
use super::lend::{Lending, Part};
use super::queue::{Now, Price, Queue, Refusal, Rules, Turn};
use super::seats::{SEAT, Seats};
use super::shares::Shares;
use super::work::Work;
use crate::config::Config;
use crate::error::Error;

/// The state that requests and worker threads share.
pub(super) struct Pool {
    start: Instant,
    state: Mutex<State>,
    /// Notified whenever there may be work for a thread.
    pub(super) work_available: Condvar,
    /// Notified whenever a job has started, ended or been dropped.
    pub(super) load_change: Arc<Notify>,
    pub(super) frames: Frames,
}

/// The state that changes with each job, guarded by the lock of its [`Pool`].
pub(super) struct State {
    pub(super) queue: Queue<Job>,
    pub(super) calibration: Calibration,
    pub(super) counters: Counters,
    /// The largest source file that is admitted, in bytes.
    pub(super) most_source_bytes: u64,
    /// Number of worker threads that exist. For a while after a reload, there may be more than are configured.
    pub(super) threads: usize,
    /// The current work of each worker thread.
    pub(super) seats: Seats,
    pub(super) lending: Lending,
    /// Whether the threads end when all jobs are done.
    pub(super) is_closed: bool,
}

impl Pool {
    /// Creates a pool without threads.
    pub(super) fn new(config: &Config, shares: Shares) -> Self {
        Self {
            start: Instant::now(),
            state: Mutex::new(State {
                queue: Queue::new(Rules::of(config), shares.pixels),
                calibration: Calibration::default(),
                counters: Counters::default(),
                most_source_bytes: shares.sources,
                threads: 0,
                seats: Seats::default(),
                lending: Lending::new(config.steal_work),
                is_closed: false,
            }),
            work_available: Condvar::new(),
            load_change: Arc::default(),
            frames: Frames::new(shares.frames),
        }
    }

    /// Puts the job of a request that was admitted for `turn` into the queue and returns its id.
    ///
    /// # Errors
    /// `Refused` if the job would wait too long or miss its deadline; `Pixels(Limit)` for a plan that exceeds the whole
    /// memory budget. The request gives up its turn in both cases.
    pub(super) fn join(&self, turn: Turn, job: Job) -> Result<u64, Error> {
        let now = self.now();
        let (work, deadline) = (job.work, job.cancel.deadline().at());
        let mut state = self.lock();
        let total = state.queue.budget().total();
        if !state.queue.budget().could_ever_hold(work.peak_bytes) {
            state.queue.forget(turn);
            return Err(state.over_budget(work.peak_bytes, total));
        }
        let mut price = state.calibration.price(&work);
        if job
            .input
            .as_ref()
            .is_some_and(|input| self.frames.has(input))
        {
            price = price.without_decode();
        }
        let deadline = self.time_of(deadline);
        let result = state
            .queue
            .join(now, turn, price, deadline, job, Job::joins);
        let id = result.map_err(|refusal| state.refuse(refusal))?;
        drop(state);
        self.work_available.notify_one();
        Ok(id)
    }

    /// Records that a job has ended. `measurement` is its work and the time that the work took, if all of it was done
    /// for this job alone.
    pub(super) fn finish(&self, id: u64, measurement: Option<(&Work, Duration)>, outcome: Outcome) {
        let mut state = self.lock();
        state.queue.done(id);
        state.counters.done += 1;
        match outcome {
            Outcome::Done => {
                if let Some((work, time)) = measurement {
                    let (kind, nanos, bytes) = (work.kind, work.nanos, work.source_bytes);
                    state.calibration.learn(kind, nanos, bytes, time);
                }
            }
            Outcome::Failed => {}
            Outcome::Panicked => state.counters.panicked += 1,
        }
        let spare = state.spare_bytes();
        drop(state);
        buffers::allow(spare);
        // The released memory may be enough for several jobs.
        self.work_available.notify_all();
        self.load_change.notify_waiters();
    }

    /// Returns the current time of the queue's clock.
    pub(super) fn now(&self) -> Now {
        self.time_of(Instant::now())
    }

    /// Converts an instant to the time of the queue's clock.
    pub(super) fn time_of(&self, instant: Instant) -> Now {
        instant.saturating_duration_since(self.start)
    }

    /// Locks the state. No code panics while it holds the lock, so even a poisoned state is consistent.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cores for Pool {
    fn lend(&self, task: Task) -> Option<Task> {
        let mut state = self.lock();
        if state.queue.waiting() > 0 || !state.lending.has_idle() {
            return Some(task);
        }
        let deadlines = SEAT.get().and_then(|seat| state.seats.deadlines(seat));
        let deadlines = deadlines.unwrap_or_default();
        state.lending.lend(Part { task, deadlines });
        state.counters.stolen += 1;
        drop(state);
        self.work_available.notify_one();
        None
    }

    fn lends_soon(&self) -> bool {
        let state = self.lock();
        state.queue.waiting() == 0 && state.lending.has_idle_soon()
    }
}

impl State {
    /// Returns how many bytes of free buffers may be kept: as many as running jobs leave of the budget, but at most
    /// `KEPT_BYTES` for each thread and an eighth of the budget.
    pub(super) fn spare_bytes(&self) -> u64 {
        let budget = self.queue.budget();
        let most = self.queue.threads() as u64 * KEPT_BYTES;
        budget.free().min(most).min(budget.total() / 8)
    }

    /// Takes further jobs out of the queue that start with the same decode as `first`.
    pub(super) fn take_along(&mut self, now: Now, (id, first): &NumberedJob) -> Vec<NumberedJob> {
        let Some(input) = &first.input else {
            return Vec::new();
        };
        let calibration = &self.calibration;
        let mut shared_peak = SharedPeak::of(input.plan.holding(), self.queue.threads());
        let mut reserved = first.work.peak_bytes;
        self.queue.take_along(now, *id, |job, free| {
            let other = job.input.as_ref().filter(|other| input.joins(other))?;
            let larger = shared_peak.with(other.plan.holding());
            let bytes = larger.bytes().saturating_sub(reserved);
            if bytes > free {
                return None;
            }
            shared_peak = larger;
            reserved += bytes;
            let price = calibration.price(&job.work).without_decode();
            Some(Price { bytes, ..price })
        })
    }

    /// Counts a rejection and returns it as an error.
    pub(super) fn refuse(&mut self, refusal: Refusal) -> Error {
        self.counters.count_refusal(refusal.cause);
        refusal.into()
    }

    /// Counts a request that needs `value` bytes of memory, more than the `limit`, and returns the error for it.
    pub(super) fn over_budget(&mut self, value: u64, limit: u64) -> Error {
        self.counters.refused_memory += 1;
        Error::Pixels(andon_pixels::Error::Limit {
            bound: Bound::MEMORY_BUDGET,
            value,
            limit,
        })
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("waiting", &self.lock().queue.waiting())
            .finish_non_exhaustive()
    }
}

/// Bytes of free buffers that may be kept for each thread: the size of a photo of 15 megapixels decoded in full.
const KEPT_BYTES: u64 = 24 << 20;
