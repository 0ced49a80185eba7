//! Work stealing: idle threads take over parts of running jobs. This way a single image is finished sooner, while under
//! load every image has one thread.

use std::collections::VecDeque;
use std::sync::Arc;

use andon_cache::Deadline;
use andon_pixels::Task;

/// The parts of running jobs that are offered to idle threads, and the number of these threads.
#[derive(Default)]
pub(super) struct Lending {
    /// Whether the configuration allows work stealing.
    pub(super) is_allowed: bool,
    /// Number of worker threads that have nothing to do.
    pub(super) idle: usize,
    /// Parts for which idle threads were woken, but which these have not taken yet. There are never more parts than
    /// idle threads.
    parts: VecDeque<Part>,
    /// Number of threads that are running a part of another thread's job.
    helping: usize,
}

/// A part of a running job that another thread may run.
pub(super) struct Part {
    pub(super) task: Task,
    /// Deadlines of the jobs to which the part belongs.
    pub(super) deadlines: Arc<[Deadline]>,
}

impl Lending {
    /// Creates the state of work stealing, without parts of jobs and without idle threads.
    pub(super) fn new(is_allowed: bool) -> Self {
        Self {
            is_allowed,
            ..Self::default()
        }
    }

    /// Whether there is an idle thread to which no part of a job is offered yet.
    pub(super) fn has_idle(&self) -> bool {
        self.is_allowed && self.parts.len() < self.idle
    }

    /// Whether a thread is idle, or may soon be because it is only running a part of another thread's job.
    pub(super) fn has_idle_soon(&self) -> bool {
        self.is_allowed && self.parts.len() < self.idle + self.helping
    }

    /// Offers a part to an idle thread, which the caller has to wake.
    pub(super) fn lend(&mut self, part: Part) {
        self.parts.push_back(part);
    }

    /// Takes the oldest offered part for the calling thread. The thread counts as helping until it calls
    /// [`ends`](Self::ends).
    pub(super) fn take(&mut self) -> Option<Part> {
        let part = self.parts.pop_front()?;
        self.helping += 1;
        Some(part)
    }

    /// Records that a thread has finished the part of another thread's job that it took.
    pub(super) fn ends(&mut self) {
        self.helping -= 1;
    }
}
