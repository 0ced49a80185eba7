//! Comparison of two unpaired samples on a logarithmic scale by Welch's t-test, which does not assume equal variances.
//! Its degrees of freedom are rounded down, which makes intervals slightly too wide rather than too narrow.

use super::{Interval, Spread, t_cdf, t_quantile};

/// The ratio of two samples' geometric means, second divided by first. Each sample has at least two values.
#[derive(Clone, Copy, Debug)]
pub struct LogApart {
    difference: f64,
    error: f64,
    freedom: usize,
}

impl LogApart {
    /// Compares two samples of positive values. `None` if either has fewer than two.
    #[must_use]
    pub fn new(first: &[f64], second: &[f64]) -> Option<Self> {
        let logs = |values: &[f64]| -> Vec<f64> {
            let logs = values.iter().map(|value| value.ln());
            logs.filter(|log| log.is_finite()).collect()
        };
        Self::of_logs(&logs(first), &logs(second))
    }

    /// Compares two samples that are given as logarithms. `None` if either has fewer than two.
    #[must_use]
    pub fn of_logs(first: &[f64], second: &[f64]) -> Option<Self> {
        let enough = |spread: &Spread| spread.count >= 2;
        let first = Spread::of(first).filter(enough)?;
        let second = Spread::of(second).filter(enough)?;
        let part = |spread: &Spread| spread.deviation.powi(2) / spread.count as f64;
        let (a, b) = (part(&first), part(&second));
        let each = |part: f64, spread: &Spread| part.powi(2) / (spread.count as f64 - 1.0);
        let freedom = (a + b).powi(2) / (each(a, &first) + each(b, &second));
        Some(Self {
            difference: second.mean - first.mean,
            error: (a + b).sqrt(),
            // Without any spread the freedom is not a number; the interval then has no width, whatever the freedom.
            freedom: if freedom.is_finite() {
                (freedom as usize).max(1)
            } else {
                1
            },
        })
    }

    /// Returns the ratio of the geometric means, second divided by first.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.difference.exp()
    }

    /// Returns the two-sided confidence interval of the ratio (`confidence` 0.95 for 95 %), widened by the factor
    /// `widening` at either end to allow for other changes between the samples.
    #[must_use]
    pub fn interval(&self, confidence: f64, widening: f64) -> Interval {
        let half = t_quantile(0.5 + confidence / 2.0, self.freedom) * self.error;
        let half = half + widening.max(1.0).ln();
        Interval {
            low: (self.difference - half).exp(),
            high: (self.difference + half).exp(),
        }
    }

    /// Returns the two-sided p-value of "the ratio is one".
    #[must_use]
    pub fn p_value(&self) -> f64 {
        if self.error <= 0.0 {
            return if self.difference == 0.0 { 1.0 } else { 0.0 };
        }
        2.0 * t_cdf(-(self.difference / self.error).abs(), self.freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_example_comes_out_as_published() {
        // Sleep after two drugs (Student 1908) as two groups, by Welch: t = −1.8608, 17.776 degrees, p = 0.07939;
        // rounded down to 17 degrees, p = 0.0801.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let apart = LogApart::of_logs(&first, &second).expect("two samples");
        assert_eq!(apart.freedom, 17);
        assert!((apart.difference - 1.58).abs() < 1e-12);
        assert!((apart.difference / apart.error - 1.8608).abs() < 1e-4);
        assert!((apart.p_value() - 0.0801).abs() < 2e-4, "{apart:?}");
    }

    #[test]
    fn an_interval_is_widened_on_both_sides() {
        let apart = LogApart::new(&[100.0, 101.0, 99.0], &[110.0, 111.0, 109.0]).expect("samples");
        let (plain, wider) = (apart.interval(0.95, 1.0), apart.interval(0.95, 1.05));
        assert!((wider.low * 1.05 - plain.low).abs() < 1e-9);
        assert!((wider.high / 1.05 - plain.high).abs() < 1e-9);
        assert!((apart.ratio() - 1.1).abs() < 0.001);
    }

    #[test]
    fn one_value_is_no_sample_and_equal_ones_leave_no_doubt() {
        assert!(LogApart::new(&[1.0], &[1.0, 2.0]).is_none());
        let apart = LogApart::new(&[2.0, 2.0], &[2.0, 2.0]).expect("samples");
        assert_eq!((apart.ratio(), apart.p_value()), (1.0, 1.0));
    }
}
