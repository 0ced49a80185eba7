//! Delays in a format whose players take a short one for a long one.

use andon_pixels::Delay;

/// Places frames on a clock of so many ticks per second such that each stays for a least number of them. Frames come as
/// close to their own time as that allows; one that would be over before the one in front of it has had its time is left
/// out. The whole keeps its duration.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: u32,
    least: u64,
    /// When the next frame begins in the source.
    seconds: f64,
    /// When the last frame that is shown begins, in ticks.
    begins: u64,
    /// How long the frame in front of it stays, if there is one: at least the least.
    before: Option<u64>,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It is shown, and the frame in front of it, if there is one, stays for so many ticks.
    Shown {
        /// Of the frame in front.
        before: Option<u64>,
    },
    /// There is no time for it.
    LeftOut,
}

/// How the last frames end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// How long the last frame stays; `None`: there is no time for it.
    pub(crate) last: Option<u64>,
    /// How long the frame in front of it stays, which may be longer or shorter than was said.
    pub(crate) before: Option<u64>,
}

impl Pace {
    /// Ticks of a given rate per second, of which each frame gets `least` or more.
    pub(crate) fn new(per_second: u32, least: u64) -> Self {
        Self {
            per_second,
            least,
            seconds: 0.0,
            begins: 0,
            before: None,
        }
    }

    /// The turn of the next frame.
    pub(crate) fn turn(&mut self, delay: Delay) -> Turn {
        let first = self.seconds == 0.0;
        let own = self.now();
        self.seconds += delay.seconds();
        if first {
            return Turn::Shown { before: None };
        }
        let earliest = self.begins + self.least;
        if own < earliest && self.now() <= earliest {
            return Turn::LeftOut;
        }
        let begins = own.max(earliest);
        let before = Some(begins - self.begins);
        (self.begins, self.before) = (begins, before);
        Turn::Shown { before }
    }

    /// What is left for the last frame, and for the one in front of it.
    pub(crate) fn end(&self) -> End {
        let left = self.now().saturating_sub(self.begins);
        let (last, before) = match self.before {
            _ if left >= self.least => (Some(left), self.before),
            None => (Some(self.least), None),
            Some(before) if before + left >= 2 * self.least => {
                (Some(self.least), Some(before + left - self.least))
            }
            Some(before) => (None, Some(before + left)),
        };
        End { last, before }
    }

    fn now(&self) -> u64 {
        (self.seconds * f64::from(self.per_second)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a GIF says of frames with these delays in milliseconds: which of them, and for how many hundredths.
    fn paced(delays: &[u32]) -> Vec<(usize, u64)> {
        let mut pace = Pace::new(100, 2);
        let mut shown: Vec<(usize, u64)> = Vec::new();
        for (number, &ticks) in delays.iter().enumerate() {
            let turn = pace.turn(Delay {
                ticks,
                per_second: 1000,
            });
            if let Turn::Shown { before } = turn {
                if let (Some(last), Some(before)) = (shown.last_mut(), before) {
                    last.1 = before;
                }
                shown.push((number, 0));
            }
        }
        let end = pace.end();
        let last = shown.pop().expect("a frame");
        if let (Some(front), Some(before)) = (shown.last_mut(), end.before) {
            front.1 = before;
        }
        shown.extend(end.last.map(|stays| (last.0, stays)));
        shown
    }

    #[test]
    fn frames_that_stay_long_enough_are_all_shown_to_the_hundredth() {
        assert_eq!(
            paced(&[20, 33, 33, 34, 100]),
            [(0, 2), (1, 3), (2, 4), (3, 3), (4, 10)]
        );
    }

    #[test]
    fn sixty_frames_a_second_become_fifty() {
        let shown = paced(&[17, 16, 17, 17, 16, 17, 17, 16, 17, 17, 16, 17]);
        assert!(shown.iter().all(|&(_, stays)| stays == 2), "{shown:?}");
        assert_eq!(shown.len(), 10);
    }

    #[test]
    fn a_short_frame_between_long_ones_moves_them_by_less_than_its_own_time() {
        assert_eq!(paced(&[100, 14, 100]), [(0, 10), (1, 2), (2, 9)]);
    }

    #[test]
    fn a_last_frame_without_time_takes_it_from_the_one_in_front_or_is_left_out() {
        assert_eq!(paced(&[100, 12]), [(0, 9), (1, 2)]);
        assert_eq!(paced(&[12, 12]), [(0, 2)]);
        assert_eq!(paced(&[12]), [(0, 2)]);
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
            let shown = paced(&delays);
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
