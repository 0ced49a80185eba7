//! A comparison in one line: who, by what, how much, how sure, and the verdict.

use super::units;
use crate::analysis::{Analysis, Comparison, Estimate, Role, Verdict};
use crate::record::Arm;

/// A comparison's parts, ready to be laid out.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// `omp1 / default`.
    pub(super) who: String,
    /// `throughput`.
    pub(super) metric: &'static str,
    /// `×0.43`; a dash where a ratio would mislead or is not known.
    pub(super) ratio: String,
    /// `[0.41, 0.45]`, or empty.
    pub(super) interval: String,
    /// `10 pairs`, or empty.
    pub(super) pairs: String,
    /// `0.031`: what the exact signed-rank test, the check of t that no wild pair sways, says of "the ratio
    /// is one"; or empty.
    pub(super) ranks: String,
    /// The verdict's word and figures.
    pub(super) verdict: String,
    /// The tone of the line: good, bad, calm, unsure or broken.
    pub(super) tone: Tone,
    /// The declared metric, or another.
    pub(super) role: Role,
    /// A variant's, or the A/A arm's.
    pub(super) arm: Arm,
}

/// The figures, unless the comparison is invalid: a ratio of two different kinds of work would be quoted by someone.
pub(super) fn quotable(comparison: &Comparison) -> Option<&Estimate> {
    let sound = Tone::of(&comparison.verdict) != Tone::Broken;
    comparison.estimate.as_ref().filter(|_| sound)
}

/// How a verdict sounds; the same in colours and in classes of HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Bad,
    Calm,
    Unsure,
    Broken,
}

impl Outcome {
    /// What a reader wants to know of an analysis: primary ones first, in the order of variants. What is wrong with
    /// a comparison is wrong by every metric, and said once; so is the noise floor.
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

    /// Is it what the experiment was made for?
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

    /// Its name as a class.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Calm => "calm",
            Self::Unsure => "unsure",
            Self::Broken => "broken",
        }
    }

    /// Its colour on a terminal.
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
