//! Gauges and counters of admission.

use std::time::Duration;

use crate::error::Cause;

/// The load at one moment, and totals since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Jobs in the queue.
    pub waiting: usize,
    /// Jobs that run on a worker thread.
    pub running: usize,
    /// Predicted queueing delay of a new request behind all others.
    pub predicted_wait: Duration,
    /// Planned peak memory of all running jobs in bytes.
    pub budget_used: u64,
    /// Maximum planned peak memory of all running jobs together in bytes.
    pub budget_total: u64,
    /// Bytes of decoded frames in the cache.
    pub frames_bytes: u64,
    /// Bytes of free buffers that are kept for reuse by the next images.
    pub free_buffers_bytes: u64,
    /// Number of worker threads.
    pub threads: usize,
    /// Number of worker threads whose current job should have ended long ago (its deadline passed more than `GRACE`
    /// ago).
    pub stuck: usize,
    /// Total numbers of requests and jobs since the server started, by outcome.
    pub counters: Counters,
}

impl Gauges {
    /// Whether no job waits and at least one worker thread is idle.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting == 0 && self.running < self.threads
    }
}

/// Total numbers of requests and jobs since the server started, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that were admitted.
    pub admitted: u64,
    /// Requests rejected because the queue was full.
    pub refused_count: u64,
    /// Requests rejected because the wait would have been too long.
    pub refused_wait: u64,
    /// Requests rejected because they would have missed their deadlines.
    pub refused_deadline: u64,
    /// Requests rejected because they need more memory than is available.
    pub refused_memory: u64,
    /// Requests rejected because all worker threads were stuck.
    pub refused_stuck: u64,
    /// Requests that were admitted, but dropped before their work was complete because the client disconnected or the
    /// deadline passed.
    pub dropped: u64,
    /// Jobs that ended, whatever the outcome.
    pub done: u64,
    /// Panics in jobs that were caught.
    pub panicked: u64,
    /// Parts of running jobs that were handed to idle threads.
    pub stolen: u64,
    /// Decodes that were started.
    pub decodes: u64,
    /// Jobs that used the decode of another job.
    pub decodes_shared: u64,
    /// Jobs that used a decoded frame from the cache.
    pub frame_hits: u64,
}

impl Counters {
    /// Counts a rejection.
    pub(super) fn count_refusal(&mut self, cause: Cause) {
        *match cause {
            Cause::Count => &mut self.refused_count,
            Cause::Wait => &mut self.refused_wait,
            Cause::Deadline => &mut self.refused_deadline,
        } += 1;
    }
}
