//! The up-and-down method: the level at which half of the trials succeed.
//!
//! The next trial is one step higher after a success and one step lower after a failure, so that trials gather around
//! that level (Dixon and Mood 1948). It is estimated by the middles of every second run between two turns, which are nearly
//! independent (Wetherill and Levitt 1965). Steps are ratios, so levels are compared by their logarithms.
//!
//! Before the first step, doubling and halving find the two levels between which it lies.

use serde::Serialize;

use super::t_quantile;

/// A search in progress.
#[derive(Clone, Debug)]
pub struct UpDown {
    /// Logarithm of the ratio of neighbouring levels.
    step: f64,
    /// Logarithm of the level to try next.
    next: f64,
    /// Logarithms of the highest level known to succeed, and of the lowest known to fail.
    succeeds: Option<f64>,
    fails: Option<f64>,
    stairs: Option<Stairs>,
}

/// What was seen since the level is known to a few steps.
#[derive(Clone, Debug)]
struct Stairs {
    last: bool,
    /// Trials since the last turn, it included.
    run: u32,
    /// Logarithms of the levels at which successes turned to failures, or failures to successes.
    turns: Vec<f64>,
}

/// A level with an interval that holds it in more than nine of ten searches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Half of the trials at this level succeed.
    pub level: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Level {
    /// Half of the interval's length, as a share of the level.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        ((self.high / self.low).sqrt() - 1.0).max(0.0)
    }
}

/// So many trials in a row that end alike say that the level has moved, or was bracketed by accident.
const ASTRAY: u32 = 6;

/// Runs that an interval needs.
const RUNS: usize = 4;

/// Runs are not wholly independent, and the search ends when the interval happens to be short: in simulations so many times
/// the length is what holds the level in more than nine of ten searches.
const DEPENDENT: f64 = 1.5;

impl UpDown {
    /// Begins at the level `start`; neighbouring levels have the ratio `step`, e.g. 1.05. Both must be positive, and
    /// `step` more than 1.
    #[must_use]
    pub fn new(start: f64, step: f64) -> Self {
        Self {
            step: step.ln(),
            next: start.ln(),
            succeeds: None,
            fails: None,
            stairs: None,
        }
    }

    /// The level to try next.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.next.exp()
    }

    /// Is the level not yet known to a few steps?
    #[must_use]
    pub fn searching(&self) -> bool {
        self.stairs.is_none()
    }

    /// Takes the result of a trial at [`UpDown::level`].
    pub fn tell(&mut self, success: bool) {
        let tried = self.next;
        match &mut self.stairs {
            Some(stairs) => {
                if stairs.last == success {
                    stairs.run += 1;
                } else {
                    stairs.turns.push(tried);
                    stairs.run = 1;
                }
                stairs.last = success;
                if stairs.run >= ASTRAY {
                    self.stairs = None;
                    (self.succeeds, self.fails) = (None, None);
                    self.bracket(tried, success);
                } else {
                    self.next += if success { self.step } else { -self.step };
                }
            }
            None => self.bracket(tried, success),
        }
    }

    /// Doubles, halves, and then goes to the middle, until the two known levels are two steps apart.
    fn bracket(&mut self, tried: f64, success: bool) {
        if success {
            self.succeeds = Some(tried);
        } else {
            self.fails = Some(tried);
        }
        self.next = match (self.succeeds, self.fails) {
            (Some(low), Some(high)) => {
                if high - low <= 2.0 * self.step {
                    self.stairs = Some(Stairs {
                        last: success,
                        run: 1,
                        turns: Vec::new(),
                    });
                }
                (low + high) / 2.0
            }
            (Some(low), None) => low + std::f64::consts::LN_2,
            (None, _) => tried - std::f64::consts::LN_2,
        };
    }

    /// The level as far as it is known; `None` until there are four runs to take it from.
    #[must_use]
    pub fn estimate(&self) -> Option<Level> {
        let turns = &self.stairs.as_ref()?.turns;
        let middles: Vec<f64> = turns
            .chunks_exact(2)
            .map(|it| (it[0] + it[1]) / 2.0)
            .collect();
        let count = middles.len();
        if count < RUNS {
            return None;
        }
        let mean = middles.iter().sum::<f64>() / count as f64;
        let squares: f64 = middles.iter().map(|it| (it - mean).powi(2)).sum();
        let error = (squares / (count - 1) as f64 / count as f64).sqrt();
        // Levels are a step apart: nothing is known to less than one.
        let half = (DEPENDENT * t_quantile(0.975, count - 1) * error).max(self.step);
        Some(Level {
            level: mean.exp(),
            low: (mean - half).exp(),
            high: (mean + half).exp(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    /// A trial at a level succeeds with this probability: half at `truth`, over a few steps from nearly always to hardly
    /// ever.
    fn succeeds(level: f64, truth: f64, random: &mut Random) -> bool {
        let steepness = 20.0;
        random.unit() < 1.0 / (1.0 + (level / truth).powf(steepness))
    }

    fn search(truth: f64, start: f64, trials: u32, random: &mut Random) -> UpDown {
        let mut search = UpDown::new(start, 1.04);
        for _ in 0..trials {
            let success = succeeds(search.level(), truth, random);
            search.tell(success);
            // As the search for a capacity does.
            if search
                .estimate()
                .is_some_and(|found| found.half_width() <= 0.05)
            {
                break;
            }
        }
        search
    }

    #[test]
    fn it_doubles_until_a_trial_fails_and_halves_the_gap_then() {
        let mut search = UpDown::new(10.0, 1.05);
        let mut tried = Vec::new();
        while search.searching() {
            tried.push(search.level().round());
            let success = search.level() < 100.0;
            search.tell(success);
        }
        assert_eq!(tried[..5], [10.0, 20.0, 40.0, 80.0, 160.0]);
        assert!(
            (search.level() / 100.0).ln().abs() < 0.1,
            "{}",
            search.level()
        );
    }

    #[test]
    fn it_halves_where_the_first_trial_fails() {
        let mut search = UpDown::new(100.0, 1.05);
        let mut least = f64::MAX;
        while search.searching() {
            least = least.min(search.level());
            let success = search.level() < 3.0;
            search.tell(success);
        }
        assert!(least < 3.0, "{least}");
    }

    #[test]
    fn steps_gather_around_a_sharp_threshold() {
        let mut search = UpDown::new(1.0, 1.05);
        for _ in 0..40 {
            let success = search.level() < 212.0;
            search.tell(success);
        }
        let found = search.estimate().expect("enough turns");
        assert!(found.low < 212.0 && 212.0 < found.high, "{found:?}");
        assert!(found.half_width() < 0.06, "{found:?}");
    }

    #[test]
    fn the_interval_holds_the_truth_in_nine_of_ten_searches_or_more() {
        let mut random = Random::new(7);
        let (mut held, mut known) = (0, 0);
        for _ in 0..1000 {
            let truth = 50.0 * (1.0 + 9.0 * random.unit());
            if let Some(found) = search(truth, 10.0, 40, &mut random).estimate() {
                known += 1;
                held += u32::from(found.low <= truth && truth <= found.high);
            }
        }
        assert!(known > 950, "{known}");
        assert!(
            f64::from(held) > 0.9 * f64::from(known),
            "{held} of {known}"
        );
    }

    #[test]
    fn a_bracket_found_by_accident_is_given_up() {
        let mut search = UpDown::new(10.0, 1.05);
        // The second trial fails for a reason of its own.
        for trial in 0..60 {
            let success = trial != 1 && search.level() < 400.0;
            search.tell(success);
        }
        let found = search.estimate().expect("enough turns");
        assert!(found.low < 400.0 && 400.0 < found.high, "{found:?}");
    }
}
