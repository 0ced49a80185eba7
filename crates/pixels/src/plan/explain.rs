//! The detailed description of a plan, for `andon explain`.

use std::fmt;

use super::Plan;
use crate::cost::Cost;

impl Plan {
    /// Describes the plan in detail: recipe, source and result, the cost of measuring the source if that is needed,
    /// each step with its cost, totals, and the reasons for the plan's rules.
    #[must_use]
    pub fn explain(&self, measuring: Option<Cost>) -> impl fmt::Display + '_ {
        Explanation {
            plan: self,
            measuring,
        }
    }
}

struct Explanation<'a> {
    plan: &'a Plan,
    measuring: Option<Cost>,
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, measuring } = self;
        let info = plan.info();
        let (width, height) = plan.size();
        writeln!(f, "recipe  {}", plan.recipe())?;
        writeln!(f, "source  {} {}x{}", info.format, info.width, info.height)?;
        writeln!(f, "result  {} {width}x{height}", plan.format())?;
        writeln!(f, "plan    {plan}")?;
        writeln!(f)?;
        let mut line = |text: &str, nanos, memory, word| {
            let (time, memory) = (millis(nanos), bytes(memory));
            writeln!(f, "  {text:<48} {time:>8} ms {memory:>10} {word}")
        };
        let (mut nanos, mut peak) = (plan.cost().nanos, plan.peak_bytes());
        if let Some(cost) = measuring {
            let memory = plan.file.saturating_add(cost.scratch);
            line(
                "measure, once for all sizes of the source",
                cost.nanos,
                memory,
                "held",
            )?;
            (nanos, peak) = (nanos.saturating_add(cost.nanos), peak.max(memory));
        }
        for step in plan.steps() {
            line(&step.text, step.cost.nanos, step.holds, "held")?;
        }
        line("together, on one core, as estimated", nanos, peak, "peak")?;
        for rule in plan.rules() {
            writeln!(f, "\n  {}: {}", rule.name, rule.reason)?;
        }
        Ok(())
    }
}

fn millis(nanos: u64) -> String {
    format!("{:.2}", nanos as f64 / 1e6)
}

/// Formats a number of bytes in B, KiB or MiB, with one decimal for the latter two.
fn bytes(count: u64) -> String {
    const KIB: f64 = 1024.0;
    let count = count as f64;
    if count < KIB {
        format!("{count} B")
    } else if count < KIB * KIB {
        format!("{:.1} KiB", count / KIB)
    } else {
        format!("{:.1} MiB", count / (KIB * KIB))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_their_own_unit() {
        assert_eq!(bytes(1000), "1000 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(5 << 20), "5.0 MiB");
    }

    #[test]
    fn times_are_told_in_milliseconds() {
        assert_eq!(millis(12_345_678), "12.35");
    }
}
