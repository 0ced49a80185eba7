//! Parts of running jobs that idle threads take over: a single image is done sooner, and under load every image has one
//! thread.

use std::collections::VecDeque;
use std::sync::Arc;

use andon_cache::Deadline;
use andon_pixels::Task;

/// The parts of running jobs that are lent, and the threads that may take them.
#[derive(Default)]
pub(super) struct Lending {
    /// Whether the configuration allows it.
    pub(super) is_allowed: bool,
    /// Worker threads that have nothing to do.
    pub(super) idle: usize,
    /// Parts for which idle threads were woken and which they have not taken yet. There are never more of them than
    /// idle threads.
    parts: VecDeque<Part>,
    /// Threads that are running a part of another thread's job.
    helping: usize,
}

/// A part of a running job that another thread may do.
pub(super) struct Part {
    pub(super) task: Task,
    /// Deadlines of the jobs that the part belongs to.
    pub(super) deadlines: Arc<[Deadline]>,
}

impl Lending {
    /// Begins without parts and without idle threads.
    pub(super) fn new(is_allowed: bool) -> Self {
        Self {
            is_allowed,
            ..Self::default()
        }
    }

    /// Whether a thread is idle for which no part was lent yet.
    pub(super) fn has_idle(&self) -> bool {
        self.is_allowed && self.parts.len() < self.idle
    }

    /// Whether a thread is idle, or may soon be because it only helps another one.
    pub(super) fn has_idle_soon(&self) -> bool {
        self.is_allowed && self.parts.len() < self.idle + self.helping
    }

    /// Lends a part to an idle thread, which the caller wakes.
    pub(super) fn lend(&mut self, part: Part) {
        self.parts.push_back(part);
    }

    /// Takes the part that was lent first, for a thread that counts as helping until it [`ends`](Self::ends).
    pub(super) fn take(&mut self) -> Option<Part> {
        let part = self.parts.pop_front()?;
        self.helping += 1;
        Some(part)
    }

    /// Notes that a thread has ended the part that it took.
    pub(super) fn ends(&mut self) {
        self.helping -= 1;
    }
}
