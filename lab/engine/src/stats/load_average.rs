//! Undoes the decay of a load average.
//!
//! The difference between the kernel's load average and the number of running tasks decays by the factor e^(−t/τ).
//! After 27 s at 14 tasks the one-minute figure says 5, after 205 s it says 14. Until the decay is undone, two such
//! figures compare the lengths of two runs, not their loads.

/// Time constant of a load average's decay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decay {
    /// The one-minute load average, the first number of three.
    OneMinute,
    /// The five-minute load average, the second number of three.
    FiveMinutes,
    /// The fifteen-minute load average, the third number of three.
    FifteenMinutes,
}

impl Decay {
    /// Returns the time constant in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        match self {
            Self::OneMinute => 60.0,
            Self::FiveMinutes => 300.0,
            Self::FifteenMinutes => 900.0,
        }
    }
}

/// Returns the constant number of tasks that moves a load average from `before` to `after` within `seconds`, or `None`
/// if no time passed.
#[must_use]
pub fn undecayed(before: f64, after: f64, seconds: f64, decay: Decay) -> Option<f64> {
    let remaining_share = (-seconds / decay.seconds()).exp();
    (seconds > 0.0).then(|| ((after - before * remaining_share) / (1.0 - remaining_share)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_field_report_had_the_same_load_in_both_runs() {
        // Load averages 13.9 and 5.1, from runs of 205 s and 27 s that began on an idle machine.
        let slow = undecayed(0.0, 13.9, 205.0, Decay::OneMinute).unwrap();
        let fast = undecayed(0.0, 5.1, 27.0, Decay::OneMinute).unwrap();
        assert!((slow - 14.4).abs() < 0.1, "{slow}");
        assert!((fast - 14.1).abs() < 0.1, "{fast}");
    }

    #[test]
    fn undoing_inverts_the_kernel_for_all_three_figures() {
        for decay in [Decay::OneMinute, Decay::FiveMinutes, Decay::FifteenMinutes] {
            let mut load = 3.0;
            for _ in 0..40 {
                let kept = (-5.0 / decay.seconds()).exp();
                load = load * kept + 8.0 * (1.0 - kept);
            }
            let tasks = undecayed(3.0, load, 200.0, decay).unwrap();
            assert!((tasks - 8.0).abs() < 1e-9, "{decay:?}: {tasks}");
        }
        assert_eq!(undecayed(1.0, 1.0, 0.0, Decay::OneMinute), None);
    }
}
