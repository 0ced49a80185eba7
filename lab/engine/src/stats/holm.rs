//! Adjustment for multiple tests: Holm's step-down method keeps the chance of any false alarm at 5 %.

/// A p-value adjusted for the number of tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adjusted {
    /// The adjusted p-value.
    pub p: f64,
    /// The factor by which the original p-value is multiplied. The matching interval has the confidence 1 − 0.05 /
    /// `factor`.
    pub factor: u32,
}

/// Adjusts p-values by Holm's method, and returns them in the order given.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<Adjusted> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![Adjusted { p: 1.0, factor: 1 }; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &at) in order.iter().enumerate() {
        let factor = (p_values.len() - rank) as u32;
        largest = largest.max((p_values[at] * f64::from(factor)).min(1.0));
        adjusted[at] = Adjusted { p: largest, factor };
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_is_multiplied_most_and_order_is_kept() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (got, want) in adjusted.iter().zip(expected) {
            assert!((got.p - want).abs() < 1e-12, "{adjusted:?}");
        }
        let factors: Vec<u32> = adjusted.iter().map(|it| it.factor).collect();
        assert_eq!(factors, [3, 1, 2, 4]);
    }

    #[test]
    fn nothing_exceeds_one_and_nothing_gives_nothing() {
        let both: Vec<f64> = holm(&[0.7, 0.9]).iter().map(|it| it.p).collect();
        assert_eq!(both, [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
