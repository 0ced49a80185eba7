//! Frame delays for a format whose players replace very short delays with longer ones, such as GIF.

use andon_pixels::Delay;

/// Converts frame delays to ticks of a given length so that each frame is shown for a minimum number of ticks. Frames
/// start as close to their own time as that allows. A frame is left out if its time ends before the previous frame has
/// been shown for the minimum. The whole animation keeps its duration.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: u32,
    least: u64,
    /// Time in seconds at which the next frame begins in the source, which is the sum of all delays so far.
    seconds: f64,
    /// Time in ticks at which the latest frame that is shown begins.
    last_start: u64,
    /// Number of ticks between the beginnings of the latest two frames that are shown, at least `least`; `None` before
    /// there are two.
    previous: Option<u64>,
}

/// Whether a frame is shown or left out of the animation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The frame is shown. Its beginning ends the frame that was shown before it.
    Shown {
        /// Number of ticks for which the frame shown before this one lasts; `None` for the first frame.
        previous: Option<u64>,
    },
    /// The frame is left out, because its time ends before the frame shown before it has lasted for the minimum.
    LeftOut,
}

/// Durations of the last two frames of the animation that are not left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Number of ticks for which the last frame is shown. `None` means that it has to be left out after all, because
    /// too little time remains for it.
    pub(crate) last: Option<u64>,
    /// Number of ticks for which the frame before the last one is shown; `None` if there is none. This replaces the
    /// number in `Turn::Shown`: it is less if the last frame has to start earlier to be shown for the minimum, and more
    /// if the last frame is left out.
    pub(crate) previous: Option<u64>,
}

impl Pace {
    /// Creates a `Pace` of `per_second` ticks per second that shows each frame for at least `least` ticks.
    pub(crate) fn new(per_second: u32, least: u64) -> Self {
        Self {
            per_second,
            least,
            seconds: 0.0,
            last_start: 0,
            previous: None,
        }
    }

    /// Decides whether the next frame of the source, with this delay, is shown.
    pub(crate) fn turn(&mut self, delay: Delay) -> Turn {
        let first = self.seconds == 0.0;
        let start = self.now();
        self.seconds += delay.seconds();
        if first {
            return Turn::Shown { previous: None };
        }
        let earliest = self.last_start + self.least;
        if start < earliest && self.now() <= earliest {
            return Turn::LeftOut;
        }
        let last_start = start.max(earliest);
        let previous = Some(last_start - self.last_start);
        (self.last_start, self.previous) = (last_start, previous);
        Turn::Shown { previous }
    }

    /// Returns the durations of the last frame and of the one before it.
    pub(crate) fn end(&self) -> End {
        let rest = self.now().saturating_sub(self.last_start);
        let (last, previous) = match self.previous {
            _ if rest >= self.least => (Some(rest), self.previous),
            None => (Some(self.least), None),
            Some(previous) if previous + rest >= 2 * self.least => {
                (Some(self.least), Some(previous + rest - self.least))
            }
            Some(previous) => (None, Some(previous + rest)),
        };
        End { last, previous }
    }

    fn now(&self) -> u64 {
        (self.seconds * f64::from(self.per_second)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how a GIF shows frames with these delays in milliseconds: the index of each frame that is shown, and its
    /// duration in hundredths of a second.
    fn frame_durations(delays: &[u32]) -> Vec<(usize, u64)> {
        let mut pace = Pace::new(100, 2);
        let mut shown: Vec<(usize, u64)> = Vec::new();
        for (number, &ticks) in delays.iter().enumerate() {
            let turn = pace.turn(Delay {
                ticks,
                per_second: 1000,
            });
            if let Turn::Shown { previous } = turn {
                if let (Some(last), Some(previous)) = (shown.last_mut(), previous) {
                    last.1 = previous;
                }
                shown.push((number, 0));
            }
        }
        let end = pace.end();
        let last = shown.pop().expect("a frame");
        if let (Some(front), Some(previous)) = (shown.last_mut(), end.previous) {
            front.1 = previous;
        }
        shown.extend(end.last.map(|stays| (last.0, stays)));
        shown
    }

    #[test]
    fn frames_that_stay_long_enough_are_all_shown_to_the_hundredth() {
        assert_eq!(
            frame_durations(&[20, 33, 33, 34, 100]),
            [(0, 2), (1, 3), (2, 4), (3, 3), (4, 10)]
        );
    }

    #[test]
    fn sixty_frames_a_second_become_fifty() {
        let shown = frame_durations(&[17, 16, 17, 17, 16, 17, 17, 16, 17, 17, 16, 17]);
        assert!(shown.iter().all(|&(_, stays)| stays == 2), "{shown:?}");
        assert_eq!(shown.len(), 10);
    }

    #[test]
    fn a_short_frame_between_long_ones_moves_them_by_less_than_its_own_time() {
        assert_eq!(frame_durations(&[100, 14, 100]), [(0, 10), (1, 2), (2, 9)]);
    }

    #[test]
    fn a_last_frame_without_time_takes_it_from_the_one_in_front_or_is_left_out() {
        assert_eq!(frame_durations(&[100, 12]), [(0, 9), (1, 2)]);
        assert_eq!(frame_durations(&[12, 12]), [(0, 2)]);
        assert_eq!(frame_durations(&[12]), [(0, 2)]);
    }

    #[test]
    fn whatever_the_delays_no_frame_is_too_short_and_the_whole_keeps_its_duration() {
        for seed in 1..400_u32 {
            let mut state = seed;
            let delays: Vec<u32> = (0..seed % 37 + 1)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    11 + (state >> 20) % (1 + seed % 90)
                })
                .collect();
            let shown = frame_durations(&delays);
            assert!(shown.iter().all(|&(_, stays)| stays >= 2), "{delays:?}");
            let whole: u64 = shown.iter().map(|(_, stays)| stays * 10).sum();
            let own = u64::from(delays.iter().sum::<u32>());
            assert!(
                whole.abs_diff(own) <= 5 || own < 20,
                "{whole} of {delays:?}"
            );
        }
    }
}
