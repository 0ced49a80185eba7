//! Two saved runs compared: what was different about them, and what can be said about their figures although they
//! were not interleaved.
//!
//! Blocks of two runs have no neighbours, so that whatever changed on the machine meanwhile looks like an effect.
//! Three things keep that honest. Every interval is widened by what the machine itself changed by, as its CPU
//! calibration tells. Where both runs measured the same baseline, variants are compared by their ratios to it, which
//! were interleaved. And runs that asked for something else, or ran elsewhere, get no verdict.

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

/// What can be said about two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Between {
    /// Seconds from the start of the old run to that of the new one; `None` if a date cannot be read.
    pub seconds_apart: Option<f64>,
    /// The new run's CPU calibration through the old one's: above one, the machine itself was slower.
    pub probe: Option<f64>,
    /// What differs about their set-ups.
    pub differences: Vec<Difference>,
    /// Why no figure of these runs can be compared, if that is so.
    pub obstacle: Option<String>,
    /// One per variant that both have, and metric that both can tell.
    pub figures: Vec<Figure>,
    /// Variants that only one of them has.
    pub alone: Vec<String>,
}

impl Between {
    /// The figures that verdicts are about: the primary metric, of each variant the most trustworthy one.
    pub fn primary(&self) -> impl Iterator<Item = &Figure> {
        self.trusted().filter(|figure| figure.primary)
    }

    /// Of each variant and metric the most trustworthy figure: beside the baseline, if there is one.
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

/// Compares them. `kept` is what there is of the replies of both; sameness within the new run's bound, or
/// this one.
#[must_use]
pub fn between(old: &Run, new: &Run, kept: &SavedBodies, within: Option<Share>) -> Between {
    let differences = difference::all(old, new);
    let obstacle = obstacle(&differences);
    let probe = probe(old, new);
    let matched = matched(old, new);
    let question = figures::Question {
        old,
        new,
        wider: probe.map_or(1.0, |probe| probe.max(1.0 / probe)),
        within: within.unwrap_or(new.header.scenario.design.same_within).0,
        obstacle: obstacle.as_deref(),
    };
    let figures = matched
        .iter()
        .flat_map(|&pair| question.figures(pair, work(old, new, pair, kept)))
        .collect();
    let seen = |at: usize, of_new: bool| {
        matched
            .iter()
            .any(|(old, new)| at == if of_new { *new } else { *old })
    };
    let alone = |run: &Run, of_new: bool, which: &str| -> Vec<String> {
        let all = run.header.variants.iter().enumerate();
        all.filter(|(at, _)| !seen(*at, of_new))
            .map(|(_, variant)| format!("{} ({which} run only)", variant.name))
            .collect()
    };
    let mut left = alone(old, false, "old");
    left.extend(alone(new, true, "new"));
    Between {
        seconds_apart: seconds_apart(old, new),
        probe,
        differences,
        obstacle,
        figures,
        alone: left,
    }
}

/// Variants with the same name, by index; of two runs with one variant each, these.
fn matched(old: &Run, new: &Run) -> Vec<(usize, usize)> {
    let (old, new) = (&old.header.variants, &new.header.variants);
    if old.len() == 1 && new.len() == 1 {
        return vec![(0, 0)];
    }
    let found = new.iter().enumerate().filter_map(|(at, variant)| {
        let same = old.iter().position(|it| it.name == variant.name)?;
        Some((same, at))
    });
    found.collect()
}

/// Blocks of a variant that count. The A/A arm is the same server.
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

/// Why nothing can be compared: another machine, or other questions.
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

/// Why the replies of a variant are not the same work in both runs, or not known to be, by what the new one expects.
fn work(
    old: &Run,
    new: &Run,
    (first, second): (usize, usize),
    kept: &SavedBodies,
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
    let mut both = as_arm(old, first, 0, Arm::Baseline);
    both.extend(as_arm(new, second, 1, Arm::Variant));
    let judged = judge(
        &Run {
            header,
            blocks: both,
            passes: Vec::new(),
        },
        kept,
    );
    let differing = Differing::of(&judged.work, 1, &new.header.scenario.check);
    let differing = differing.filter(|it| !it.permitted)?.first;
    let told = expect == Expect::SameBytes || judged.missing.is_empty();
    let what = if told {
        "not the same work in both runs"
    } else {
        "whether both runs did the same work cannot be told"
    };
    Some(format!("{what}: {}: {}", differing.url, differing.detail))
}

#[cfg(test)]
mod tests;
