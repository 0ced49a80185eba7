//! imgproxy's two roundings, to whole px. `as` saturates.

/// Half away from zero.
pub(super) fn away(value: f64) -> i64 {
    value.round() as i64
}

/// Half to even.
pub(super) fn even(value: f64) -> i64 {
    value.round_ties_even() as i64
}
