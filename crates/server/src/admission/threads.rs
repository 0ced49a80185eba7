//! The worker threads: how they start, select their work, and end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use andon_isolation::confine;
use andon_pixels::{STACK, Task, buffers};

use super::job::NumberedJob;
use super::placement::Placement;
use super::pool::{Pool, State};
use super::priority::{self, Working};
use super::seats::SEAT;
use crate::config::{Config, SandboxMode};

/// The next work of a worker thread.
enum Next {
    /// One job, together with the jobs that share its decode.
    Jobs(Vec<NumberedJob>),
    /// A part of another thread's job.
    Part(Task),
}

impl Pool {
    /// Starts the worker threads that are missing. They wait for the lock of `state` before they look for work, and end
    /// again if they are not needed by then.
    pub(super) fn start_threads(
        pool: &Arc<Self>,
        state: &mut State,
        config: &Config,
    ) -> io::Result<()> {
        let mode = config.sandbox.mode;
        for number in state.threads..config.workers() {
            let seat = state.seats.take();
            if let Err(error) = Self::start_thread(pool, number, seat, mode) {
                state.seats.leave(seat);
                return Err(error);
            }
            state.threads += 1;
        }
        Ok(())
    }

    fn start_thread(
        pool: &Arc<Self>,
        number: usize,
        seat: usize,
        mode: SandboxMode,
    ) -> io::Result<()> {
        let pool_of_thread = pool.clone();
        let (sender, receiver) = sync_channel(1);
        thread::Builder::new()
            .name(format!("worker-{number}"))
            .stack_size(STACK)
            .spawn(move || {
                priority::yield_to_replies(NICENESS);
                let result = match mode {
                    SandboxMode::Off => Ok(()),
                    SandboxMode::Auto | SandboxMode::Required => confine::thread(),
                };
                let may_work = result.is_ok() || mode != SandboxMode::Required;
                // The receiver always waits for this, so sending does not fail.
                let _ = sender.send(result);
                if may_work {
                    pool_of_thread.work(seat);
                }
            })?;
        match receiver.recv().map_err(io::Error::other)? {
            Err(error) if mode == SandboxMode::Required => Err(error),
            Err(error) => {
                tracing::warn!(%error, number, "a worker thread runs without a filter of system calls");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// The main loop of a worker thread.
    fn work(self: &Arc<Self>, seat: usize) {
        SEAT.set(Some(seat));
        let mut placement = Placement::new(seat, self.lock().queue.threads());
        let mut has_helped = false;
        while let Some(next) = self.next(seat, has_helped, &mut placement) {
            placement.release();
            has_helped = matches!(next, Next::Part(_));
            let _working = Working::begin();
            match next {
                Next::Jobs(jobs) => self.run_together(jobs),
                // The job that offered the task notices a panic by the missing result.
                Next::Part(task) => drop(catch_unwind(AssertUnwindSafe(task))),
            }
        }
    }

    /// Waits for the next work of the worker thread with the index `seat`, or returns `None` if the thread has to end.
    /// `has_helped` says whether the thread's last work was a part of another thread's job.
    fn next(&self, seat: usize, has_helped: bool, placement: &mut Placement) -> Option<Next> {
        let mut state = self.lock();
        if has_helped {
            state.lending.ends();
        }
        state.seats.set_idle(seat);
        let mut has_rested = false;
        loop {
            if let Some(part) = state.lending.take() {
                state.seats.set_helping(seat, part.deadlines);
                return Some(Next::Part(part.task));
            }
            if state.threads > state.queue.threads() {
                state.threads -= 1;
                state.seats.leave(seat);
                drop(state);
                // The notification that woke this thread is for another one.
                self.work_available.notify_all();
                return None;
            }
            let now = self.now();
            if let Some(job) = state.queue.next(now) {
                let companions = state.take_along(now, &job);
                let work = job.1.at_work(companions.len());
                let all = std::iter::once(&job).chain(&companions);
                let deadlines = all.map(|(_, job)| job.cancel.deadline().clone());
                state.seats.set_work(seat, work, deadlines.collect());
                let spare = state.spare_bytes();
                drop(state);
                self.load_change.notify_waiters();
                buffers::allow(spare);
                return Some(Next::Jobs(std::iter::once(job).chain(companions).collect()));
            }
            if state.is_closed && state.queue.waiting() == 0 {
                state.threads -= 1;
                state.seats.leave(seat);
                return None;
            }
            if placement.is_free() {
                // The thread may have to move to its core, while others need the lock.
                drop(state);
                placement.bind();
                state = self.lock();
                continue;
            }
            // Jobs whose deadlines had passed have been dropped.
            self.load_change.notify_waiters();
            (state, has_rested) = self.wait(state, has_rested);
        }
    }

    /// Waits for work. A thread that has not `has_rested` yet waits for at most [`REST`]. If no work arrives in that
    /// time and all other threads are idle, too, it frees the buffers that were kept for the next image. Also returns
    /// whether the thread has rested now.
    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        has_rested: bool,
    ) -> (MutexGuard<'a, State>, bool) {
        state.lending.idle += 1;
        let timed_out;
        (state, timed_out) = if has_rested {
            let result = self.work_available.wait(state);
            (result.unwrap_or_else(PoisonError::into_inner), false)
        } else {
            let result = self.work_available.wait_timeout(state, REST);
            let (state, result) = result.unwrap_or_else(PoisonError::into_inner);
            (state, result.timed_out())
        };
        let all_idle = state.lending.idle == state.threads;
        state.lending.idle -= 1;
        if timed_out && all_idle {
            drop(state);
            buffers::release();
            state = self.lock();
        }
        (state, has_rested || timed_out)
    }
}

/// How long a thread without work waits before it checks whether all other threads are idle, too.
const REST: Duration = Duration::from_secs(1);

/// Niceness of the worker threads above that of the process. When a worker thread and a thread that responds to
/// requests compete for a core, the worker thread gets a third of the other's weight.
const NICENESS: i32 = 5;
