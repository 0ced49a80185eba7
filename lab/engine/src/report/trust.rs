//! How far the results can be trusted: noise floor, lost blocks, stability, equivalence of replies.

use std::fmt::Write as _;

use super::outcome::quotable;
use super::table::harmless;
use super::{ReportInput, units};
use crate::analysis::{Counted, Differing};
use crate::record::Purpose;

/// Returns sentences about how far the results of a run can be trusted, one per line. Lines that go into detail are
/// indented.
pub(super) fn lines(input: &ReportInput<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if input.run.header.purpose == Purpose::Comparison {
        lines.extend(pairs(input));
    }
    lines.extend(failures(input));
    lines.extend(stability(input));
    lines.extend(work(input));
    lines
}

/// Sentences about the machine, derived from the pairs of blocks: noise floor, discards, and the result with discarded
/// blocks included.
fn pairs(input: &ReportInput<'_>) -> Vec<String> {
    let analysis = input.analysis;
    let mut lines = Vec::new();
    lines.push(match &analysis.noise_floor {
        Some(floor) => format!(
            "Noise floor: the baseline against itself {} {}: differences under ±{} are within the noise{}",
            units::ratio(floor.ratio),
            units::interval(floor.interval.low, floor.interval.high),
            units::percent(floor.half_width),
            if floor.suspect {
                "; it differs from itself, so this run is suspect"
            } else {
                ""
            }
        ),
        None => "Noise floor: unknown, since the baseline was not compared with itself".to_owned(),
    });
    let discards = &analysis.discards;
    let mut line = format!(
        "Discards: {} tried, {} disturbed, {} failed",
        units::count(discards.tried, "pair"),
        discards.discarded,
        discards.failed
    );
    for (reason, blocks) in &discards.reasons {
        let _ = write!(
            line,
            "; {}: {}",
            harmless(reason),
            units::count(*blocks, "block")
        );
    }
    if let Some(by) = discards.by() {
        let _ = write!(line, "; by {} of all CPUs", harmless(&by));
    }
    lines.push(line);
    let with_discarded = analysis.primary().filter_map(|it| {
        let with = quotable(it).and(it.with_discarded.as_ref())?;
        Some(format!(
            "  with discarded blocks, {} / {} would be {} {}",
            harmless(&it.name),
            harmless(&it.baseline),
            units::ratio(with.ratio),
            units::interval(with.interval_95.low, with.interval_95.high)
        ))
    });
    lines.extend(with_discarded);
    lines
}

/// Sentences about the stability of each variant, which can be as fast as the baseline on average and yet less
/// dependable.
fn stability(input: &ReportInput<'_>) -> impl Iterator<Item = String> {
    input.analysis.primary().filter_map(|it| {
        let stability = quotable(it).and(it.stability.as_ref())?;
        let (baseline, variant) = stability.longest_wait;
        Some(format!(
            "Stability: {} / {}: spread between blocks {} (p {:.3}), longest wait {} against {}",
            harmless(&it.name),
            harmless(&it.baseline),
            units::ratio(stability.spread_ratio),
            stability.p,
            units::duration(variant),
            units::duration(baseline)
        ))
    })
}

/// Lines that tell whether the replies of all variants are equivalent, followed by the first few differences by URL.
fn work(input: &ReportInput<'_>) -> Vec<String> {
    let judgements = &input.judgement.work;
    let different: Vec<_> = judgements.iter().filter(|it| !it.same).collect();
    if judgements.is_empty() {
        return Vec::new();
    }
    let replies = (judgements.iter().map(|it| it.replies)).fold(Counted::default(), Counted::and);
    let check = &input.run.header.scenario.check;
    let mut variants = judgements.iter().map(|it| it.variant);
    let refused = variants.any(|variant| {
        let differing = Differing::of(judgements, variant, check);
        differing.is_some_and(|it| !it.permitted)
    });
    let mut lines = vec![match (replies, refused) {
        (Counted { all, wrong: 0 }, false) => format!("Response equivalence: all of {all} replies"),
        (Counted { all, wrong }, refused) => format!(
            "Response equivalence: {wrong} of {all} replies ({}) differ or are wrong{}",
            units::percent(wrong as f64 / all.max(1) as f64),
            match refused {
                true => String::new(),
                false => format!(", which check.bodies ({} right) permits", check.bodies.0),
            }
        ),
    }];
    lines.extend(different.iter().take(MOST_DIFFERENCES).map(|it| {
        let name = input.variant_name(it.variant);
        harmless(&format!("  {name} {}: {}", it.url, it.detail))
    }));
    if different.len() > MOST_DIFFERENCES {
        lines.push(format!("  and {} more", different.len() - MOST_DIFFERENCES));
    }
    lines
}

/// Maximum number of URLs listed whose replies differ between variants. More would push everything else off the screen.
const MOST_DIFFERENCES: usize = 6;

/// Returns a line for each distinct reason for which blocks failed.
fn failures(input: &ReportInput<'_>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for block in &input.run.blocks {
        if let Some(why) = &block.failure {
            let line = format!("  {}: {}", harmless(input.name(block)), harmless(why));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}
