//! What admission tells about itself.

use std::time::Duration;

use crate::error::Cause;

/// One moment, and everything since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Jobs in line.
    pub waiting: usize,
    /// Jobs on a pixel thread.
    pub running: usize,
    /// How long somebody would wait who lets everybody go first.
    pub predicted_wait: Duration,
    /// Planned bytes of everything that runs.
    pub budget_used: u64,
    /// As much of them as there may be.
    pub budget_total: u64,
    /// Bytes of decoded frames that are kept.
    pub frames_bytes: u64,
    /// Bytes of free buffers that are kept for the next images.
    pub free_buffers_bytes: u64,
    /// Pixel threads that there are.
    pub threads: usize,
    /// Those of them that are at a job whose deadline passed long ago.
    pub stuck: usize,
    /// Since the start.
    pub counters: Counters,
}

impl Gauges {
    /// Does nobody wait, and a pixel thread have nothing to do?
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting == 0 && self.running < self.threads
    }
}

/// Since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests let in.
    pub admitted: u64,
    /// Refused because as many waited as may.
    pub refused_count: u64,
    /// Refused because the wait would have been too long.
    pub refused_wait: u64,
    /// Refused because they would have missed their deadlines.
    pub refused_deadline: u64,
    /// Refused because they plan with more memory than there is.
    pub refused_memory: u64,
    /// Refused because all pixel threads were stuck.
    pub refused_stuck: u64,
    /// Let in, and given up before or during their work: the client left, or the deadline passed.
    pub dropped: u64,
    /// Done, whatever came out.
    pub done: u64,
    /// Panics caught.
    pub panicked: u64,
    /// Parts of jobs that idle threads took.
    pub stolen: u64,
    /// Decodes that were begun.
    pub decodes: u64,
    /// Jobs that began with what another one's decode had yielded.
    pub decodes_shared: u64,
    /// Jobs that began with a frame that was kept.
    pub frame_hits: u64,
}

impl Counters {
    pub(super) fn refused(&mut self, cause: Cause) {
        *match cause {
            Cause::Count => &mut self.refused_count,
            Cause::Wait => &mut self.refused_wait,
            Cause::Deadline => &mut self.refused_deadline,
        } += 1;
    }
}
