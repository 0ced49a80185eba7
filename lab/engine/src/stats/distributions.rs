//! Student's t and the normal distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Returns the probability that Student's t with `freedom` degrees of freedom (at least 1) is at most `t`.
#[must_use]
pub fn t_cdf(t: f64, freedom: usize) -> f64 {
    student(freedom).map_or(f64::NAN, |student| student.cdf(t))
}

/// Returns the quantile of Student's t: the value that is not exceeded with this probability (between 0 and 1, both
/// excluded).
#[must_use]
pub fn t_quantile(probability: f64, freedom: usize) -> f64 {
    student(freedom).map_or(f64::NAN, |student| student.inverse_cdf(probability))
}

/// Returns the probability that a standard normal variable is at most `x`.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    Normal::standard().cdf(x)
}

fn student(freedom: usize) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom.max(1) as f64).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        // Any textbook's table: degrees of freedom, t of 0.95, of 0.975, of 0.995.
        for (freedom, t95, t975, t995) in [
            (1, 6.314, 12.706, 63.657),
            (2, 2.920, 4.303, 9.925),
            (3, 2.353, 3.182, 5.841),
            (5, 2.015, 2.571, 4.032),
            (9, 1.833, 2.262, 3.250),
            (10, 1.812, 2.228, 3.169),
            (15, 1.753, 2.131, 2.947),
            (30, 1.697, 2.042, 2.750),
            (60, 1.671, 2.000, 2.660),
            (120, 1.658, 1.980, 2.617),
        ] {
            for (probability, table) in [(0.95, t95), (0.975, t975), (0.995, t995)] {
                let t = t_quantile(probability, freedom);
                assert!((t - table).abs() < 0.000_6, "{freedom} {probability}: {t}");
            }
        }
    }

    #[test]
    fn a_median_is_zero_and_the_ends_are_certain() {
        assert_eq!(t_cdf(0.0, 7), 0.5);
        assert_eq!(t_cdf(f64::INFINITY, 7), 1.0);
        assert_eq!(t_cdf(f64::NEG_INFINITY, 7), 0.0);
        assert!(t_quantile(0.5, 4).abs() < 1e-12);
    }

    #[test]
    fn the_normal_distribution_agrees_with_published_tables() {
        for (x, table) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746),
            (1.959_963_985, 0.975),
            (-1.644_853_627, 0.05),
            (3.0, 0.998_650_102),
        ] {
            assert!((normal_cdf(x) - table).abs() < 1e-9, "{x}");
        }
        assert!((normal_cdf(-6.0) / 9.865_876_45e-10 - 1.0).abs() < 1e-8);
    }

    proptest! {
        #[test]
        fn quantile_and_probability_are_inverse_and_symmetric(
            probability in 0.001..0.999f64, freedom in 1..200usize,
        ) {
            let t = t_quantile(probability, freedom);
            prop_assert!((t_cdf(t, freedom) - probability).abs() < 1e-9);
            prop_assert!((t_cdf(t, freedom) + t_cdf(-t, freedom) - 1.0).abs() < 1e-12);
        }
    }
}
