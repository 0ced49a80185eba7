//! A comparison in one line: the two variants, the metric, the ratio, its interval and the verdict.

use super::units;
use crate::analysis::{Analysis, Comparison, Estimate, Role, Verdict};
use crate::record::Arm;

/// The parts of one comparison as text, ready to be laid out on a line.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Variant and baseline: `omp1 / default`.
    pub(super) who: String,
    /// Name of the metric: `throughput`.
    pub(super) metric: &'static str,
    /// Ratio to the baseline: `×0.432`. A dash where a ratio would mislead or is not known.
    pub(super) ratio: String,
    /// 95 % interval of the ratio, `[0.410, 0.450]`, or empty.
    pub(super) interval: String,
    /// Number of pairs, `10 pairs`, or empty.
    pub(super) pairs: String,
    /// p-value of the exact signed-rank test for "the ratio is one", `0.031`, or empty. The test checks the t-test,
    /// since no single outlying pair sways it.
    pub(super) ranks: String,
    /// The verdict as text, with its numbers.
    pub(super) verdict: String,
    /// The tone in which the verdict is shown, which determines its colour.
    pub(super) tone: Tone,
    /// Whether the metric is the declared primary one or a secondary one.
    pub(super) role: Role,
    /// Whether a variant or the A/A arm is compared with the baseline.
    pub(super) arm: Arm,
}

/// Returns the estimate of a comparison, or `None` if its verdict is INVALID or SWITCH INACTIVE: readers would quote a
/// ratio that means nothing.
pub(super) fn quotable(comparison: &Comparison) -> Option<&Estimate> {
    let sound = Tone::of(&comparison.verdict) != Tone::Broken;
    comparison.estimate.as_ref().filter(|_| sound)
}

/// The tone of a verdict, from which both its terminal colour and its HTML class follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
    Calm,
    Unsure,
    Broken,
}

impl Outcome {
    /// Returns the outcomes to report: primary metric first, in the order of variants. Comparisons that are INVALID or
    /// SWITCH INACTIVE and the noise floor (A/A arm) are listed for the primary metric only, since the reason is the
    /// same for every metric.
    pub(super) fn all(analysis: &Analysis) -> Vec<Self> {
        let mut all: Vec<Self> = analysis.comparisons.iter().map(Self::of).collect();
        let adds = |it: &Self| it.arm != Arm::Again && it.tone != Tone::Broken;
        all.retain(|it| it.role == Role::Primary || adds(it));
        all.sort_by_key(|it| (it.role == Role::Secondary, it.arm == Arm::Again));
        all
    }

    fn of(comparison: &Comparison) -> Self {
        let tone = Tone::of(&comparison.verdict);
        let estimate = quotable(comparison);
        let or_empty = |text: Option<String>| text.unwrap_or_default();
        Self {
            who: format!("{} / {}", comparison.name, comparison.baseline),
            metric: comparison.metric.name(),
            ratio: estimate.map_or(units::UNKNOWN.to_owned(), |it| units::ratio(it.ratio)),
            interval: or_empty(
                estimate.map(|it| units::interval(it.interval_95.low, it.interval_95.high)),
            ),
            pairs: or_empty(estimate.map(|it| units::count(it.pairs, "pair"))),
            ranks: or_empty(estimate.map(|it| units::p_value(it.signed_rank_p))),
            verdict: comparison.verdict.to_string(),
            tone,
            role: comparison.role,
            arm: comparison.arm,
        }
    }

    /// Whether this is the question the experiment was made for: a variant compared by the primary metric.
    pub(super) fn is_primary(&self) -> bool {
        self.role == Role::Primary && self.arm == Arm::Variant
    }
}

impl Tone {
    pub(super) fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Faster | Verdict::Less { .. } => Self::Good,
            Verdict::Slower | Verdict::More { .. } => Self::Bad,
            Verdict::Same { .. } => Self::Calm,
            Verdict::Undecided { .. } => Self::Unsure,
            Verdict::Invalid { .. } | Verdict::SwitchInactive { .. } => Self::Broken,
        }
    }

    /// The HTML class of this tone.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Calm => "calm",
            Self::Unsure => "unsure",
            Self::Broken => "broken",
        }
    }

    /// The ANSI escape sequence of this tone's terminal colour.
    pub(super) fn ansi(self) -> &'static str {
        match self {
            Self::Good => "\u{1b}[1;32m",
            Self::Bad => "\u{1b}[1;31m",
            Self::Calm => "\u{1b}[1;36m",
            Self::Unsure => "\u{1b}[1;33m",
            Self::Broken => "\u{1b}[1;35m",
        }
    }
}
