//! The level at which a share becomes too large: as the rate of arrivals at which one request in a hundred is late.
//!
//! Doubling and halving find two levels between which it lies, by short trials. Long trials at and around the best
//! estimate follow. The share in a single trial says little: late requests come together, while a queue is long, so that a
//! server's 99th percentile in five seconds may be half or twice what it is in an hour, and the median of such trials lies
//! below it. So the shares of all trials near the level are taken together, in a regression of their logarithms on the
//! level's (quasi-Poisson, which takes the scatter of the counts from themselves: Wedderburn 1974; McCullagh and Nelder
//! 1989, chapter 9).
//!
//! Levels are compared by their logarithms, as ratios.

use serde::Serialize;

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// The largest share that is not too large.
    allowed: f64,
    /// Logarithm of the greatest ratio of the interval's ends to the level.
    precision: f64,
    /// Logarithm of the level to try next.
    next: f64,
    bracket: Bracket,
    near: Option<Near>,
    counts: Vec<At>,
}

/// Logarithms of the highest level known to be good, and of the lowest known to be too high.
#[derive(Clone, Copy, Debug, Default)]
struct Bracket {
    good: Option<f64>,
    bad: Option<f64>,
}

/// The long trials.
#[derive(Clone, Debug)]
struct Near {
    /// Logarithm of the best estimate.
    level: f64,
    /// Half of the interval; infinite where it is not known.
    half: f64,
    /// Logarithms of the levels, and shares.
    tried: Vec<(f64, f64)>,
}

/// Counts at a level's logarithm.
#[derive(Clone, Copy, Debug)]
struct At {
    level: f64,
    count: Count,
}

/// How many there were in a part of a trial, and how many were too many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// The number of requests in the part.
    pub all: f64,
    /// Those whose share is what it is about.
    pub late: f64,
}

/// What a trial showed.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// Counts of its parts, each long enough to have little to do with the next.
    Counts(Vec<Count>),
    /// The level is too high for another reason, so that the share says nothing.
    TooHigh,
}

/// How long the next trial has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Long enough to tell twice the level.
    Short,
    /// [`LONG`] times as long.
    Long,
}

/// How many times as long as a short trial a long one is, and of how many parts.
pub const LONG: usize = 8;

/// A level with an interval that holds it in about nine of ten searches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// The level.
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

impl Threshold {
    /// Begins at the level `start`, which is positive. The search is over when half of the interval is at most `precision` of
    /// the level, e.g. 0.05.
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

    /// The level to try next, and for how long.
    #[must_use]
    pub fn next(&self) -> (f64, Length) {
        let length = match self.near {
            Some(_) => Length::Long,
            None => Length::Short,
        };
        (self.next.exp(), length)
    }

    /// Takes the result of a trial at that level.
    pub fn tell(&mut self, seen: &Seen) {
        let level = self.next;
        let share = match seen {
            Seen::TooHigh => 1.0,
            Seen::Counts(counts) => {
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
                near.tried.push((level, share));
                self.refine(&mut near);
                let steps = [0.0, -STEP, STEP];
                self.next = near.level + steps[near.tried.len() % steps.len()];
                self.near = Some(near);
            }
            None => self.narrow(level, share <= self.allowed),
        }
    }

    /// Doubles, halves, and then goes to the middle.
    fn narrow(&mut self, level: f64, good: bool) {
        let Bracket { good: low, bad } = &mut self.bracket;
        match good {
            true => *low = Some(low.map_or(level, |known| known.max(level))),
            false => *bad = Some(bad.map_or(level, |known| known.min(level))),
        }
        self.next = match (*low, *bad) {
            // One of the two was an accident.
            (Some(known), Some(high)) if high < known => {
                *low = None;
                high - std::f64::consts::LN_2
            }
            (Some(known), Some(high)) => {
                let middle = known.midpoint(high);
                if high - known < NARROW {
                    self.near = Some(Near {
                        level: middle,
                        half: f64::INFINITY,
                        tried: Vec::new(),
                    });
                }
                middle
            }
            (Some(known), None) => known + std::f64::consts::LN_2,
            (None, _) => level - std::f64::consts::LN_2,
        };
    }

    /// Takes all trials near the estimate together for a better one.
    fn refine(&self, near: &mut Near) {
        let shares = near.tried.iter();
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

    /// The level with the allowed share by the trials around `center`, and its standard error.
    fn fit(&self, center: f64) -> Option<(f64, f64)> {
        let around = self
            .counts
            .iter()
            .filter(|at| (at.level - center).abs() < AROUND);
        let around: Vec<(f64, Count)> = around.map(|at| (at.level - center, at.count)).collect();
        if around.len() < FEWEST {
            return None;
        }
        // ln(share) = a + b z, by Newton's method.
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

    /// The level as far as it is known; `None` before the first long trials.
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

    /// Is it known to the precision?
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.near.as_ref().is_some_and(|near| {
            let enough = (ENOUGH * (0.05_f64.ln_1p() / self.precision).powi(2)).max(4.0);
            let enough = near.tried.len() as f64 >= enough && near.half <= self.precision;
            enough || self.is_sharp(near)
        })
    }

    /// Are levels just below good and levels just above bad beyond doubt, twice each?
    fn is_sharp(&self, near: &Near) -> bool {
        let within = self.precision;
        let told = |wanted: fn(f64, f64, f64) -> bool| {
            let tried = near.tried.iter();
            let told =
                tried.filter(|(level, share)| wanted(level - near.level, *share, self.allowed));
            told.filter(|(level, _)| (level - near.level).abs() < within)
                .count()
                >= 2
        };
        told(|from, share, allowed| from <= 0.005 && share < allowed / 4.0)
            && told(|from, share, allowed| from >= -0.005 && share > 4.0 * allowed)
    }
}

/// Sums of a Poisson regression with a logarithmic link.
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

    /// The inverse, as its three different elements; nothing where all levels are the same.
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

/// A share of nothing has no logarithm.
const LEAST_SHARE: f64 = 1e-4;
/// The bracket is narrow enough for long trials.
const NARROW: f64 = 0.2;
/// How far from the estimate long trials are, two of three of them.
const STEP: f64 = 0.04;
/// How far from the estimate trials count: over more, the logarithm of the share is no line.
const AROUND: f64 = 0.12;
/// Fewer parts of trials tell nothing about their scatter.
const FEWEST: usize = 6;
/// Most steps of Newton's method.
const STEPS: usize = 60;
/// A share that grows more slowly than this power of the level has no threshold.
const FLATTEST: f64 = 0.5;
/// Half of the interval in standard errors.
const ERRORS: f64 = 2.0;
/// The interval is at least this share of what the precision permits: narrower ones, by chance, do not hold the level.
const LEAST: f64 = 0.96;
/// So many long trials, for a precision of 5 %, before the scatter is believed: ended as soon as the interval happens to be
/// short, two of three searches do not hold the level.
const ENOUGH: f64 = 12.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    /// A server of which all is known.
    #[derive(Clone, Copy, Debug)]
    enum Server {
        /// One worker, exponential service times: so many per second.
        Mm1(f64),
        /// One worker, nearly equal service times.
        Busy(f64),
        /// A token bucket of so many per second, in which so many gather; who finds none waits.
        Bucket(f64, f64),
    }

    impl Server {
        /// Latencies by arrival, of requests at this rate: a queue in numbers, without a clock.
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

        /// The share of late requests at this rate in the long run.
        fn late(self, rate: f64, target: f64) -> f64 {
            let seen = self.serve(rate, 200_000.0 / rate, &mut Random::new(9));
            seen.iter().filter(|(_, latency)| *latency > target).count() as f64 / seen.len() as f64
        }

        /// The rate at which that share is one in a hundred.
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
            search.tell(&Seen::Counts((0..parts).map(count).collect()));
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

    /// At a level below 100, one in a thousand; above, all.
    fn sharp(level: f64) -> Seen {
        let late = if level < 100.0 { 1.0 } else { 1000.0 };
        Seen::Counts(vec![Count { all: 1000.0, late }; 8])
    }

    #[test]
    fn it_doubles_until_a_trial_is_bad_and_halves_the_gap_then() {
        let mut search = Threshold::new(10.0, 0.01, 0.05);
        let mut tried = Vec::new();
        while search.next().1 == Length::Short {
            let level = search.next().0;
            tried.push(level.round());
            search.tell(&sharp(level));
        }
        assert_eq!(tried, [10.0, 20.0, 40.0, 80.0, 160.0, 113.0, 95.0]);
    }

    #[test]
    fn it_halves_where_the_first_trial_is_bad() {
        let mut search = Threshold::new(1000.0, 0.01, 0.05);
        search.tell(&Seen::TooHigh);
        assert!((search.next().0 - 500.0).abs() < 1e-9);
    }

    #[test]
    fn a_sharp_threshold_takes_few_trials() {
        let mut search = Threshold::new(1.0, 0.01, 0.05);
        let mut trials = 0;
        while !search.is_known() {
            let level = search.next().0;
            search.tell(&sharp(level));
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
            // The second trial is bad for a reason of its own.
            let seen = if trial == 1 {
                Seen::TooHigh
            } else {
                sharp(level)
            };
            search.tell(&seen);
        }
        let found = search.estimate().expect("a level");
        assert!(found.low < 100.0 && 100.0 < found.high, "{found:?}");
    }
}
