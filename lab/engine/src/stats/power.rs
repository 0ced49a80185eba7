//! Numbers of pairs of blocks: before an experiment, those needed to detect an effect, and after one, those still
//! missing.

use super::distributions::t_quantile;
use super::normal_cdf;

/// Largest number of pairs considered. No experiment would run more.
const MOST: usize = 100_000;

/// Returns the number of pairs with which an effect is detected with 80 % power at 5 % (two-sided t-test), where k is
/// the standard deviation of ln(b/a) divided by the effect. `None` if it exceeds 100,000.
#[must_use]
pub fn pairs_to_detect(k: f64) -> Option<usize> {
    // This is the chance that the interval's lower end lies above zero if the true value lies one effect above it.
    pairs_for_power(k, |pairs, scatter| {
        let t = t_quantile(0.975, pairs - 1);
        let effect = (pairs as f64).sqrt() / k;
        normal_cdf(effect - t * scatter)
    })
}

/// Returns the number of pairs with which two equal variants are shown to be within a bound with 80 % power (two
/// one-sided tests at 5 %), where k is the standard deviation of ln(b/a) divided by ln(1 + bound).
#[must_use]
pub fn pairs_to_show_sameness(k: f64) -> Option<usize> {
    pairs_for_power(k, |pairs, scatter| {
        let t = t_quantile(0.95, pairs - 1);
        let room = (pairs as f64).sqrt() / k - t * scatter;
        (2.0 * normal_cdf(room) - 1.0).max(0.0)
    })
}

/// Returns the number of pairs with which half of the 95 % interval is at most `half_width` (a share such as 0.02), if
/// the standard deviation of ln(b/a) does not change.
#[must_use]
pub fn pairs_for_half_width(deviation: f64, half_width: f64) -> Option<usize> {
    first_from(2, |pairs| {
        error_times_t(deviation, pairs, 0.975) <= half_width.ln_1p()
    })
}

/// Returns the number of pairs, at least `from` + 1, at which a verdict would be reached if mean and standard deviation
/// of ln(b/a) stayed as they are. With an error of 0.05, a verdict needs a 95 % interval that excludes one, or a 90 %
/// interval within a factor of 1 + `within`. `errors` returns the errors allowed for a difference and for sameness in a
/// design with that many pairs: a design that allows more pairs may be analysed more often, and each analysis then gets
/// a smaller part of the error.
#[must_use]
pub fn pairs_until_a_verdict(
    mean: f64,
    deviation: f64,
    within: f64,
    errors: impl Fn(usize) -> (f64, f64),
    from: usize,
) -> Option<usize> {
    first_from((from + 1).max(2), |pairs| {
        let (difference, sameness) = errors(pairs);
        error_times_t(deviation, pairs, 1.0 - difference / 2.0) < mean.abs()
            || mean.abs() + error_times_t(deviation, pairs, 1.0 - sameness) <= within.ln_1p()
    })
}

fn error_times_t(deviation: f64, pairs: usize, probability: f64) -> f64 {
    t_quantile(probability, pairs - 1) * deviation / (pairs as f64).sqrt()
}

/// Returns the smallest number from `least` on that satisfies the condition `will_do`, which must stay true once it is
/// true. `None` if it would exceed `MOST`.
fn first_from(least: usize, will_do: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (least, least);
    while !will_do(high) {
        if high >= MOST {
            return None;
        }
        low = high + 1;
        high = (high * 2).min(MOST);
    }
    while low < high {
        let middle = low.midpoint(high);
        if will_do(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}

/// Returns the number of pairs that give 80 % power. `chance(pairs, scatter)` is the probability of success when the
/// estimated standard deviation is `scatter` times the true one.
fn pairs_for_power(k: f64, chance: impl Fn(usize, f64) -> f64) -> Option<usize> {
    if !k.is_finite() || k <= 0.0 {
        return (k == 0.0).then_some(2);
    }
    first_from(2, |pairs| {
        average(pairs, |scatter| chance(pairs, scatter)) >= 0.80
    })
}

/// Returns the mean of a function over the distribution of an estimated standard deviation, relative to the true one (a
/// scaled chi distribution).
fn average(pairs: usize, of: impl Fn(f64) -> f64) -> f64 {
    const STEPS: i32 = 400;
    let freedom = (pairs - 1) as f64;
    let reach = 8.0 / (2.0 * freedom).sqrt();
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in 0..STEPS {
        let scatter = 1.0 + reach * (f64::from(2 * step + 1) / f64::from(STEPS) - 1.0);
        if scatter > 0.0 {
            let log = (freedom - 1.0) * scatter.ln() - freedom * (scatter * scatter - 1.0) / 2.0;
            let weight = log.exp();
            sum += weight * of(scatter);
            weights += weight;
        }
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_pairs_grows_with_the_square_of_the_noise() {
        // One-sample t at 80 % power: effect sizes 2, 1, 2/3, 1/2, 1/3 as in any table of sample sizes.
        let detect = [0.5, 1.0, 1.5, 2.0, 3.0].map(pairs_to_detect);
        assert_eq!(detect, [5, 10, 20, 34, 73].map(Some));
        let same = [0.5, 1.0, 1.5, 2.0, 3.0].map(pairs_to_show_sameness);
        assert_eq!(same, [4, 11, 21, 36, 79].map(Some));
    }

    #[test]
    fn no_noise_needs_two_pairs_and_too_much_is_said_to_be_hopeless() {
        assert_eq!(pairs_to_detect(0.0), Some(2));
        assert_eq!(pairs_to_detect(f64::INFINITY), None);
        assert_eq!(pairs_for_half_width(0.03, 0.0), None);
        assert_eq!(pairs_for_half_width(0.0, 0.02), Some(2));
    }

    #[test]
    fn the_half_width_is_reached_with_that_many_pairs_and_not_with_one_less() {
        let pairs = pairs_for_half_width(0.03, 0.02).unwrap();
        assert!(error_times_t(0.03, pairs, 0.975) <= 0.02f64.ln_1p());
        assert!(error_times_t(0.03, pairs - 1, 0.975) > 0.02f64.ln_1p());
    }

    #[test]
    fn a_verdict_comes_sooner_for_a_clear_effect_and_for_a_clear_sameness() {
        let plain = |_| (0.05, 0.05);
        let clear = pairs_until_a_verdict(0.10, 0.05, 0.03, plain, 2).unwrap();
        let none = pairs_until_a_verdict(0.0, 0.05, 0.03, plain, 2).unwrap();
        let on_the_bound = pairs_until_a_verdict(0.03, 0.05, 0.03, plain, 2).unwrap();
        assert!(
            clear < none && none < on_the_bound,
            "{clear} {none} {on_the_bound}"
        );
        assert!(pairs_until_a_verdict(0.10, 0.05, 0.03, plain, 50) == Some(51));
    }

    #[test]
    fn an_error_that_is_shared_out_over_more_analyses_takes_more_pairs() {
        let shared = |pairs: usize| (0.05 / pairs as f64, 0.05 / pairs as f64);
        let alone = pairs_until_a_verdict(0.0, 0.05, 0.03, |_| (0.05, 0.05), 2).unwrap();
        assert!(pairs_until_a_verdict(0.0, 0.05, 0.03, shared, 2).unwrap() > alone * 2);
    }
}
