//! Reasons why no conclusion may be drawn from a comparison, however clear its result is.

use std::collections::BTreeMap;

use super::pairs::{Contrast, Pair};
use super::verdict::Verdict;
use super::work::{Differing, WorkJudgement};
use crate::record::{Reading, Run};
use crate::scenario::Check;

/// Returns an INVALID verdict if the measured values do not compare what they seem to compare: a server never started,
/// requests failed, or replies differ.
pub(super) fn invalid(
    contrast: Contrast,
    pairs: &[Pair<'_>],
    work: &[WorkJudgement],
    check: &Check,
) -> Option<Verdict> {
    let no_start = || {
        let last = pairs.last().filter(|_| !pairs.iter().any(Pair::measured))?;
        last.other
            .failure
            .clone()
            .or_else(|| last.baseline.failure.clone())
    };
    let failed = || {
        let (mut baseline, mut other, mut sent) = (0, 0, 0);
        for pair in pairs.iter().filter(|pair| pair.counts()) {
            baseline += pair.baseline.load.failures.all();
            other += pair.other.load.failures.all();
            sent += pair.baseline.load.sent + pair.other.load.sent;
        }
        let all = baseline + other;
        (all > 0).then(|| {
            format!(
                "{all} of {sent} requests failed ({baseline} with the baseline, {other} with it): {}",
                failing(pairs)
            )
        })
    };
    let different = || {
        let it = Differing::of(work, contrast.variant, check).filter(|it| !it.permitted)?;
        Some(format!(
            "not the same work at {} of {} URLs: {}: {}",
            it.urls, it.of_urls, it.first.url, it.first.detail
        ))
    };
    let why = no_start().or_else(failed).or_else(different)?;
    Some(Verdict::Invalid { why })
}

/// Returns the URLs that failed most, with counts and reasons: `/a.jpg (12: status 415, expected 200)`.
fn failing(pairs: &[Pair<'_>]) -> String {
    let mut urls: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    let blocks = pairs.iter().filter(|pair| pair.counts());
    for url in blocks.flat_map(|pair| pair.baseline.load.urls.iter().chain(&pair.other.load.urls)) {
        let (count, why) = urls.entry(&url.url).or_default();
        *count += url.failures;
        if why.is_empty() {
            *why = url.reason.as_deref().unwrap_or_default();
        }
    }
    let mut urls: Vec<_> = urls
        .into_iter()
        .filter(|(_, (count, _))| *count > 0)
        .collect();
    urls.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let lines = urls
        .iter()
        .take(MOST_FAILING)
        .map(|(url, (count, why))| match *why {
            "" => format!("{url} ({count})"),
            why => format!("{url} ({count}: {why})"),
        });
    let mut lines: Vec<String> = lines.collect();
    if urls.len() > MOST_FAILING {
        lines.push(format!("and {} more URLs", urls.len() - MOST_FAILING));
    }
    lines.join(", ")
}

/// Largest number of failing URLs in a message. More would push everything else off the screen.
const MOST_FAILING: usize = 4;

/// Returns a SWITCH INACTIVE verdict for the first assertion that does not hold, of the variant or else of the
/// baseline; `None` if all hold.
pub(super) fn switch_inactive(
    run: &Run,
    contrast: Contrast,
    pairs: &[Pair<'_>],
) -> Option<Verdict> {
    let counting = || pairs.iter().filter(|pair| pair.counts());
    let passes = |variant: u32| {
        let of_variant = run
            .passes
            .iter()
            .filter(move |pass| pass.variant == variant);
        of_variant.map(|pass| &pass.assertions)
    };
    let of_other = counting().map(|pair| &pair.other.assertions);
    let of_baseline = counting().map(|pair| &pair.baseline.assertions);
    first_no(&of_other.chain(passes(contrast.variant)).collect::<Vec<_>>())
        .or_else(|| first_no(&of_baseline.chain(passes(0)).collect::<Vec<_>>()))
}

fn first_no(readings: &[&Vec<Reading>]) -> Option<Verdict> {
    let all = || readings.iter().flat_map(|of_block| of_block.iter());
    let no = all().find(|reading| reading.holds == Some(false))?;
    let same = || all().filter(|it| it.assertion == no.assertion);
    Some(Verdict::SwitchInactive {
        assertion: no.assertion.clone(),
        seen: no.seen.clone(),
        blocks: same().filter(|it| it.holds == Some(false)).count() as u32,
        of: same().filter(|it| it.holds.is_some()).count() as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::super::fixture::{primary, run_with_rate};
    use super::super::work::Counted;
    use super::*;
    use crate::record::Arm;

    #[test]
    fn different_work_makes_a_speed_invalid_and_keeps_the_figures() {
        let judgement = |same| WorkJudgement {
            variant: 1,
            url: "/a.jpg".into(),
            same,
            replies: Counted {
                all: 100,
                wrong: if same { 0 } else { 100 },
            },
            baseline: Counted { all: 100, wrong: 0 },
            detail: "13.6 KB vs 44.0 KB".into(),
        };
        let run = run_with_rate(2.0);
        let analysis = analyse(&run, &[judgement(true), judgement(false)]);
        let comparison = analysis.primary().next().expect("a variant");
        let text = comparison.verdict.to_string();
        assert!(
            text.starts_with("INVALID: not the same work at 1 of 2 URLs"),
            "{text}"
        );
        assert!(text.contains("44.0 KB"));
        assert!(comparison.estimate.is_some());
        // The comparison of the baseline with itself is not affected.
        let again = analysis.comparisons.iter().find(|it| it.arm == Arm::Again);
        assert_eq!(again.map(|it| it.verdict.word()), Some("SAME"));
        assert_eq!(
            analyse(&run, &[judgement(true)]).comparisons[0].verdict,
            Verdict::Faster
        );
    }

    #[test]
    fn failed_requests_make_a_speed_invalid() {
        let mut run = run_with_rate(2.0);
        let block = run
            .blocks
            .iter_mut()
            .find(|b| b.arm == Arm::Variant)
            .expect("ran");
        block.load.failures.timeout = 3;
        let mut failed = block.load.urls[0].clone();
        failed.failures = 3;
        failed.reason = Some("no whole reply within 30s".into());
        block.load.urls[0] = failed;
        let text = primary(&run).verdict.to_string();
        assert!(text.contains("3 of ") && text.contains("failed"), "{text}");
        let url = &run.blocks[0].load.urls[0].url;
        let named = format!("{url} (3: no whole reply within 30s)");
        assert!(text.ends_with(&named), "{text}");
    }

    #[test]
    fn a_server_that_never_starts_is_invalid_with_its_own_words() {
        let mut run = run_with_rate(1.0);
        let variants = run.blocks.iter_mut().filter(|it| it.arm == Arm::Variant);
        for block in variants {
            block.failure = Some("exited with status 1: no such file".into());
        }
        let comparison = primary(&run);
        assert!(
            comparison.verdict.to_string().contains("no such file"),
            "{}",
            comparison.verdict
        );
        assert!(comparison.estimate.is_none());
    }

    #[test]
    fn an_assertion_that_says_no_withholds_the_verdict() {
        let mut run = run_with_rate(2.0);
        for block in run
            .blocks
            .iter_mut()
            .filter(|block| block.arm == Arm::Variant)
        {
            block.assertions = vec![Reading {
                assertion: "buffer_grown_total > 0".into(),
                seen: "0".into(),
                holds: Some(block.index == 0),
            }];
        }
        let text = primary(&run).verdict.to_string();
        assert!(
            text.starts_with("SWITCH INACTIVE: buffer_grown_total > 0, but saw 0"),
            "{text}"
        );
        for block in &mut run.blocks {
            block
                .assertions
                .iter_mut()
                .for_each(|it| it.holds = Some(true));
        }
        assert_eq!(primary(&run).verdict, Verdict::Faster);
    }

    #[test]
    fn an_assertion_of_the_counting_pass_counts_too() {
        let mut run = run_with_rate(2.0);
        run.passes.push(crate::record::Pass {
            variant: 1,
            method: "ptrace".into(),
            requests: 50,
            slowdown: 3.0,
            syscalls: Vec::new(),
            instructions: None,
            assertions: vec![Reading {
                assertion: "sendfile > 0".into(),
                seen: "0".into(),
                holds: Some(false),
            }],
        });
        assert_eq!(primary(&run).verdict.word(), "SWITCH INACTIVE");
    }
}
