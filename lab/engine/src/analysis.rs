//! Analyses a run: verdicts with intervals, the noise floor, and weaknesses of the run itself. The analysis is pure:
//! the same [`Run`] always gives the same [`Analysis`].
//!
//! - [`analyse`] does the whole analysis; [`enough`] tells the experiment when to stop; [`order`] fixes the order in
//!   which blocks run.
//! - [`self_checks`] look for mistakes in the experiment itself.

mod client_limit;
mod comparison;
mod discards;
mod enough;
mod estimate;
#[cfg(test)]
pub(crate) mod fixture;
mod interim;
mod metric;
mod objection;
mod order;
mod pairs;
pub mod self_checks;
mod summary;
#[cfg(test)]
mod trials;
mod verdict;
mod work;

use serde::Serialize;

pub(crate) use client_limit::body_class;
pub use comparison::{Comparison, Role};
pub use discards::{Discards, TOO_MANY_DISCARDED};
pub use enough::{Enough, enough};
pub use estimate::{Estimate, Stability};
pub use order::{Slot, order};
pub use pairs::Pair;
pub(crate) use pairs::{Contrast, contrasts, pairs};
pub use self_checks::{Finding, Severity};
pub use summary::{MetricSummary, Summary};
pub use verdict::{Resource, Verdict};
pub use work::{Counted, Differing, WorkJudgement};

use crate::record::{Arm, Run};
use crate::stats::Interval;

/// The result of analysing a run.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// One summary per variant in the order of the run's header, then that of the A/A arm if it ran.
    pub summaries: Vec<Summary>,
    /// Comparisons of each variant with the baseline, then of the baseline with itself; for each of them the primary
    /// metric comes first.
    pub comparisons: Vec<Comparison>,
    /// What the A/A arm says about the noise of this machine during the run; `None` without such an arm or with fewer
    /// than two pairs.
    pub noise_floor: Option<NoiseFloor>,
    /// Number of interim analyses, that is, of points at which the run could have ended. Intervals and verdicts are
    /// adjusted for this number.
    pub interim_analyses: u32,
    /// Pairs left out of the statistics because they were discarded or failed.
    pub discards: Discards,
    /// Mistakes and weaknesses of the experiment, the most severe first.
    pub findings: Vec<Finding>,
}

/// The noise floor: the baseline compared with itself, by the primary metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoiseFloor {
    /// The measured ratio of the baseline to itself; 1 without any noise.
    pub ratio: f64,
    /// The 95 % interval of `ratio`, valid over all interim analyses.
    pub interval: Interval,
    /// Half the width of `interval` as a share, e.g. 0.02 for ±2 %. Smaller effects are within the noise.
    pub half_width: f64,
    /// Whether the interval excludes 1 although nothing differs, which makes the run suspect.
    pub suspect: bool,
}

impl Analysis {
    /// Returns the comparisons that the experiment was made for: each variant against the baseline, by the primary
    /// metric.
    pub fn primary(&self) -> impl Iterator<Item = &Comparison> {
        let is_primary = |it: &&Comparison| it.role == Role::Primary && it.arm == Arm::Variant;
        self.comparisons.iter().filter(is_primary)
    }
}

/// Analyses a run. `work` says for each variant and URL whether the replies are equivalent to the baseline's. A variant
/// without an entry was not checked.
#[must_use]
pub fn analyse(run: &Run, work: &[WorkJudgement]) -> Analysis {
    let discards = Discards::of(run);
    let comparisons = comparison::all(run, work, &discards);
    let mut analysis = Analysis {
        summaries: summary::all(run),
        noise_floor: noise_floor(&comparisons),
        comparisons,
        interim_analyses: interim::InterimAnalyses::of(&run.header.scenario.design).count(),
        discards,
        findings: Vec::new(),
    };
    analysis.findings = self_checks::findings(run, &analysis);
    analysis
}

fn noise_floor(comparisons: &[Comparison]) -> Option<NoiseFloor> {
    let comparison = comparisons
        .iter()
        .find(|it| it.arm == Arm::Again && it.role == Role::Primary)?;
    let estimate = comparison.estimate.as_ref()?;
    Some(NoiseFloor {
        ratio: estimate.ratio,
        interval: estimate.interval_95,
        half_width: estimate.half_width,
        suspect: !estimate.interval_95.contains(1.0),
    })
}
