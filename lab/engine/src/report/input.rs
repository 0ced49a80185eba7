//! What a report is made from.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::analysis::{Analysis, Comparison, Summary};
use crate::bodies::Judged;
use crate::record::{Arm, Block, Phase, PhaseKind, Run};
use crate::scenario::Metric;

/// Everything that a format may show.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The run as it was recorded.
    pub run: &'a Run,
    /// The verdicts and estimates.
    pub analysis: &'a Analysis,
    /// Whether the replies are the same work.
    pub judged: &'a Judged,
    /// Distinct bodies by their hash; the response previews show those that are here.
    pub bodies: &'a BTreeMap<String, Bytes>,
    /// Text for a terminal that knows colours (ANSI)? Other formats have no use for it.
    pub colour: bool,
}

impl<'a> ReportInput<'a> {
    /// The variants' figures, the baseline's first, the A/A arm left out.
    pub(super) fn variants(&self) -> impl Iterator<Item = &'a Summary> + use<'a> {
        let summaries = self.analysis.summaries.iter();
        summaries.filter(|it| it.arm != Arm::Again)
    }

    /// A variant against the baseline by a metric.
    pub(super) fn comparison(&self, variant: u32, metric: Metric) -> Option<&'a Comparison> {
        let wanted = |it: &&Comparison| {
            it.arm == Arm::Variant && it.variant == variant && it.metric == metric
        };
        self.analysis.comparisons.iter().find(wanted)
    }

    /// The name of a block's variant; the A/A arm has its own.
    pub(super) fn name(&self, block: &Block) -> &'a str {
        let again = block.arm == Arm::Again;
        let same = |it: &&Summary| it.variant == block.variant && (it.arm == Arm::Again) == again;
        let found = self.analysis.summaries.iter().find(same);
        found.map_or("?", |it| it.name.as_str())
    }

    /// A variant's name.
    pub(super) fn variant_name(&self, variant: u32) -> &'a str {
        let variant = self.run.header.variants.get(variant as usize);
        variant.map_or("?", |it| it.name.as_str())
    }

    /// A variant's URL as sent.
    pub(super) fn url(&self, variant: u32, url: u32) -> Option<&'a str> {
        let summary = self.variants().find(|it| it.variant == variant)?;
        Some(summary.urls.get(url as usize)?.url.as_str())
    }

    /// Why a format has nothing to show, if no block was measured.
    pub(super) fn nothing_measured(&self) -> Option<&'static str> {
        let measured = self.run.blocks.iter().any(|block| block.failure.is_none());
        (!measured).then_some("No block reached its measured window.")
    }
}

/// A block's phase of this kind.
pub(super) fn phase(block: &Block, kind: PhaseKind) -> Option<Phase> {
    block.phases.iter().find(|it| it.kind == kind).copied()
}

/// When its measured window began, in seconds since the run began.
pub(super) fn window_start(block: &Block) -> Option<f64> {
    phase(block, PhaseKind::Measure).map(|it| it.from)
}

/// `kept`, `discarded: …` or `failed: …`.
pub(super) fn status(block: &Block) -> String {
    match (&block.failure, &block.discarded) {
        (Some(why), _) => format!("failed: {why}"),
        (None, Some(why)) => format!("discarded: {why}"),
        (None, None) => "kept".to_owned(),
    }
}

/// A block's part, as data files name it.
pub(super) fn arm(arm: Arm) -> &'static str {
    match arm {
        Arm::Baseline => "baseline",
        Arm::Variant => "variant",
        Arm::Again => "again",
    }
}
