//! The middle of some values, and other places among them.

/// The middle value, or the mean of the two in the middle; `None` without any.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value that a share (0 to 1) of all does not exceed, interpolated between neighbours; `None` without any.
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
