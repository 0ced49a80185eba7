//! Admission control: decides which requests may use this machine, when, and how much of it.
//!
//! A request that needs pixels first [enters](Admission::enter), as soon as the length of its source is known: before a
//! file is read, but only after the body of an upload or of a source from an origin has arrived. How long a body will
//! take to arrive is unknown, and a request that would be rejected now may be admitted later. The source is planned
//! elsewhere, within the limits of the fetcher, and the work [runs](Admission::run_with) on one of a fixed number of
//! worker threads, each of which runs one job at a time. Both steps may reject the request immediately, with the time
//! after which to retry. `queue` selects the next job by the `rules`, and `threads` run the jobs. `shares`, `budget`
//! and `cgroup` limit the memory, and `calibration` learns the ratio of planned to measured time on this machine. All
//! of this is kept when the configuration is reloaded, which may [resize](Admission::resize) it.
//!
//! A job whose request is dropped leaves the queue or, if it is already running, is cancelled. A panic in a job ends
//! that job, not its thread.
//!
//! # A request that is refused under load
//!
//! `Admission::enter_for_part` with `Queue::expect` decides at once. Values in parentheses are defaults; the numbers of
//! steps are those of `results::making`.
//!
//! | Rule, in this order | Status | Label |
//! |---|---|---|
//! | the source exceeds the memory for sources; at step 10, the plan's peak exceeds that for jobs | 422 | `limit` |
//! | each worker thread is at a job whose deadline passed over 10 s ago | 503 | `stuck` |
//! | `queue` (1024) requests, and one for each idle worker thread, are admitted and not running | 503 | `queue` |
//! | 1 to 15 of these begin with the same source, or no work is ahead | admitted | |
//! | predicted wait over `max_wait` (10 s), under lasting overload over `target_wait` (500 ms) | 503 | `busy` |
//! | predicted wait and own time end after the deadline | 503 | `deadline` |
//!
//! - The predicted wait is the predicted time of all requests with earlier turns and what is left of running jobs,
//!   divided by the number of worker threads. A request's turn is its arrival plus four times its own predicted time,
//!   at most 2 s.
//! - Overload is lasting when the wait behind the whole queue has been above `target_wait` for 100 ms, and there are 32
//!   requests per worker thread (64 at least). Predictions use the size in bytes, at step 10 the plan, and what
//!   finished jobs took (`admission/calibration.rs`).
//! - `Queue::join` (step 10) repeats the last two rules, unless the job can share the decode of one that waits. An
//!   admitted job waits until the deadline; it is withdrawn if its client leaves.
//! - A 503 is the same status in every dialect (`RequestRecord::error_reply_with`, `handler/record.rs`;
//!   `response/mod.rs`): one line, or the dialect's own body for errors, with `no-store` and `Retry-After`: 1 to 60 s
//!   by the predicted wait, 1 s for `stuck`. All requests that have joined one task (step 5) get its 503, which is not
//!   remembered and gets no fallback image. If the store has the result, that is sent instead, and so is a stale result
//!   of an origin within `stale_if_error`.
//! - Admission never refuses hits, a 304 for known facts, renewals that end in 304, redirects, unchanged files once the
//!   end of the image in them is known, health, readiness, metrics, purges and the dashboard.
//! - Other refusals: connections over the limit (`http/connections.rs`; 32 of them get one response each, 503 unless it
//!   is for monitoring), slots for headers, memory for uploads and HTTP/2 responses (503, `no_room`), and idle priority
//!   (`Maker::idle_turn`, `results/making/idle.rs`: 429 after up to 5 s without an idle worker thread).

#[cfg(test)]
mod batches;
mod budget;
pub mod calibration;
mod cancel;
mod cgroup;
#[cfg(test)]
mod closed_loop;
mod counters;
mod frames;
mod job;
mod lend;
#[cfg(test)]
mod lost;
mod placement;
mod pool;
pub(crate) mod priority;
pub mod queue;
pub(crate) mod resources;
mod rules;
mod running;
mod seats;
mod shared_decode;
mod shares;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
mod threads;
mod work;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::Key;
use andon_pixels::{Cores, Decoded, buffers};
use tokio::sync::{Notify, oneshot};

use self::job::Job;
use self::pool::Pool;
use self::queue::Turn;
use self::rules::Rules;
use crate::config::Config;
use crate::error::{Error, Stuck};

pub(crate) use self::cancel::CancelToken;
pub use self::counters::{Counters, Gauges};
pub(crate) use self::seats::AtWork;
pub(crate) use self::shared_decode::DecodeInput;
pub(crate) use self::shares::Shares;
pub use self::shares::kept_by_process;
pub(crate) use self::work::{Kind, Work};

/// Returns the bytes of memory that this process may use, or `None` if the system does not report it.
pub(crate) fn memory() -> Option<u64> {
    cgroup::memory().map(|memory| memory.bytes)
}

/// The worker threads and the queue in front of them. When this is dropped, the threads finish all queued jobs and end.
#[derive(Debug)]
pub(crate) struct Admission {
    pool: Arc<Pool>,
}

/// An admitted request, whose job is expected to follow. If it is dropped before that, it gives up its place in the
/// queue.
#[derive(Debug)]
pub(crate) struct Admitted {
    pool: Arc<Pool>,
    turn: Turn,
    is_used: bool,
}

impl Admission {
    /// Starts the worker threads.
    ///
    /// # Errors
    /// An error if the system cannot start more threads, or cannot restrict them as `sandbox.mode = "required"`
    /// demands.
    pub(crate) fn start(config: &Config, shares: Shares) -> io::Result<Self> {
        let admission = Self {
            pool: Arc::new(Pool::new(config, shares)),
        };
        Pool::start_threads(&admission.pool, &mut admission.pool.lock(), config)?;
        Ok(admission)
    }

    /// Applies another configuration while the server runs. Additional threads start at once, and surplus ones end
    /// after their current job. Admitted requests are still served, and calibration is kept.
    ///
    /// # Errors
    /// As for [`Admission::start`]. Rules and shares are unchanged after an error.
    pub(crate) fn resize(&self, config: &Config, shares: Shares) -> io::Result<()> {
        let mut state = self.pool.lock();
        Pool::start_threads(&self.pool, &mut state, config)?;
        state.queue.resize(Rules::of(config), shares.pixels);
        state.most_source_bytes = shares.sources;
        state.lending.is_allowed = config.steal_work;
        drop(state);
        self.pool.frames.resize(shares.frames);
        self.pool.work_available.notify_all();
        self.pool.load_change.notify_waiters();
        Ok(())
    }

    /// Estimates how long work on a file of `bytes` bytes will take, before anything else is known about the file.
    pub(crate) fn expected_cost(&self, bytes: u64) -> Duration {
        self.pool.lock().calibration.guess(bytes)
    }

    /// Admits a request that will work on files of `bytes` bytes in total (0 if that is not known yet) and must be
    /// finished by `deadline`. `source` identifies the exact bytes of the source, if other requests may start with the
    /// same bytes. This takes very little time, so rejections are cheap.
    ///
    /// # Errors
    /// `Refused` under overload or if the deadline cannot be met; `Stuck` if all worker threads are stuck;
    /// `Pixels(Limit)` for files that are larger than the share of memory for source files.
    pub(crate) fn enter(
        &self,
        bytes: u64,
        source: Option<Key>,
        deadline: Instant,
    ) -> Result<Admitted, Error> {
        self.enter_for_part(bytes, bytes, source, deadline)
    }

    /// Admits a request like [`Admission::enter`], but for work that will probably read only `part` of the `bytes`.
    ///
    /// # Errors
    /// As for [`Admission::enter`].
    pub(crate) fn enter_for_part(
        &self,
        bytes: u64,
        part: u64,
        source: Option<Key>,
        deadline: Instant,
    ) -> Result<Admitted, Error> {
        let now = self.pool.now();
        let deadline = self.pool.time_of(deadline);
        let mut state = self.pool.lock();
        let most = state.most_source_bytes;
        if bytes > most {
            return Err(state.over_budget(bytes, most));
        }
        let stuck = state.seats.stuck(Instant::now());
        if let Some(all) = stuck.all() {
            state.counters.refused_stuck += 1;
            return Err(Error::Stuck(all));
        }
        state.queue.set_stuck(stuck.count);
        let guess = state.calibration.guess(part);
        let turn = match state.queue.expect(now, guess, deadline, source) {
            Ok(turn) => turn,
            Err(refusal) => return Err(state.refuse(refusal)),
        };
        state.counters.admitted += 1;
        drop(state);
        Ok(Admitted {
            pool: self.pool.clone(),
            turn,
            is_used: false,
        })
    }

    /// Runs `job` on a worker thread when its turn has come and its planned peak fits into memory. The job may use idle
    /// threads while no other job waits for them. Its second argument is the decoded frame to start with, or `None` if
    /// the job has to decode its source itself. The frame comes from the cache, or was decoded for several jobs at once
    /// (see [`shared_decode`]), or was decoded for this job and is to be cached. Dropping the future withdraws the job.
    ///
    /// # Errors
    /// The errors of the job; `Refused` if it would wait too long or miss its deadline; `Pixels(Limit)` for a plan that
    /// exceeds the whole memory budget; `Panicked` if the job panicked.
    pub(crate) async fn run_with<T: Send + 'static>(
        &self,
        mut admitted: Admitted,
        work: Work,
        cancel: Arc<CancelToken>,
        input: Option<DecodeInput>,
        job: impl FnOnce(&dyn Cores, Option<Decoded>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, receiver) = oneshot::channel();
        let job = Job::new(work, cancel.clone(), input, reply, job);
        admitted.is_used = true;
        let id = self.pool.join(admitted.turn, job)?;
        let mut withdraw = Withdraw {
            pool: &self.pool,
            cancel,
            id,
            has_result: false,
        };
        let result = receiver.await;
        withdraw.has_result = true;
        result.unwrap_or(Err(Error::Panicked))
    }

    /// Removes all decoded frames from the cache.
    pub(crate) fn clear_frames(&self) {
        self.pool.frames.clear();
    }

    /// Returns the current state of the queue, the worker threads and the memory.
    pub(crate) fn gauges(&self) -> Gauges {
        let now = self.pool.now();
        let frames_bytes = self.pool.frames.bytes();
        let state = self.pool.lock();
        Gauges {
            frames_bytes,
            free_buffers_bytes: buffers::bytes(),
            waiting: state.queue.waiting(),
            running: state.queue.running(),
            predicted_wait: state.queue.backlog(now),
            budget_used: state.queue.budget().used(),
            budget_total: state.queue.budget().total(),
            threads: state.threads,
            stuck: state.seats.stuck(Instant::now()).count,
            counters: state.counters,
        }
    }

    /// Waits until `ready` returns a value for the current load. It is called again whenever a job has started, ended
    /// or been dropped, and when the signal [`load_change`](Self::load_change) is notified.
    pub(crate) async fn until<T>(&self, mut ready: impl FnMut(&Gauges) -> Option<T>) -> T {
        loop {
            let mut load_change = pin!(self.pool.load_change.notified());
            // Registered before the check, so that no notification is missed.
            load_change.as_mut().enable();
            if let Some(result) = ready(&self.gauges()) {
                return result;
            }
            load_change.await;
        }
    }

    /// Returns the signal that wakes all callers of [`until`](Self::until).
    pub(crate) fn load_change(&self) -> Arc<Notify> {
        self.pool.load_change.clone()
    }

    /// Returns details if every worker thread is running a job that should have ended long ago. No new work starts
    /// then.
    pub(crate) fn stuck(&self) -> Option<Stuck> {
        self.pool.lock().seats.stuck(Instant::now()).all()
    }

    /// Returns the current job of each worker thread, or `None` for a thread without a job of its own.
    pub(crate) fn at_work(&self) -> Vec<Option<AtWork>> {
        self.pool.lock().seats.all()
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.pool.lock().is_closed = true;
        self.pool.work_available.notify_all();
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if !self.is_used {
            let mut state = self.pool.lock();
            state.queue.forget(self.turn);
            state.counters.dropped += 1;
        }
    }
}

/// Withdraws a job when its future is dropped before its result has arrived.
struct Withdraw<'a> {
    pool: &'a Pool,
    cancel: Arc<CancelToken>,
    id: u64,
    has_result: bool,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if self.has_result {
            return;
        }
        self.cancel.cancel();
        let mut state = self.pool.lock();
        state.counters.dropped += 1;
        let job = state.queue.withdraw(self.id);
        drop(state);
        // Jobs that could not start because of this one may start now.
        self.pool.work_available.notify_all();
        self.pool.load_change.notify_waiters();
        drop(job);
    }
}
