//! Goals of a benchmark. Each is printed on a line of its own as passed or failed, with the measured value and the
//! limit.

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;

/// One goal and its outcome.
#[derive(Serialize)]
pub(crate) struct Goal {
    name: String,
    value: f64,
    /// Minimum or maximum of the measured value, depending on `kind`.
    limit: f64,
    kind: Kind,
    unit: &'static str,
    passed: bool,
}

#[derive(Clone, Copy, Serialize)]
enum Kind {
    AtLeast,
    AtMost,
}

impl Goal {
    /// Creates a goal that is passed if `value` is at least `limit`. NaN fails.
    pub(crate) fn at_least(
        name: impl Into<String>,
        value: f64,
        limit: f64,
        unit: &'static str,
    ) -> Self {
        Self {
            name: name.into(),
            value,
            limit,
            kind: Kind::AtLeast,
            unit,
            // NaN, which means that nothing was measured, fails.
            passed: value >= limit,
        }
    }

    /// Creates a goal that is passed if `value` is at most `limit`. NaN fails.
    pub(crate) fn at_most(
        name: impl Into<String>,
        value: f64,
        limit: f64,
        unit: &'static str,
    ) -> Self {
        Self {
            name: name.into(),
            value,
            limit,
            kind: Kind::AtMost,
            unit,
            passed: value <= limit,
        }
    }

    fn print(&self) {
        let Self {
            name,
            value,
            limit,
            unit,
            ..
        } = self;
        let verdict = if self.passed { "PASS" } else { "FAIL" };
        let kind = match self.kind {
            Kind::AtLeast => "at least",
            Kind::AtMost => "at most",
        };
        println!("{verdict}  {name}: {value:.2} {unit} (goal: {kind} {limit} {unit})");
    }
}

/// Prints all goals, one per line.
pub(crate) fn print(goals: &[Goal]) {
    println!();
    goals.iter().for_each(Goal::print);
}

/// Command-line option that makes a missed goal an error. Every task with goals has it.
#[derive(Args)]
pub(crate) struct Strictness {
    /// Fail if a goal is missed.
    #[arg(long)]
    pub(crate) strict: bool,
}

impl Strictness {
    /// Checks the goals if `strict` is set.
    ///
    /// # Errors
    /// A goal was missed and `strict` is set.
    pub(crate) fn judge(&self, goals: &[Goal]) -> Result<()> {
        if self.strict {
            all_passed(goals)?;
        }
        Ok(())
    }
}

/// Checks that all goals were passed.
///
/// # Errors
/// At least one goal was missed. The message names all missed goals.
fn all_passed(goals: &[Goal]) -> Result<()> {
    let missed: Vec<_> = goals.iter().filter(|goal| !goal.passed).collect();
    let names: Vec<_> = missed.iter().map(|goal| goal.name.as_str()).collect();
    ensure!(missed.is_empty(), "failed: {}", names.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_passes_nothing() {
        for goal in [
            Goal::at_least("a", f64::NAN, 1.0, "x"),
            Goal::at_most("b", f64::NAN, 1.0, "x"),
            Goal::at_least("c", 0.9, 1.0, "x"),
            Goal::at_most("d", 1.1, 1.0, "x"),
        ] {
            assert!(all_passed(&[goal]).is_err());
        }
        let passes = [
            Goal::at_least("e", 1.0, 1.0, "x"),
            Goal::at_most("f", 1.0, 1.0, "x"),
        ];
        assert!(all_passed(&passes).is_ok());
    }
}
