//! Python's rounding.

/// Returns Python's `round(value, 2)` in hundredths: the nearest one, halves to even. Whether a value is a half depends
/// on its exact value, and not on a hundred times the value, which is itself rounded.
pub(super) fn hundredths(value: f64) -> f64 {
    let hundredfold = value * 100.0;
    let rest = value.mul_add(100.0, -hundredfold);
    match hundredfold.fract() == 0.5 {
        true if rest > 0.0 => hundredfold.ceil(),
        true if rest < 0.0 => hundredfold.floor(),
        _ => hundredfold.round_ties_even(),
    }
}

#[cfg(test)]
mod tests {
    use super::hundredths;

    #[test]
    fn hundredths_are_pythons() {
        // `round(1.125, 2)` is 1.12; 1.005 is less than it says, 2.675 too; 0.285 is more.
        for (value, right) in [
            (1.125, 112.0),
            (1.375, 138.0),
            (1.005, 100.0),
            (2.675, 267.0),
            (0.285, 28.0),
            (4.0 / 3.0, 133.0),
        ] {
            assert_eq!(hundredths(value), right, "{value}");
        }
    }
}
