//! imgproxy's two ways to round to whole px. Both saturate.

/// Rounds half away from zero.
pub(super) fn away(value: f64) -> i64 {
    value.round() as i64
}

/// Rounds half to even.
pub(super) fn even(value: f64) -> i64 {
    value.round_ties_even() as i64
}
