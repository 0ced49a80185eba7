//! Axis scales: where a value lies on an axis, and which values get a label.

/// A linear or logarithmic mapping of values to positions in a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    /// Creates a linear scale that maps the values `low` to `high` to the positions `from` to `to`. An empty range is
    /// widened.
    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self {
            low,
            high,
            from,
            to,
            log: false,
        }
    }

    /// Creates a logarithmic scale. Values that are not above zero are placed at the low end.
    pub(super) fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let low = low.max(1e-12);
        let high = if high > low { high } else { low * 2.0 };
        Self {
            low,
            high,
            from,
            to,
            log: true,
        }
    }

    /// Returns the position of a value. Values outside the range are placed at its ends.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if value.is_nan() {
            self.low
        } else {
            value.clamp(self.low, self.high)
        };
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Returns round values within the range, about `count` of them.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        if self.log && self.high / self.low > 5.0 {
            return self.decades(count);
        }
        let rough = (self.high - self.low) / count.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let nice = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let step = nice
            .into_iter()
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(rough);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }

    /// Returns ticks of a logarithmic scale, such as 1, 2 and 5 times each power of ten; fewer per power if there would
    /// be too many.
    fn decades(&self, count: usize) -> Vec<f64> {
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let within = |digits: &[f64]| -> Vec<f64> {
            (first..=last)
                .flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)))
                .filter(|tick| (self.low * 0.999..=self.high * 1.001).contains(tick))
                .collect()
        };
        let fine = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0];
        let choices = [
            within(&fine),
            within(&[1.0, 2.0, 5.0]),
            within(&[1.0, 3.0]),
            within(&[1.0]),
        ];
        let fits = |ticks: &&Vec<f64>| ticks.len() <= count + 2;
        choices.iter().find(fits).unwrap_or(&choices[3]).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(
            Scale::linear(0.0, 97.0, 0.0, 1.0).ticks(5),
            [0.0, 20.0, 40.0, 60.0, 80.0]
        );
        assert_eq!(
            Scale::log(0.001, 0.1, 0.0, 1.0).ticks(5),
            [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]
        );
    }

    #[test]
    fn a_range_without_width_or_with_zero_is_no_accident() {
        let flat = Scale::linear(3.0, 3.0, 0.0, 10.0);
        assert_eq!(flat.at(3.0), 0.0);
        let log = Scale::log(0.0, 0.0, 0.0, 10.0);
        assert!(log.at(0.0).is_finite() && !log.ticks(4).is_empty());
        assert_eq!(log.at(f64::NAN), 0.0);
    }
}
