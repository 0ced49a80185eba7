//! Search for the level (for example an arrival rate) at which a share (for example of late requests) reaches the
//! largest allowed one.
//!
//! First, short trials bracket the level by doubling and halving. Long trials at and around the best estimate follow.
//! The share in a single trial says little: late requests come in clusters while a queue is long, so that a server's
//! 99th percentile over five seconds may be half or twice that over an hour, and the median of the percentiles of such
//! trials lies below it. Therefore the shares of all trials near the level are combined in a regression of their
//! logarithms on the logarithm of the level (quasi-Poisson, which estimates the scatter of the counts from the counts
//! themselves: Wedderburn 1974; McCullagh and Nelder 1989, chapter 9).
//!
//! Levels are compared by their logarithms, that is, as ratios.

use serde::Serialize;

/// A search in progress for the level (such as an arrival rate) at which the share of late requests reaches the largest
/// allowed one.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// The largest allowed share of late requests, e.g. 0.01.
    allowed: f64,
    /// Largest permitted half width of the interval for the level, as a logarithm: ln(1.05) for 5 %.
    precision: f64,
    /// Logarithm of the level (such as an arrival rate) to try next.
    next: f64,
    bracket: Bracket,
    near: Option<Near>,
    counts: Vec<At>,
}

/// Logarithms of the highest level at which a short trial had no more late requests than allowed, and of the lowest
/// level at which one had more.
#[derive(Clone, Copy, Debug, Default)]
struct Bracket {
    good: Option<f64>,
    bad: Option<f64>,
}

/// State of a search in its second phase, in which long trials run near the estimated level (such as an arrival rate).
#[derive(Clone, Debug)]
struct Near {
    /// Logarithm of the estimated level (such as an arrival rate).
    level: f64,
    /// Half width of the interval around the logarithm of the estimated level. Infinite if unknown.
    half: f64,
    /// For each long trial: the logarithm of its level, and its share of late requests.
    trials: Vec<(f64, f64)>,
}

/// The counts of requests in one part of a trial, with the logarithm of the trial's level (such as its arrival rate).
#[derive(Clone, Copy, Debug)]
struct At {
    level: f64,
    count: Count,
}

/// The number of requests in one part of a trial, and how many of them were late.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// The number of requests in this part of the trial.
    pub all: f64,
    /// Number of late requests in this part of the trial. Their share is compared with the allowed share.
    pub late: f64,
}

/// The result of a trial, which is a period of load at one level (such as an arrival rate).
#[derive(Clone, Debug, PartialEq)]
pub enum TrialOutcome {
    /// Counts for each part of the trial. Parts are long enough to be nearly independent of each other.
    Counts(Vec<Count>),
    /// The level of the trial (such as its arrival rate) is too high for another reason than the share of late
    /// requests, which then says nothing.
    TooHigh,
}

/// Length of a trial; the caller decides how many seconds a short one takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// A short trial, which is long enough to tell a level from twice that level.
    Short,
    /// [`LONG`] times as long as a short trial.
    Long,
}

/// How many times as long as a short trial a long one is, which is also its number of parts.
pub const LONG: usize = 8;

/// The result of a search: the estimated level, such as an arrival rate, with an interval that contains the true level
/// in about nine of ten searches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// The estimated level.
    pub level: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Level {
    /// Returns half of the interval's width as a share of the level.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        ((self.high / self.low).sqrt() - 1.0).max(0.0)
    }
}

impl Threshold {
    /// Begins a search at the positive level `start` for the level at which the share reaches `allowed`. The search is
    /// over when half of the interval is at most `precision` (e.g. 0.05) of the level.
    #[must_use]
    pub fn new(start: f64, allowed: f64, precision: f64) -> Self {
        Self {
            allowed: allowed.clamp(LEAST_SHARE, 1.0),
            precision: precision.ln_1p(),
            next: start.ln(),
            bracket: Bracket::default(),
            near: None,
            counts: Vec::new(),
        }
    }

    /// Returns the level (such as an arrival rate) to try next, and the length of that trial.
    #[must_use]
    pub fn next(&self) -> (f64, Length) {
        let length = match self.near {
            Some(_) => Length::Long,
            None => Length::Short,
        };
        (self.next.exp(), length)
    }

    /// Records the result of a trial at the level that `next` returned, and chooses the level after it.
    pub fn record(&mut self, outcome: &TrialOutcome) {
        let level = self.next;
        let share = match outcome {
            TrialOutcome::TooHigh => 1.0,
            TrialOutcome::Counts(counts) => {
                let counts = counts.iter().filter(|count| count.all > 0.0);
                let at = |count: &Count| At {
                    level,
                    count: *count,
                };
                self.counts.extend(counts.clone().map(at));
                let sum = counts.fold(Count::default(), |sum, count| Count {
                    all: sum.all + count.all,
                    late: sum.late + count.late,
                });
                sum.late / sum.all.max(1.0)
            }
        };
        match self.near.take() {
            Some(mut near) => {
                near.trials.push((level, share));
                self.refine(&mut near);
                let steps = [0.0, -STEP, STEP];
                self.next = near.level + steps[near.trials.len() % steps.len()];
                self.near = Some(near);
            }
            None => self.narrow(level, share <= self.allowed),
        }
    }

    /// Narrows the bracket by the result of a short trial and chooses the next level: twice or half the level while one
    /// end of the bracket is unknown, then the geometric mean of both ends. `level` is the logarithm of the trial's
    /// level, and `good` is whether the share of late requests was at most the allowed one.
    fn narrow(&mut self, level: f64, good: bool) {
        let Bracket { good: low, bad } = &mut self.bracket;
        match good {
            true => *low = Some(low.map_or(level, |other| other.max(level))),
            false => *bad = Some(bad.map_or(level, |other| other.min(level))),
        }
        self.next = match (*low, *bad) {
            // The two results contradict each other, so one of them was an outlier.
            (Some(lower), Some(upper)) if upper < lower => {
                *low = None;
                upper - std::f64::consts::LN_2
            }
            (Some(lower), Some(upper)) => {
                let middle = lower.midpoint(upper);
                if upper - lower < NARROW {
                    self.near = Some(Near {
                        level: middle,
                        half: f64::INFINITY,
                        trials: Vec::new(),
                    });
                }
                middle
            }
            (Some(lower), None) => lower + std::f64::consts::LN_2,
            (None, _) => level - std::f64::consts::LN_2,
        };
    }

    /// Improves the estimated level and its interval by combining all trials near it.
    fn refine(&self, near: &mut Near) {
        let shares = near.trials.iter();
        let (good, bad): (Vec<_>, Vec<_>) = shares.partition(|(_, share)| *share <= self.allowed);
        let highest_good = good.iter().map(|(level, _)| *level).reduce(f64::max);
        let lowest_bad = bad.iter().map(|(level, _)| *level).reduce(f64::min);
        near.half = f64::INFINITY;
        let (Some(highest_good), Some(lowest_bad)) = (highest_good, lowest_bad) else {
            near.level += if bad.is_empty() {
                2.0 * STEP
            } else {
                -2.0 * STEP
            };
            return;
        };
        let mut half = f64::INFINITY;
        if let Some((level, error)) = self.fit(near.level) {
            near.level = level.clamp(near.level - 2.0 * STEP, near.level + 2.0 * STEP);
            half = ERRORS * error;
        }
        if highest_good < lowest_bad {
            near.level = near.level.clamp(highest_good, lowest_bad);
            half = half.min((lowest_bad - highest_good) / 2.0 + STEP / 2.0);
        }
        near.half = half;
    }

    /// Fits the share of late requests to the level by a regression over the trials near `center` (a logarithm).
    /// Returns the logarithm of the level that has the allowed share, and its standard error. `None` if there are too
    /// few trials or the share hardly grows with the level.
    fn fit(&self, center: f64) -> Option<(f64, f64)> {
        let around = self
            .counts
            .iter()
            .filter(|at| (at.level - center).abs() < AROUND);
        let around: Vec<(f64, Count)> = around.map(|at| (at.level - center, at.count)).collect();
        if around.len() < FEWEST {
            return None;
        }
        // Newton's method fits ln(share) = a + b z.
        let (mut a, mut b) = (self.allowed.ln(), 10.0);
        let mean = |a: f64, b: f64, z: f64, all: f64| all * (a + b * z).min(0.0).exp();
        for _ in 0..STEPS {
            let mut sums = Information::default();
            for (z, count) in &around {
                sums.add(*z, mean(a, b, *z, count.all), count.late);
            }
            let (da, db) = sums.step()?;
            let shorter = (2.0 / (da.abs() + 0.3 * db.abs()).max(1e-9)).min(1.0);
            (a, b) = (a + shorter * da, b + shorter * db);
            if da.abs() + db.abs() < 1e-8 {
                break;
            }
        }
        if !(a.is_finite() && b > FLATTEST) {
            return None;
        }
        let mut sums = Information::default();
        let mut scatter = 0.0;
        for (z, count) in &around {
            let expected = mean(a, b, *z, count.all);
            sums.add(*z, expected, count.late);
            scatter += (count.late - expected).powi(2) / expected.max(0.3);
        }
        let scatter = (scatter / (around.len() - 2) as f64).max(1.0);
        let z = (self.allowed.ln() - a) / b;
        let [aa, ab, bb] = sums.inverse()?;
        let variance = scatter * (aa + 2.0 * z * ab + z * z * bb) / (b * b);
        Some((center + z, variance.max(0.0).sqrt()))
    }

    /// Returns the level (such as an arrival rate) at which the share of late requests reaches the allowed one, or
    /// `None` while no interval can be given for it.
    #[must_use]
    pub fn estimate(&self) -> Option<Level> {
        let near = self.near.as_ref()?;
        let least = LEAST * self.precision;
        let half = match self.is_sharp(near) {
            true => least,
            false => near.half.max(least),
        };
        half.is_finite().then(|| Level {
            level: near.level.exp(),
            low: (near.level - half).exp(),
            high: (near.level + half).exp(),
        })
    }

    /// Whether the level that is searched for (such as an arrival rate) is known to the requested precision.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.near.as_ref().is_some_and(|near| {
            let enough = (ENOUGH * (0.05_f64.ln_1p() / self.precision).powi(2)).max(4.0);
            let enough = near.trials.len() as f64 >= enough && near.half <= self.precision;
            enough || self.is_sharp(near)
        })
    }

    /// Whether the share of late requests jumps at the estimated level. This is so if, within the permitted interval,
    /// at least two long trials up to the estimate had less than a quarter of the allowed share, and at least two from
    /// the estimate on had more than four times the allowed share.
    fn is_sharp(&self, near: &Near) -> bool {
        let within = self.precision;
        let clear_trials = |condition: fn(f64, f64, f64) -> bool| {
            let trials = near.trials.iter();
            let clear_trials =
                trials.filter(|(level, share)| condition(level - near.level, *share, self.allowed));
            clear_trials
                .filter(|(level, _)| (level - near.level).abs() < within)
                .count()
                >= 2
        };
        clear_trials(|from, share, allowed| from <= 0.005 && share < allowed / 4.0)
            && clear_trials(|from, share, allowed| from >= -0.005 && share > 4.0 * allowed)
    }
}

/// Sums for one Newton step of a Poisson regression with a logarithmic link.
#[derive(Default)]
struct Information {
    gradient: [f64; 2],
    aa: f64,
    ab: f64,
    bb: f64,
}

impl Information {
    fn add(&mut self, z: f64, expected: f64, late: f64) {
        self.gradient[0] += late - expected;
        self.gradient[1] += (late - expected) * z;
        self.aa += expected;
        self.ab += expected * z;
        self.bb += expected * z * z;
    }

    /// Returns the inverse of the information matrix as its three distinct elements, or `None` if all levels are the
    /// same.
    fn inverse(&self) -> Option<[f64; 3]> {
        let determinant = self.aa * self.bb - self.ab * self.ab;
        (determinant > 1e-12)
            .then(|| [self.bb, -self.ab, self.aa].map(|element| element / determinant))
    }

    fn step(&self) -> Option<(f64, f64)> {
        let [aa, ab, bb] = self.inverse()?;
        let [a, b] = self.gradient;
        Some((aa * a + ab * b, ab * a + bb * b))
    }
}

/// Smallest share of late requests that a search may allow. A share of zero has no logarithm.
const LEAST_SHARE: f64 = 1e-4;
/// Long trials begin when the logarithms of the levels that bracket the solution differ by less than this.
const NARROW: f64 = 0.2;
/// Long trials run in turn at the estimated level, below it and above it. This is the distance, as a difference of
/// logarithms.
const STEP: f64 = 0.04;
/// The regression uses trials whose level differs from the estimate by less than this, as a difference of logarithms.
/// Over a wider range, the logarithm of the share is not linear.
const AROUND: f64 = 0.12;
/// Minimum number of trial parts for a regression. Fewer say nothing about their scatter.
const FEWEST: usize = 6;
/// Maximum number of steps of Newton's method.
const STEPS: usize = 60;
/// Smallest accepted exponent of the share as a power of the level. A share that grows more slowly has no useful
/// threshold.
const FLATTEST: f64 = 0.5;
/// Half width of the interval around the estimated level, in standard errors.
const ERRORS: f64 = 2.0;
/// Smallest half width of the reported interval, as a part of the permitted one. Intervals that are narrower by chance
/// often miss the true level.
const LEAST: f64 = 0.96;
/// A search for a precision of 5 % runs at least this many long trials, unless the share jumps at the level. For other
/// precisions, the number grows with the inverse square of the precision. If the search ended as soon as the interval
/// happened to be narrow, two of three intervals would miss the true level.
const ENOUGH: f64 = 12.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    /// A simulated server whose behaviour is known exactly.
    #[derive(Clone, Copy, Debug)]
    enum Server {
        /// One worker with exponential service times, which serves this many requests per second on average.
        Mm1(f64),
        /// One worker with nearly equal service times, which serves this many requests per second.
        Busy(f64),
        /// A token bucket that is refilled with the first number of tokens per second and holds at most the second
        /// number. Requests that find no token wait.
        Bucket(f64, f64),
    }

    impl Server {
        /// Simulates a queue without a clock: returns arrival time and latency in seconds of requests that arrive at
        /// random, `rate` per second.
        fn serve(self, rate: f64, seconds: f64, random: &mut Random) -> Vec<(f64, f64)> {
            let (mut now, mut free, mut last) = (0.0, 0.0_f64, 0.0);
            let mut tokens = if let Self::Bucket(_, most) = self {
                most
            } else {
                0.0
            };
            let mut seen = Vec::new();
            loop {
                now += random.exponential() / rate;
                if now > seconds {
                    return seen;
                }
                let latency = match self {
                    Self::Mm1(served) => {
                        free = free.max(now) + random.exponential() / served;
                        free - now
                    }
                    Self::Busy(served) => {
                        free = free.max(now) + (1.0 + 0.05 * (random.unit() - 0.5)) / served;
                        free - now
                    }
                    Self::Bucket(refill, most) => {
                        tokens = f64::min(tokens + (now - last) * refill, most) - 1.0;
                        last = now;
                        0.001 + (-tokens / refill).max(0.0)
                    }
                };
                seen.push((now, latency));
            }
        }

        /// Returns the long-run share of requests that take longer than `target` seconds at this rate.
        fn late(self, rate: f64, target: f64) -> f64 {
            let seen = self.serve(rate, 200_000.0 / rate, &mut Random::new(9));
            seen.iter().filter(|(_, latency)| *latency > target).count() as f64 / seen.len() as f64
        }

        /// Returns the rate at which one request in a hundred takes longer than `target` seconds.
        fn truth(self, target: f64) -> f64 {
            if let Self::Mm1(served) = self {
                return served - 100_f64.ln() / target;
            }
            let (mut low, mut high) = (5.0, 150.0);
            for _ in 0..20 {
                let middle = f64::midpoint(low, high);
                match self.late(middle, target) <= 0.01 {
                    true => low = middle,
                    false => high = middle,
                }
            }
            low
        }
    }

    fn search(server: Server, target: f64, random: &mut Random) -> Option<Level> {
        let mut search = Threshold::new(10.0, 0.01, 0.05);
        for _ in 0..40 {
            let (rate, length) = search.next();
            let parts = if length == Length::Long { LONG } else { 1 };
            let (warmup, part) = (1.0_f64.max(5.0 * target), 5.0_f64.max(20.0 * target));
            let seen = server.serve(rate, warmup + part * parts as f64, random);
            let count = |index: usize| {
                let from = warmup + index as f64 * part;
                let inside = seen
                    .iter()
                    .filter(|(at, _)| (from..from + part).contains(at));
                Count {
                    all: inside.clone().count() as f64,
                    late: inside.filter(|(_, latency)| *latency > target).count() as f64,
                }
            };
            search.record(&TrialOutcome::Counts((0..parts).map(count).collect()));
            if search.is_known() {
                return search.estimate();
            }
        }
        None
    }

    #[test]
    fn the_truth_about_queues_and_buckets_lies_in_the_interval() {
        for (server, target) in [
            (Server::Mm1(100.0), 0.2),
            (Server::Mm1(200.0), 0.05),
            (Server::Mm1(800.0), 0.02),
            (Server::Busy(100.0), 0.2),
            (Server::Bucket(100.0, 1.0), 0.2),
            (Server::Bucket(100.0, 10.0), 1.0),
        ] {
            let truth = server.truth(target);
            let mut random = Random::new(7);
            let (mut held, mut known) = (0, 0);
            for _ in 0..40 {
                if let Some(found) = search(server, target, &mut random) {
                    known += 1;
                    held += u32::from(found.low <= truth && truth <= found.high);
                    assert!(found.high - found.low <= 0.1 * found.level, "{found:?}");
                }
            }
            assert!(known >= 34, "{server:?}: {known} of 40 known");
            assert!(
                held * 10 >= known * 8,
                "{server:?} {truth}: {held} of {known}"
            );
        }
    }

    /// Result of a trial of a server with a sharp threshold: below level 100 one request in a thousand is late, from
    /// there on all are.
    fn sharp(level: f64) -> TrialOutcome {
        let late = if level < 100.0 { 1.0 } else { 1000.0 };
        TrialOutcome::Counts(vec![Count { all: 1000.0, late }; 8])
    }

    #[test]
    fn it_doubles_until_a_trial_is_bad_and_halves_the_gap_then() {
        let mut search = Threshold::new(10.0, 0.01, 0.05);
        let mut tried = Vec::new();
        while search.next().1 == Length::Short {
            let level = search.next().0;
            tried.push(level.round());
            search.record(&sharp(level));
        }
        assert_eq!(tried, [10.0, 20.0, 40.0, 80.0, 160.0, 113.0, 95.0]);
    }

    #[test]
    fn it_halves_where_the_first_trial_is_bad() {
        let mut search = Threshold::new(1000.0, 0.01, 0.05);
        search.record(&TrialOutcome::TooHigh);
        assert!((search.next().0 - 500.0).abs() < 1e-9);
    }

    #[test]
    fn a_sharp_threshold_takes_few_trials() {
        let mut search = Threshold::new(1.0, 0.01, 0.05);
        let mut trials = 0;
        while !search.is_known() {
            let level = search.next().0;
            search.record(&sharp(level));
            trials += 1;
        }
        let found = search.estimate().expect("a level");
        assert!(found.low < 100.0 && 100.0 < found.high, "{found:?}");
        assert!(
            found.half_width() <= 0.05 && trials < 24,
            "{trials} {found:?}"
        );
    }

    #[test]
    fn a_bracket_found_by_accident_is_given_up() {
        let mut search = Threshold::new(10.0, 0.01, 0.05);
        for trial in 0..60 {
            let level = search.next().0;
            // The second trial fails for another reason than late requests.
            let seen = if trial == 1 {
                TrialOutcome::TooHigh
            } else {
                sharp(level)
            };
            search.record(&seen);
        }
        let found = search.estimate().expect("a level");
        assert!(found.low < 100.0 && 100.0 < found.high, "{found:?}");
    }
}
