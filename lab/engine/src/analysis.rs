//! What can be said about a run: verdicts with intervals, the noise floor, and the run's own weaknesses. Pure:
//! a [`Run`] goes in, an [`Analysis`] comes out, the same one each time.
//!
//! - [`analyse`] does all of it; [`enough`] tells the experiment when to stop; [`order`] in which order to run.
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

/// Everything that can be said about a run.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// One per variant in the header's order, then the A/A arm if it ran.
    pub summaries: Vec<Summary>,
    /// Each variant against the baseline, then the baseline against itself; the primary metric first.
    pub comparisons: Vec<Comparison>,
    /// What the A/A arm tells about this machine today; `None` without one, or with fewer than two pairs.
    pub noise_floor: Option<NoiseFloor>,
    /// At so many points the run could have ended; intervals and verdicts hold over all of them together.
    pub interim_analyses: u32,
    /// Pairs that do not count.
    pub discards: Discards,
    /// Mistakes and weaknesses of the experiment, the most severe first.
    pub findings: Vec<Finding>,
}

/// The baseline against itself, by the primary metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoiseFloor {
    /// Its ratio to itself.
    pub ratio: f64,
    /// 95 % interval of that ratio, over all interim analyses.
    pub interval: Interval,
    /// Half of the interval's width, a share: effects below it cannot be told from nothing.
    pub half_width: f64,
    /// The interval excludes one although nothing differs: the run is suspect.
    pub suspect: bool,
}

impl Analysis {
    /// The verdicts that the experiment was made for: each variant against the baseline, primary metric.
    pub fn primary(&self) -> impl Iterator<Item = &Comparison> {
        let wanted = |it: &&Comparison| it.role == Role::Primary && it.arm == Arm::Variant;
        self.comparisons.iter().filter(wanted)
    }
}

/// Says what can be said. `work` tells for each variant and URL whether the replies are the same work as the
/// baseline's; nothing for a variant means that nobody looked.
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
    let again = comparisons
        .iter()
        .find(|it| it.arm == Arm::Again && it.role == Role::Primary)?;
    let estimate = again.estimate.as_ref()?;
    Some(NoiseFloor {
        ratio: estimate.ratio,
        interval: estimate.interval_95,
        half_width: estimate.half_width,
        suspect: !estimate.interval_95.contains(1.0),
    })
}
