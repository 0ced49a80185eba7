//! The input of all report formats.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::analysis::{Analysis, Comparison, Summary};
use crate::bodies::Judged;
use crate::record::{Arm, Block, Phase, PhaseKind, Run};
use crate::scenario::Metric;

/// Everything that a report format may show.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The run as it was recorded.
    pub run: &'a Run,
    /// The verdicts and estimates.
    pub analysis: &'a Analysis,
    /// Judgement of whether the variants' replies are equivalent.
    pub judgement: &'a Judged,
    /// Distinct reply bodies by their hash. Only these can be shown as response previews.
    pub bodies: &'a BTreeMap<String, Bytes>,
    /// Whether text is coloured for a terminal with ANSI escapes. Other formats ignore this.
    pub colour: bool,
}

impl<'a> ReportInput<'a> {
    /// Returns the summaries of all variants, the baseline first, without the A/A arm.
    pub(super) fn variants(&self) -> impl Iterator<Item = &'a Summary> + use<'a> {
        let summaries = self.analysis.summaries.iter();
        summaries.filter(|it| it.arm != Arm::Again)
    }

    /// Returns the comparison of a variant with the baseline by a metric.
    pub(super) fn comparison(&self, variant: u32, metric: Metric) -> Option<&'a Comparison> {
        let matches = |it: &&Comparison| {
            it.arm == Arm::Variant && it.variant == variant && it.metric == metric
        };
        self.analysis.comparisons.iter().find(matches)
    }

    /// Returns the name of a block's variant, or that of the A/A arm for its blocks.
    pub(super) fn name(&self, block: &Block) -> &'a str {
        let is_again = block.arm == Arm::Again;
        let is_same_arm =
            |it: &&Summary| it.variant == block.variant && (it.arm == Arm::Again) == is_again;
        let summary = self.analysis.summaries.iter().find(is_same_arm);
        summary.map_or("?", |it| it.name.as_str())
    }

    /// Returns the name of a variant.
    pub(super) fn variant_name(&self, variant: u32) -> &'a str {
        let variant = self.run.header.variants.get(variant as usize);
        variant.map_or("?", |it| it.name.as_str())
    }

    /// Returns a URL of a variant as it was sent.
    pub(super) fn url(&self, variant: u32, url: u32) -> Option<&'a str> {
        let summary = self.variants().find(|it| it.variant == variant)?;
        Some(summary.urls.get(url as usize)?.url.as_str())
    }

    /// Returns a sentence which says that no block was measured, or `None` if at least one was.
    pub(super) fn nothing_measured(&self) -> Option<&'static str> {
        let measured = self.run.blocks.iter().any(|block| block.failure.is_none());
        (!measured).then_some("No block reached its measured window.")
    }
}

/// Returns the phase of a block that is of the given kind.
pub(super) fn phase(block: &Block, kind: PhaseKind) -> Option<Phase> {
    block.phases.iter().find(|it| it.kind == kind).copied()
}

/// Returns when the measured window of a block began, in seconds since the run began.
pub(super) fn window_start(block: &Block) -> Option<f64> {
    phase(block, PhaseKind::Measure).map(|it| it.from)
}

/// Describes the status of a block: `kept`, `discarded: …` or `failed: …`.
pub(super) fn status(block: &Block) -> String {
    match (&block.failure, &block.discarded) {
        (Some(why), _) => format!("failed: {why}"),
        (None, Some(why)) => format!("discarded: {why}"),
        (None, None) => "kept".to_owned(),
    }
}

/// Returns the word for a block's arm that data files use: `baseline`, `variant` or `again`.
pub(super) fn arm(arm: Arm) -> &'static str {
    match arm {
        Arm::Baseline => "baseline",
        Arm::Variant => "variant",
        Arm::Again => "again",
    }
}
