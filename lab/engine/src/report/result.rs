//! The result of a run in one sentence, for readers who read no further.

use super::outcome::quotable;
use super::units;
use super::{ReportInput, ab};
use crate::analysis::{Comparison, Role, Verdict};
use crate::record::Purpose;

/// Returns the result of the run as one sentence.
pub(super) fn sentence(input: &ReportInput<'_>) -> String {
    let primary: Vec<&Comparison> = input.analysis.primary().collect();
    match primary[..] {
        [] if input.run.header.purpose == Purpose::Observation => observed(input),
        [] => single_variant(input),
        [one] => compared(one),
        [first, ..] => {
            let sentences = primary.iter().take(MOST).map(|it| short(it));
            let mut sentences: Vec<String> = sentences.collect();
            if primary.len() > MOST {
                sentences.push(format!("{} more below", primary.len() - MOST));
            }
            let (baseline, metric) = (&first.baseline, first.metric.name());
            format!(
                "Compared with {baseline} by {metric}: {}.",
                sentences.join("; ")
            )
        }
    }
}

/// Maximum number of variants that the sentence about a run's result lists.
const MOST: usize = 4;

fn compared(it: &Comparison) -> String {
    let (name, baseline) = (&it.name, &it.baseline);
    let figures = quotable(it).map_or_else(String::new, |estimate| {
        format!(
            ": {} {} {} (95 % interval, {})",
            it.metric.name(),
            units::ratio(estimate.ratio),
            units::interval(estimate.interval_95.low, estimate.interval_95.high),
            units::count(estimate.pairs, "pair")
        )
    });
    match &it.verdict {
        Verdict::Faster => format!("{name} is faster than {baseline}{figures}."),
        Verdict::Slower => format!("{name} is slower than {baseline}{figures}."),
        Verdict::Less { of } => format!("{name} uses less {of} than {baseline}{figures}."),
        Verdict::More { of } => format!("{name} uses more {of} than {baseline}{figures}."),
        Verdict::Same { within, .. } => {
            let within = units::percent(*within);
            format!("{name} and {baseline} are the same within ±{within}{figures}.")
        }
        Verdict::Undecided { .. } => {
            format!("Undecided whether {name} differs from {baseline}{figures}.")
        }
        Verdict::Invalid { why } => {
            format!("No result for {name} compared with {baseline}: {why}.")
        }
        Verdict::SwitchInactive {
            assertion, seen, ..
        } => format!(
            "No result for {name} compared with {baseline}: its switch was inactive ({assertion}, but saw {seen})."
        ),
    }
}

/// Describes a comparison in a few words: `b is faster (×1.930)`.
fn short(it: &Comparison) -> String {
    let word = match &it.verdict {
        Verdict::Faster => "is faster".to_owned(),
        Verdict::Slower => "is slower".to_owned(),
        Verdict::Less { of } => format!("uses less {of}"),
        Verdict::More { of } => format!("uses more {of}"),
        Verdict::Same { within, .. } => format!("is the same within ±{}", units::percent(*within)),
        Verdict::Undecided { .. } => "is undecided".to_owned(),
        Verdict::Invalid { .. } => "is invalid".to_owned(),
        Verdict::SwitchInactive { .. } => "had an inactive switch".to_owned(),
    };
    match quotable(it) {
        Some(estimate) => format!("{} {word} ({})", it.name, units::ratio(estimate.ratio)),
        None => format!("{} {word}", it.name),
    }
}

/// The sentence for a run with a single variant, which may have been compared with itself (A/A).
fn single_variant(input: &ReportInput<'_>) -> String {
    let comparisons = input.analysis.comparisons.iter();
    let mut invalid = comparisons.filter(|it| quotable(it).is_none());
    if let Some(it) = invalid.find(|it| it.role == Role::Primary) {
        return compared(it);
    }
    match &input.analysis.noise_floor {
        Some(floor) => format!(
            "One variant ran, so nothing was compared; differences under ±{} would be within the noise.",
            units::percent(floor.half_width)
        ),
        None => "One variant ran, so nothing was compared.".to_owned(),
    }
}

fn observed(input: &ReportInput<'_>) -> String {
    let Some(best) = ab::fastest(input) else {
        return "Nothing was measured.".to_owned();
    };
    let at = match input.variants().count() {
        1 => "",
        _ => " at most",
    };
    format!(
        "{} requests per second{at}, median latency {}, {} of {} requests failed.",
        units::number(ab::rate(best).unwrap_or(0.0)),
        units::duration(best.total.quantile(0.5)),
        best.failures.all(),
        best.sent
    )
}
