//! The worker threads: how they start, what they do next, and how they end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use andon_isolation::confine;
use andon_pixels::{STACK, Task, buffers};

use super::job::Taken;
use super::placement::Placement;
use super::pool::{Pool, State};
use super::priority::{self, Working};
use super::seats::SEAT;
use crate::config::{Config, SandboxMode};

/// What a worker thread does next.
enum Next {
    /// Runs one job, together with those that share its decode.
    Jobs(Vec<Taken>),
    /// Runs a part of a job of another thread.
    Part(Task),
}

impl Pool {
    /// Starts the worker threads that are missing. They wait for the lock on `state` before they look for work, and may
    /// end again then.
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
        let working = pool.clone();
        let (starting, started) = sync_channel(1);
        thread::Builder::new()
            .name(format!("worker-{number}"))
            .stack_size(STACK)
            .spawn(move || {
                priority::yield_to_replies(NICENESS);
                let restricted = match mode {
                    SandboxMode::Off => Ok(()),
                    SandboxMode::Auto | SandboxMode::Required => confine::thread(),
                };
                let goes_on = restricted.is_ok() || mode != SandboxMode::Required;
                // Somebody waits for it.
                let _ = starting.send(restricted);
                if goes_on {
                    working.work(seat);
                }
            })?;
        match started.recv().map_err(io::Error::other)? {
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
        let mut helped = false;
        while let Some(next) = self.next(seat, helped, &mut placement) {
            placement.release();
            helped = matches!(next, Next::Part(_));
            let _working = Working::begin();
            match next {
                Next::Jobs(jobs) => self.run_together(jobs),
                // A panic shows as a missing result in the job that lent the task.
                Next::Part(task) => drop(catch_unwind(AssertUnwindSafe(task))),
            }
        }
    }

    /// Waits for what the thread at `seat` does next; `None`: it ends. `helped` says whether it ran a part before.
    fn next(&self, seat: usize, helped: bool, placement: &mut Placement) -> Option<Next> {
        let mut state = self.lock();
        if helped {
            state.lending.ends();
        }
        state.seats.is_idle(seat);
        let mut rested = false;
        loop {
            if let Some(part) = state.lending.take() {
                state.seats.helps(seat, part.deadlines);
                return Some(Next::Part(part.task));
            }
            if state.threads > state.queue.threads() {
                state.threads -= 1;
                state.seats.leave(seat);
                drop(state);
                // Whatever woke this thread is for another one.
                self.changed.notify_all();
                return None;
            }
            let now = self.now();
            if let Some(taken) = state.queue.next(now) {
                let along = state.along(now, &taken);
                let work = taken.1.at_work(along.len());
                let all = std::iter::once(&taken).chain(&along);
                let deadlines = all.map(|(_, job)| job.wanted.deadline().clone());
                state.seats.is_at(seat, work, deadlines.collect());
                let spare = state.spare_bytes();
                drop(state);
                self.eased.notify_waiters();
                buffers::allow(spare);
                return Some(Next::Jobs(std::iter::once(taken).chain(along).collect()));
            }
            if state.closed && state.queue.waiting() == 0 {
                state.threads -= 1;
                state.seats.leave(seat);
                return None;
            }
            if placement.is_free() {
                // It may have to move there: others need the lock meanwhile.
                drop(state);
                placement.bind();
                state = self.lock();
                continue;
            }
            // Those that had come too late have been dropped.
            self.eased.notify_waiters();
            (state, rested) = self.wait(state, rested);
        }
    }

    /// Waits for something to do. A thread that has not `rested` yet waits only for a moment; if nothing came and all
    /// other threads are idle, too, the buffers that were kept for the next image are freed. Also returns whether the
    /// thread has now rested.
    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        rested: bool,
    ) -> (MutexGuard<'a, State>, bool) {
        state.lending.idle += 1;
        let timed_out;
        (state, timed_out) = if rested {
            let waited = self.changed.wait(state);
            (waited.unwrap_or_else(PoisonError::into_inner), false)
        } else {
            let waited = self.changed.wait_timeout(state, REST);
            let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            (state, waited.timed_out())
        };
        let all_idle = state.lending.idle == state.threads;
        state.lending.idle -= 1;
        if timed_out && all_idle {
            drop(state);
            buffers::release();
            state = self.lock();
        }
        (state, rested || timed_out)
    }
}

/// How long a thread without work waits before it checks whether all others are idle, too.
const REST: Duration = Duration::from_secs(1);

/// Niceness of the worker threads: where both want a core, they get a third of the weight of the threads that answer
/// requests.
const NICENESS: i32 = 5;
