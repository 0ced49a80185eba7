//! Median and other quantiles.

/// Returns the median: the middle value, or the mean of the two in the middle. `None` if there are no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the quantile at `share` (0 to 1), interpolated between neighbouring values. `None` if there are no values.
#[must_use]
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place.floor(), place.ceil());
    let low = sorted[below as usize];
    Some(low + (sorted[above as usize] - low) * (place - below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let values = [30.0, 10.0, 20.0, 40.0];
        assert_eq!(quantile(&values, 0.0), Some(10.0));
        assert_eq!(quantile(&values, 0.5), Some(25.0));
        assert_eq!(quantile(&values, 1.0), Some(40.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
