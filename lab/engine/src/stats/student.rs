//! Student's t distribution for whole degrees of freedom, by its finite series (Abramowitz & Stegun 26.7.3–4):
//! exact, and no gamma function.

use std::f64::consts::FRAC_PI_2;

/// Probability that t with so many degrees of freedom (at least 1) is at most `t`.
#[must_use]
pub fn t_cdf(t: f64, freedom: usize) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    0.5 + central(t.abs(), freedom.max(1)).copysign(t) / 2.0
}

/// The t that is not exceeded with this probability (between 0 and 1, both excluded).
#[must_use]
pub fn t_quantile(probability: f64, freedom: usize) -> f64 {
    if probability < 0.5 {
        return -t_quantile(1.0 - probability, freedom);
    }
    let mut high = 1.0;
    while t_cdf(high, freedom) < probability && high < 1e12 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Halving ends at neighbouring floats at the latest.
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if t_cdf(middle, freedom) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// Probability of lying within ±`t`.
fn central(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // Even: sin (1 + 1/2 cos² + 1·3/(2·4) cos⁴ …). Odd: 2/π (angle + sin (cos + 2/3 cos³ + 2·4/(3·5) cos⁵ …)).
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut at = if odd { 1 } else { 0 };
    while at + 2 <= freedom {
        sum += term;
        at += 2;
        term *= cosine * cosine * (at - 1) as f64 / at as f64;
    }
    if odd {
        (angle + sine * sum) / FRAC_PI_2
    } else {
        sine * sum
    }
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
