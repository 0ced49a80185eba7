//! The memory of jobs that start from the same decode.
//!
//! Each decoded frame is in memory once, however many jobs use it, until the last of them has ended. A job's other
//! memory is in use only while it runs, and no more jobs run at a time than there are threads. So a further size of an
//! image takes little additional memory.

use crate::codec::Scales;
use crate::plan::Holding;

/// The peak memory of all jobs that start from the same decode. Source files are not included; they are counted by
/// their owner.
#[derive(Clone, Debug)]
pub struct SharedPeak {
    threads: usize,
    /// The decoded frames: the scales at which each is decoded, and its size in bytes. The scales are `None` for a
    /// frame that cannot be shared, such as a part of an image.
    frames: Vec<(Option<Scales>, u64)>,
    /// Largest number of bytes in use while decoding, in addition to all frames.
    decoding: u64,
    /// The bytes that each job has in use after decoding, in addition to its frame, largest first.
    afterwards: Vec<u64>,
}

impl SharedPeak {
    /// Returns the peak memory of a single job, where up to `threads` jobs run at a time.
    #[must_use]
    pub fn of(first: Holding, threads: usize) -> Self {
        let empty = Self {
            threads: threads.max(1),
            frames: Vec::new(),
            decoding: 0,
            afterwards: Vec::new(),
        };
        empty.with(first)
    }

    /// Returns the peak memory with one more job added.
    #[must_use]
    pub fn with(&self, other: Holding) -> Self {
        let mut shared_peak = self.clone();
        let has_scales = |(scales, _): &(Option<Scales>, u64)| *scales == other.scales;
        if !shared_peak.frames.iter().any(has_scales) {
            shared_peak.frames.push((other.scales, other.frame));
        }
        shared_peak.decoding = shared_peak.decoding.max(other.decoding);
        shared_peak.afterwards.push(other.afterwards);
        shared_peak
            .afterwards
            .sort_unstable_by(|one, another| another.cmp(one));
        shared_peak
    }

    /// Returns the most bytes that all jobs together have in use at one time.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let frames: u64 = self.frames.iter().map(|(_, bytes)| bytes).sum();
        let running: u64 = self.afterwards.iter().take(self.threads).sum();
        frames.saturating_add(self.decoding.max(running))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Scale;

    fn holding(scale: Scale, frame: u64, decoding: u64, afterwards: u64) -> Holding {
        Holding {
            file: 1 << 40,
            frame,
            scales: Some(Scales::both(scale)),
            decoding,
            afterwards,
        }
    }

    #[test]
    fn a_further_size_of_the_same_frame_takes_only_what_it_holds_while_it_runs() {
        let one = SharedPeak::of(holding(Scale::FULL, 1000, 50, 30), 2);
        assert_eq!(one.bytes(), 1050);
        let two = one.with(holding(Scale::FULL, 1000, 50, 40));
        assert_eq!(two.bytes(), 1070);
        let three = two.with(holding(Scale::FULL, 1000, 50, 35));
        assert_eq!(three.bytes(), 1075, "two run at a time, whichever they are");
    }

    #[test]
    fn another_scale_takes_its_frame_too() {
        let one = SharedPeak::of(holding(Scale::QUARTER, 100, 50, 10), 1);
        let two = one.with(holding(Scale::HALF, 400, 80, 20));
        assert_eq!((one.bytes(), two.bytes()), (150, 580));
    }
}
