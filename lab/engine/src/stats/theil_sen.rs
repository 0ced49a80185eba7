//! A trend estimate that resists outliers: the median of the slopes between all couples of points (Theil–Sen), with the
//! interval that Kendall's exact distribution gives.

use andon_client::median;

/// A slope with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// The slope in units of y per unit of x.
    pub slope: f64,
    /// Lower end of the interval. −∞ if there are too few points to bound it.
    pub low: f64,
    /// Upper end of the interval. ∞ if there are too few points to bound it.
    pub high: f64,
}

impl Slope {
    /// Whether the interval includes a slope of zero.
    #[must_use]
    pub fn may_be_level(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// Returns the Theil–Sen slope through these points (x, y), with an interval of at least this confidence. `None`
/// without two different values of x.
#[must_use]
pub fn theil_sen(points: &[(f64, f64)], confidence: f64) -> Option<Slope> {
    let mut slopes = Vec::new();
    for (at, (x, y)) in points.iter().enumerate() {
        for (other_x, other_y) in &points[at + 1..] {
            if other_x != x {
                slopes.push((other_y - y) / (other_x - x));
            }
        }
    }
    slopes.sort_by(f64::total_cmp);
    let slope = median(&slopes)?;
    let tail = (1.0 - confidence) / 2.0;
    let (mut cut, mut below) = (0, 0.0);
    for probability in inversions(points.len()) {
        if below + probability > tail {
            break;
        }
        below += probability;
        cut += 1;
    }
    let bounded = cut > 0 && 2 * cut <= slopes.len();
    Some(Slope {
        slope,
        low: if bounded {
            slopes[cut - 1]
        } else {
            f64::NEG_INFINITY
        },
        high: if bounded {
            slopes[slopes.len() - cut]
        } else {
            f64::INFINITY
        },
    })
}

/// Returns the probability of each number of inversions in a random order of `n` items.
fn inversions(n: usize) -> Vec<f64> {
    let mut chances = vec![1.0];
    for items in 2..=n {
        let mut next = vec![0.0; chances.len() + items - 1];
        for (count, chance) in chances.iter().enumerate() {
            for place in 0..items {
                next[count + place] += chance / items as f64;
            }
        }
        chances = next;
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_years_of_cloud_seeding_as_worked_by_hand() {
        // Hollander & Wolfe's data. The ten slopes in order: -0.15 -0.13 -0.08 -0.07 -0.0575 -0.055 -0.045
        // -0.0333 0.01 0.04.
        let points = [
            (1.0, 1.26),
            (2.0, 1.27),
            (3.0, 1.12),
            (4.0, 1.16),
            (5.0, 1.03),
        ];
        let slope = theil_sen(&points, 0.90).unwrap();
        assert!((slope.slope + 0.056_25).abs() < 1e-9);
        // P(at most one inversion of five) = 5/120 <= 5 %: two are cut off at either end.
        assert!((slope.low + 0.13).abs() < 1e-9, "{slope:?}");
        assert!((slope.high - 0.01).abs() < 1e-9, "{slope:?}");
        assert!(slope.may_be_level());
    }

    #[test]
    fn one_outlier_does_not_tilt_a_line() {
        let mut points: Vec<_> = (0..10)
            .map(|x| (f64::from(x), 2.0 * f64::from(x)))
            .collect();
        points[4].1 = 500.0;
        let slope = theil_sen(&points, 0.95).unwrap();
        assert_eq!(slope.slope, 2.0);
        assert!(!slope.may_be_level());
    }

    #[test]
    fn three_points_bound_nothing_and_one_has_no_slope() {
        let slope = theil_sen(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)], 0.95).unwrap();
        assert!(slope.may_be_level() && slope.low.is_infinite());
        assert_eq!(theil_sen(&[(0.0, 1.0)], 0.95), None);
        assert_eq!(theil_sen(&[(0.0, 1.0), (0.0, 2.0)], 0.95), None);
    }
}
