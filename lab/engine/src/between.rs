//! Comparison of two saved runs: what differs in their set-ups, and what their figures show although the runs were not
//! interleaved.
//!
//! Blocks of two runs are not neighbours, so whatever changed on the machine meanwhile looks like an effect. Three
//! rules keep the comparison honest. Intervals are widened by the change of the machine's own speed, as its CPU
//! calibration shows it. If both runs measured the same baseline, variants are compared by their ratios to it, which
//! were interleaved. And runs with other requests, or on another machine, get no verdict.

mod difference;
mod figures;

use std::time::Duration;

use serde::Serialize;

use crate::analysis::Differing;
use crate::bodies::judge;
use crate::record::{Arm, Block, Run, SavedBodies};
use crate::scenario::{Expect, Share};
use crate::stats::median;

pub use difference::{Difference, Part};
pub use figures::{Figure, How};

/// The result of comparing two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Between {
    /// Seconds from the start of the old run to that of the new one; `None` if a date cannot be read.
    pub seconds_apart: Option<f64>,
    /// The new run's CPU calibration time divided by the old run's. Above 1, the machine itself was slower in the new
    /// run.
    pub probe: Option<f64>,
    /// Differences between the runs' set-ups.
    pub differences: Vec<Difference>,
    /// The reason why no metric of these runs can be compared, if there is one.
    pub obstacle: Option<String>,
    /// Figures of each variant that both runs have: of the primary metric, and of each other metric that has values.
    pub figures: Vec<Figure>,
    /// Variants that only one of the runs has.
    pub alone: Vec<String>,
}

impl Between {
    /// Returns the figures that verdicts are about: each variant's most trustworthy figure of the primary metric.
    pub fn primary(&self) -> impl Iterator<Item = &Figure> {
        self.trusted().filter(|figure| figure.primary)
    }

    /// Returns the most trustworthy figure of each variant and metric: the ratio to the baseline, if there is one.
    pub fn trusted(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(|figure| {
            let better = |other: &Figure| {
                (other.metric, &other.name) == (figure.metric, &figure.name)
                    && other.how == How::BesideBaseline
            };
            figure.how == How::BesideBaseline || !self.figures.iter().any(better)
        })
    }
}

/// Compares two runs. `saved_bodies` holds the saved reply bodies of both runs and the findings about them. `within` is
/// the largest difference that counts as the same; `None` stands for the new run's `design.same_within`.
#[must_use]
pub fn between(old: &Run, new: &Run, saved_bodies: &SavedBodies, within: Option<Share>) -> Between {
    let differences = difference::all(old, new);
    let obstacle = obstacle(&differences);
    let probe = probe(old, new);
    let matching_pairs = matching_variants(old, new);
    let question = figures::Question {
        old,
        new,
        widening: probe.map_or(1.0, |probe| probe.max(1.0 / probe)),
        within: within.unwrap_or(new.header.scenario.design.same_within).0,
        obstacle: obstacle.as_deref(),
    };
    let figures = matching_pairs
        .iter()
        .flat_map(|&pair| question.figures(pair, work(old, new, pair, saved_bodies)))
        .collect();
    let has_match = |at: usize, of_new: bool| {
        matching_pairs
            .iter()
            .any(|(old, new)| at == if of_new { *new } else { *old })
    };
    let unmatched_in = |run: &Run, of_new: bool, which: &str| -> Vec<String> {
        let all = run.header.variants.iter().enumerate();
        all.filter(|(at, _)| !has_match(*at, of_new))
            .map(|(_, variant)| format!("{} ({which} run only)", variant.name))
            .collect()
    };
    let mut unmatched = unmatched_in(old, false, "old");
    unmatched.extend(unmatched_in(new, true, "new"));
    Between {
        seconds_apart: seconds_apart(old, new),
        probe,
        differences,
        obstacle,
        figures,
        alone: unmatched,
    }
}

/// Returns the indexes, in the old and the new run, of variants with the same name. If each run has just one variant,
/// these two match whatever their names are.
fn matching_variants(old: &Run, new: &Run) -> Vec<(usize, usize)> {
    let (old, new) = (&old.header.variants, &new.header.variants);
    if old.len() == 1 && new.len() == 1 {
        return vec![(0, 0)];
    }
    let matches = new.iter().enumerate().filter_map(|(at, variant)| {
        let same = old.iter().position(|it| it.name == variant.name)?;
        Some((same, at))
    });
    matches.collect()
}

/// Returns the blocks of a variant that count. Blocks of the A/A arm count as the baseline's, because both have the
/// same server.
fn blocks(run: &Run, variant: usize) -> impl Iterator<Item = &Block> {
    run.blocks
        .iter()
        .filter(move |block| block.counts() && block.variant as usize == variant)
}

fn probe(old: &Run, new: &Run) -> Option<f64> {
    let of = |run: &Run| {
        let probes = run.blocks.iter().filter(|block| block.counts());
        let probes = probes.flat_map(|it| [it.noise.probe.before, it.noise.probe.after]);
        median(&probes.filter(|it| *it > 0.0).collect::<Vec<_>>())
    };
    Some(of(new)? / of(old)?)
}

fn seconds_apart(old: &Run, new: &Run) -> Option<f64> {
    let read = |run: &Run| humantime::parse_rfc3339(&run.header.started).ok();
    let (old, new) = (read(old)?, read(new)?);
    Some(match new.duration_since(old) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -Duration::as_secs_f64(&before.duration()),
    })
}

/// Returns why nothing can be compared: another machine, or other requests.
fn obstacle(differences: &[Difference]) -> Option<String> {
    let fatal: Vec<String> = differences
        .iter()
        .filter(|it| it.fatal)
        .map(|it| format!("{}: {} and {}", it.key, it.old, it.new))
        .collect();
    (!fatal.is_empty()).then(|| {
        format!(
            "the runs differ in more than the server: {}",
            fatal.join("; ")
        )
    })
}

/// Returns why a variant's replies in the two runs are not equivalent, or not known to be, by the new run's `expect`.
/// `None` if they are equivalent.
fn work(
    old: &Run,
    new: &Run,
    (first, second): (usize, usize),
    saved_bodies: &SavedBodies,
) -> Option<String> {
    let mut header = new.header.clone();
    let variant = header.variants[second].clone();
    let expect = variant.expect;
    header.variants = vec![variant.clone(), variant];
    let as_arm = |run: &Run, variant: usize, at: u32, arm: Arm| -> Vec<Block> {
        let blocks = blocks(run, variant).cloned();
        blocks
            .map(|mut block| {
                (block.variant, block.arm) = (at, arm);
                block
            })
            .collect()
    };
    let mut all_blocks = as_arm(old, first, 0, Arm::Baseline);
    all_blocks.extend(as_arm(new, second, 1, Arm::Variant));
    let judgement = judge(
        &Run {
            header,
            blocks: all_blocks,
            passes: Vec::new(),
        },
        saved_bodies,
    );
    let differing = Differing::of(&judgement.work, 1, &new.header.scenario.check);
    let differing = differing.filter(|it| !it.permitted)?.first;
    let is_certain = expect == Expect::SameBytes || judgement.missing.is_empty();
    let what = if is_certain {
        "not the same work in both runs"
    } else {
        "whether both runs did the same work cannot be told"
    };
    Some(format!("{what}: {}: {}", differing.url, differing.detail))
}

#[cfg(test)]
mod tests;
