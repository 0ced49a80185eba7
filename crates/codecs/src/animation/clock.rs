//! Conversion of frame delays to the time unit of another format.

use andon_pixels::Delay;

/// Converts frame delays to ticks of a given length. The rounding error of each delay is carried over to the next one,
/// so that the whole animation keeps its duration.
#[derive(Debug)]
pub(crate) struct Clock {
    per_second: u32,
    most: u32,
    seconds: f64,
    ticks_due: f64,
}

impl Clock {
    /// Creates a clock that converts to `per_second` ticks per second, with a maximum of `most` ticks per frame.
    pub(crate) fn new(per_second: u32, most: u32) -> Self {
        Self {
            per_second,
            most,
            seconds: 0.0,
            ticks_due: 0.0,
        }
    }

    /// Returns the number of ticks for which the next frame, with this delay, is shown. Call this once for each frame,
    /// in order.
    pub(crate) fn ticks(&mut self, delay: Delay) -> u32 {
        if delay.per_second == self.per_second {
            return delay.ticks.min(self.most);
        }
        self.seconds += delay.seconds();
        let due = (self.seconds * f64::from(self.per_second)).round();
        let ticks = (due - self.ticks_due).clamp(0.0, f64::from(self.most));
        self.ticks_due = due;
        ticks as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks_of(per_second: u32, delays: &[(u32, u32)]) -> Vec<u32> {
        let mut clock = Clock::new(per_second, 65_535);
        let delays = delays
            .iter()
            .map(|&(ticks, per_second)| Delay { ticks, per_second });
        delays.map(|delay| clock.ticks(delay)).collect()
    }

    #[test]
    fn delays_in_their_own_unit_are_kept() {
        let stored = [(0, 100), (1, 100), (7, 100), (70_000, 100)];
        assert_eq!(ticks_of(100, &stored), [0, 1, 7, 65_535]);
    }

    #[test]
    fn what_is_rounded_off_is_added_to_the_next() {
        assert_eq!(ticks_of(100, &[(33, 1000); 6]), [3, 4, 3, 3, 4, 3]);
        assert_eq!(ticks_of(1000, &[(1, 30); 3]), [33, 34, 33]);
    }
}
