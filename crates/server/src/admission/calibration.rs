//! Calibration of planned costs: learns from the measured times of finished work how long planned work takes on this
//! machine.

use std::collections::HashMap;
use std::time::Duration;

use super::work::{Price, Work};

pub use super::work::Kind;

/// The learned ratios of measured to planned times.
#[derive(Debug, Default)]
pub struct Calibration {
    kinds: HashMap<Kind, KindStatistics>,
    /// Ratio of measured to planned time, over work of all kinds.
    all: RunningMean,
    /// Ratio of the measured time per byte of the source file to the first guess, `NANOS_PER_BYTE`.
    per_byte: RunningMean,
}

impl Calibration {
    /// Returns how long work that is planned to take `nanos` will take on this machine.
    pub fn time(&self, kind: Kind, nanos: u64) -> Duration {
        let nanos = nanos.max(LEAST_NANOS) as f64;
        nanoseconds(match self.kinds.get(&kind) {
            Some(statistics) => statistics.time(nanos),
            // A kind without measurements is assumed to deviate from its plans as all other work does.
            None => nanos * self.all.factor(),
        })
    }

    /// Returns the predicted time and memory of a piece of work on this machine.
    pub(super) fn price(&self, work: &Work) -> Price {
        let time = self.time(work.kind, work.nanos);
        // Decoding takes the same fraction of the time as in the plan.
        let share = work.decode_nanos as f64 / work.nanos.max(1) as f64;
        Price {
            time,
            decode: time.mul_f64(share.min(1.0)),
            bytes: work.peak_bytes,
        }
    }

    /// Estimates how long work on a file of `bytes` bytes will take, before anything else is known about the file.
    pub fn guess(&self, bytes: u64) -> Duration {
        nanoseconds(bytes.max(LEAST_BYTES) as f64 * NANOS_PER_BYTE * self.per_byte.factor())
    }

    /// Records that work of this kind, planned to take `nanos` nanoseconds on a file of `bytes` bytes, took `measured`.
    pub fn learn(&mut self, kind: Kind, nanos: u64, bytes: u64, measured: Duration) {
        let measured = measured.as_nanos().max(1) as f64;
        let planned = nanos.max(LEAST_NANOS) as f64;
        let ratio = measured / planned;
        let statistics = self.kinds.entry(kind).or_default();
        statistics.ratio.add(ratio);
        statistics.mean_plan.add(planned / A_MILLISECOND);
        self.all.add(ratio);
        self.per_byte
            .add(measured / (bytes.max(LEAST_BYTES) as f64 * NANOS_PER_BYTE));
    }
}

/// The learned statistics of work of one kind.
#[derive(Debug, Default)]
struct KindStatistics {
    /// Ratio of measured to planned time.
    ratio: RunningMean,
    /// Running mean of the planned times of the work that `ratio` was learned from, in milliseconds.
    mean_plan: RunningMean,
}

impl KindStatistics {
    /// Returns the predicted time, in nanoseconds, of work that is planned to take `nanos`. The learned ratio applies
    /// in full to the first part of a plan: up to `NEAR` times the size of the plans from which it was learned. Beyond
    /// that, a ratio above [`TRUSTED`] is reduced to it, because what was learned from small drawings with expensive
    /// parts says nothing about much larger ones: the prediction for a drawing of a megabyte would be a minute.
    fn time(&self, nanos: f64) -> f64 {
        let ratio = self.ratio.factor();
        let near = nanos.min(self.mean_plan.factor() * A_MILLISECOND * NEAR);
        near * ratio + (nanos - near) * ratio.min(TRUSTED)
    }
}

/// A geometric running mean of ratios or times, on which a single outlier has little influence. Because it averages
/// logarithms, twice and half the mean have the same weight.
#[derive(Clone, Copy, Debug, Default)]
struct RunningMean {
    log: f64,
    count: u32,
}

impl RunningMean {
    fn factor(self) -> f64 {
        self.log.exp()
    }

    fn add(&mut self, ratio: f64) {
        self.count = self.count.saturating_add(1);
        let weight = (1.0 / f64::from(self.count)).max(LEAST_WEIGHT);
        let step = ratio.ln() - self.log;
        // The very first measurements may be far from the constants. Later ones that are far off are noise.
        let step = match self.count {
            0..=SETTLING => step,
            _ => step.clamp(-WILD, WILD),
        };
        self.log = (self.log + weight * step).clamp(-FARTHEST, FARTHEST);
    }
}

fn nanoseconds(nanos: f64) -> Duration {
    Duration::from_nanos(nanos as u64).min(LONGEST)
}

/// The largest factor by which the plan of sizeable work may differ from its measured time. `./dev bench plans`
/// enforces it.
const TRUSTED: f64 = 8.0;

const A_MILLISECOND: f64 = 1e6;

/// A learned ratio applies in full only up to this many times the size of the plans from which it was learned.
const NEAR: f64 = 4.0;

/// The longest time that is ever predicted: longer than any deadline, and short enough that many of them can be added.
const LONGEST: Duration = Duration::from_secs(3600);

/// The least planned time that counts, in ns, because waking a thread and copying a file take time, too.
const LEAST_NANOS: u64 = 50_000;

/// The least file size that counts, in bytes. Icons take long for their few bytes. If their true sizes counted, a photo
/// after a thousand icons would be predicted to take a minute, and all requests that arrive with it would be rejected.
const LEAST_BYTES: u64 = 64 << 10;

/// Nanoseconds of work per byte of a source file, as a first guess: a photo of 4 MB takes 40 ms.
const NANOS_PER_BYTE: f64 = 10.0;

/// The least weight of one measurement in the running mean, so that about the last twenty measurements count.
const LEAST_WEIGHT: f64 = 0.05;

/// Number of first measurements whose effect on the running mean is not limited, however far off they are.
const SETTLING: u32 = 3;

/// Natural logarithm of the largest factor by which a single measurement may differ from the running mean. A larger
/// factor is reduced to this one.
const WILD: f64 = 1.1;

/// Natural logarithm of the largest correction factor that can be learned: about 400.
const FARTHEST: f64 = 6.0;

#[cfg(test)]
mod tests {
    use super::*;

    const JPEG: Kind = ("jpeg", "jpeg");
    const PNG: Kind = ("png", "jpeg");

    fn millis(time: Duration) -> f64 {
        time.as_secs_f64() * 1e3
    }

    #[test]
    fn a_constant_that_is_seven_times_too_low_is_made_good() {
        let mut calibration = Calibration::default();
        assert!((millis(calibration.time(JPEG, 10_000_000)) - 10.0).abs() < 1e-6);
        for round in 0..20 {
            // Measurements that scatter by a fifth.
            let scatter = [0.8, 1.25, 1.0][round % 3];
            let measured = Duration::from_secs_f64(0.070 * scatter);
            calibration.learn(JPEG, 10_000_000, 1_000_000, measured);
        }
        let predicted = millis(calibration.time(JPEG, 10_000_000));
        assert!((63.0..77.0).contains(&predicted), "{predicted} ms");
        let guess = millis(calibration.guess(1_000_000));
        assert!((63.0..77.0).contains(&guess), "{guess} ms");
    }

    #[test]
    fn each_kind_learns_for_itself_and_a_new_one_from_all() {
        let mut calibration = Calibration::default();
        for _ in 0..50 {
            calibration.learn(JPEG, 1_000_000, 1000, Duration::from_millis(2));
            calibration.learn(PNG, 1_000_000, 1000, Duration::from_millis(8));
        }
        assert!((millis(calibration.time(JPEG, 1_000_000)) - 2.0).abs() < 0.1);
        assert!((millis(calibration.time(PNG, 1_000_000)) - 8.0).abs() < 0.1);
        let unseen = millis(calibration.time(("gif", "webp"), 1_000_000));
        assert!((2.0..8.0).contains(&unseen), "{unseen} ms");
    }

    #[test]
    fn a_thousand_icons_do_not_make_a_photo_look_endless() {
        let mut calibration = Calibration::default();
        for _ in 0..1000 {
            calibration.learn(PNG, 100_000, 300, Duration::from_micros(400));
        }
        let guess = millis(calibration.guess(1_000_000));
        assert!(guess < 100.0, "{guess} ms");
    }

    #[test]
    fn a_thousand_dear_little_drawings_do_not_make_a_large_one_look_endless() {
        let mut calibration = Calibration::default();
        let drawing = ("svg", "png");
        for _ in 0..1000 {
            // Planned as 7 ms, measured as 0.6 s.
            calibration.learn(drawing, 7_000_000, 1000, Duration::from_millis(600));
        }
        let little = millis(calibration.time(drawing, 7_000_000));
        assert!((590.0..610.0).contains(&little), "{little} ms");
        let large = millis(calibration.time(drawing, 400_000_000));
        assert!((400.0..6_000.0).contains(&large), "{large} ms");
    }

    #[test]
    fn one_wild_measurement_moves_little() {
        let mut calibration = Calibration::default();
        for _ in 0..30 {
            calibration.learn(JPEG, 10_000_000, 1000, Duration::from_millis(10));
        }
        calibration.learn(JPEG, 10_000_000, 1000, Duration::from_secs(60));
        let predicted = millis(calibration.time(JPEG, 10_000_000));
        assert!(predicted < 10.8, "{predicted} ms");
    }

    #[test]
    fn a_lasting_change_is_followed() {
        let mut calibration = Calibration::default();
        for millis in [10, 100] {
            for _ in 0..200 {
                calibration.learn(JPEG, 10_000_000, 1000, Duration::from_millis(millis));
            }
        }
        let predicted = millis(calibration.time(JPEG, 10_000_000));
        assert!((90.0..110.0).contains(&predicted), "{predicted} ms");
    }

    #[test]
    fn nothing_that_is_measured_makes_a_time_endless_or_nothing() {
        let mut calibration = Calibration::default();
        for _ in 0..100 {
            calibration.learn(JPEG, u64::MAX, u64::MAX, Duration::ZERO);
            calibration.learn(PNG, 0, 0, Duration::MAX);
        }
        assert!(calibration.time(JPEG, 1_000_000_000) > Duration::from_micros(1));
        assert!(calibration.time(PNG, 1_000_000) < Duration::from_secs(60));
    }
}
