//! One variant against the baseline, by one metric.

use serde::Serialize;

use super::discards::Discards;
use super::pairs::{Contrast, Pair, contrasts, pairs};
use super::summary::{again_name, longest_wait};
use super::verdict::{Question, Verdict};
use super::work::WorkJudgement;
use crate::record::{Arm, Reading, Run};
use crate::scenario::Metric;
use crate::stats::{
    HodgesLehmann, Interval, LogRatios, compare_spreads, hodges_lehmann, holm, median,
    signed_rank_p,
};

/// A comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The variant's name.
    pub name: String,
    /// The baseline's name.
    pub baseline: String,
    /// Index of the variant in the header.
    pub variant: u32,
    /// A variant's, or the A/A arm's.
    pub arm: Arm,
    /// By what.
    pub metric: Metric,
    /// The metric that the experiment was declared to be about, or another.
    pub role: Role,
    /// The verdict.
    pub verdict: Verdict,
    /// The figures, also where the verdict is INVALID or NOT EXERCISED; `None` below two pairs.
    pub estimate: Option<Estimate>,
    /// The same with discarded blocks; `None` if none was discarded.
    pub with_discarded: Option<Estimate>,
    /// How calm either is; `None` below three pairs.
    pub stability: Option<Stability>,
}

/// A metric's part in the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Declared before the first result.
    Primary,
    /// One of the others: its p values are adjusted for their number (Holm).
    Secondary,
}

/// The figures of a comparison. Ratios are variant through baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Pairs used.
    pub pairs: u32,
    /// Geometric mean of the pairs' ratios.
    pub ratio: f64,
    /// Student's t on logarithms of ratios, two-sided.
    pub interval_95: Interval,
    /// The same; inside of the bounds, sameness is shown.
    pub interval_90: Interval,
    /// Half the width of the 95 % interval, a share.
    pub half_width: f64,
    /// Standard deviation of the pairs' logarithms of ratios.
    pub deviation: f64,
    /// p of "the ratio is one" (t), not adjusted.
    pub p: f64,
    /// p of two one-sided tests: below 0.05, sameness is shown; not adjusted.
    pub sameness_p: f64,
    /// `p` adjusted for the number of secondary metrics; that of the primary one is not adjusted.
    pub adjusted_p: f64,
    /// `sameness_p`, likewise.
    pub adjusted_sameness_p: f64,
    /// Exact signed-rank p of "the ratio is one": the robust check.
    pub signed_rank_p: f64,
    /// The robust ratio with its exact interval of at least 95 %.
    pub hodges_lehmann: HodgesLehmann,
    /// The robust check contradicts: its ratio lies outside of the t interval, or one of both p is below 0.05
    /// and the other above 0.10. Look at the pairs.
    pub disagree: bool,
}

/// How calm the variant is beside the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// Standard deviation between the variant's blocks through that between the baseline's (of logarithms).
    pub spread_ratio: f64,
    /// p of "both are equally calm" (Pitman and Morgan).
    pub p: f64,
    /// The longest wait of a connection, baseline and variant, in seconds.
    pub longest_wait: (f64, f64),
}

/// All comparisons of a run.
pub(super) fn all(run: &Run, work: &[WorkJudgement], discards: &Discards) -> Vec<Comparison> {
    let too_many = discards.too_many().map(|why| Verdict::Invalid { why });
    let of_contrast = |contrast| {
        let pairs = pairs(run, contrast);
        // What a server says when it does not start explains more than the number of pairs lost.
        let objection = invalid(contrast, &pairs, work)
            .or_else(|| too_many.clone())
            .or_else(|| not_exercised(run, contrast, &pairs));
        compare(run, contrast, &pairs, objection)
    };
    contrasts(run).into_iter().flat_map(of_contrast).collect()
}

/// One contrast by every metric, the primary one first; secondary ones only where blocks can tell them.
fn compare(
    run: &Run,
    contrast: Contrast,
    pairs: &[Pair<'_>],
    objection: Option<Verdict>,
) -> Vec<Comparison> {
    let design = &run.header.scenario.design;
    let mut metrics = vec![design.primary];
    metrics.extend(
        Metric::ALL
            .into_iter()
            .filter(|metric| *metric != design.primary),
    );
    let counting: Vec<_> = pairs.iter().copied().filter(Pair::counts).collect();
    let measured: Vec<_> = pairs.iter().copied().filter(Pair::measured).collect();

    let ratios: Vec<(Metric, Option<LogRatios>)> = metrics
        .into_iter()
        .map(|metric| (metric, LogRatios::new(&values(metric, &counting))))
        .filter(|(metric, ratios)| *metric == design.primary || ratios.is_some())
        .collect();
    let within = design.same_within.0;
    let difference = adjusted(&ratios, LogRatios::p_value);
    let sameness = adjusted(&ratios, |ratios| ratios.sameness_p(within));
    let lengths: Vec<f64> = counting.iter().map(Pair::seconds).collect();

    let mut comparisons = Vec::new();
    for (at, (metric, ratios)) in ratios.iter().enumerate() {
        let estimate = |ratios: &LogRatios| Estimate {
            adjusted_p: difference[at],
            adjusted_sameness_p: sameness[at],
            ..Estimate::of(ratios, within)
        };
        let question = Question {
            metric: *metric,
            ratios: ratios.as_ref(),
            difference_p: difference[at],
            sameness_p: sameness[at],
            within,
            min_pairs: design.pairs.min,
            seconds_per_pair: median(&lengths).filter(|seconds| *seconds > 0.0),
        };
        let with_discarded = (measured.len() > counting.len())
            .then(|| LogRatios::new(&values(*metric, &measured)))
            .flatten();
        comparisons.push(Comparison {
            name: name(run, contrast),
            baseline: run
                .header
                .variants
                .first()
                .map_or(String::new(), |it| it.name.clone()),
            variant: contrast.variant,
            arm: contrast.arm,
            metric: *metric,
            role: if at == 0 {
                Role::Primary
            } else {
                Role::Secondary
            },
            verdict: objection.clone().unwrap_or_else(|| question.answer()),
            estimate: ratios.as_ref().map(estimate),
            with_discarded: with_discarded.map(|ratios| Estimate::of(&ratios, within)),
            stability: stability(*metric, &counting),
        });
    }
    comparisons
}

impl Estimate {
    /// Without adjustment.
    fn of(ratios: &LogRatios, within: f64) -> Self {
        let signed_rank_p = signed_rank_p(ratios.differences());
        let robust = hodges_lehmann(ratios.differences(), 0.95);
        let hodges_lehmann = HodgesLehmann {
            // There are at least two differences, so there is an estimate.
            estimate: robust.map_or(ratios.ratio(), |it| it.estimate.exp()),
            interval: robust.and_then(|it| it.interval).map(|it| Interval {
                low: it.low.exp(),
                high: it.high.exp(),
            }),
            confidence: robust.map_or(0.0, |it| it.confidence),
        };
        let (p, sameness_p) = (ratios.p_value(), ratios.sameness_p(within));
        let interval_95 = ratios.interval(0.95);
        // Below six pairs signed ranks cannot reach 5 %, which is no contradiction.
        let able = ratios.count() >= 6;
        let contradicts = p.min(signed_rank_p) < 0.05 && p.max(signed_rank_p) > 0.10;
        let outside = !interval_95.contains(hodges_lehmann.estimate) && ratios.deviation() > 0.0;
        Self {
            pairs: ratios.count() as u32,
            ratio: ratios.ratio(),
            interval_95,
            interval_90: ratios.interval(0.90),
            half_width: ratios.half_width(0.95),
            deviation: ratios.deviation(),
            p,
            sameness_p,
            adjusted_p: p,
            adjusted_sameness_p: sameness_p,
            signed_rank_p,
            hodges_lehmann,
            disagree: able && (contradicts || outside),
        }
    }
}

/// A p for each metric: the first (primary) as it is, the others adjusted among themselves.
fn adjusted(ratios: &[(Metric, Option<LogRatios>)], p: impl Fn(&LogRatios) -> f64) -> Vec<f64> {
    let raw: Vec<f64> = ratios
        .iter()
        .map(|(_, ratios)| ratios.as_ref().map_or(1.0, &p))
        .collect();
    let secondary = holm(raw.get(1..).unwrap_or_default());
    raw.into_iter().take(1).chain(secondary).collect()
}

/// A metric's values of those pairs in which both blocks can tell it.
fn values(metric: Metric, pairs: &[Pair<'_>]) -> Vec<(f64, f64)> {
    let both = |pair: &Pair<'_>| metric.of(pair.baseline).zip(metric.of(pair.other));
    pairs.iter().filter_map(both).collect()
}

fn stability(metric: Metric, pairs: &[Pair<'_>]) -> Option<Stability> {
    let logs: Vec<_> = values(metric, pairs)
        .into_iter()
        .map(|(a, b)| (a.ln(), b.ln()))
        .collect();
    let (spread_ratio, p) = compare_spreads(&logs)?;
    let longest = |waits: &mut dyn Iterator<Item = f64>| waits.fold(0.0, f64::max);
    Some(Stability {
        spread_ratio,
        p,
        longest_wait: (
            longest(&mut pairs.iter().map(|pair| longest_wait(pair.baseline))),
            longest(&mut pairs.iter().map(|pair| longest_wait(pair.other))),
        ),
    })
}

/// Why the figures do not compare what they seem to: replies that failed, differ, or never came.
fn invalid(contrast: Contrast, pairs: &[Pair<'_>], work: &[WorkJudgement]) -> Option<Verdict> {
    let no_start = || {
        let last = pairs.last().filter(|_| !pairs.iter().any(Pair::measured))?;
        last.other
            .failure
            .clone()
            .or_else(|| last.baseline.failure.clone())
    };
    let failed = || {
        let (mut failures, mut sent) = (0, 0);
        for pair in pairs.iter().filter(|pair| pair.counts()) {
            for load in [&pair.baseline.load, &pair.other.load] {
                failures += load.failures.all();
                sent += load.sent;
            }
        }
        (failures > 0).then(|| format!("{failures} of {sent} requests failed"))
    };
    let different = || {
        let mut judged = work
            .iter()
            .filter(|it| contrast.arm == Arm::Variant && it.variant == contrast.variant);
        let of = judged.clone().count();
        let differing = judged.clone().filter(|it| !it.same).count();
        let first = judged.find(|it| !it.same)?;
        Some(format!(
            "not the same work at {differing} of {of} URLs: {}: {}",
            first.url, first.detail
        ))
    };
    let why = no_start().or_else(failed).or_else(different)?;
    Some(Verdict::Invalid { why })
}

/// The first witness, of the variant or of the baseline, that says no.
fn not_exercised(run: &Run, contrast: Contrast, pairs: &[Pair<'_>]) -> Option<Verdict> {
    let counting = || pairs.iter().filter(|pair| pair.counts());
    let passes = |variant: u32| {
        let of_variant = run
            .passes
            .iter()
            .filter(move |pass| pass.variant == variant);
        of_variant.map(|pass| &pass.witnesses)
    };
    let of_other = counting().map(|pair| &pair.other.witnesses);
    let of_baseline = counting().map(|pair| &pair.baseline.witnesses);
    first_no(&of_other.chain(passes(contrast.variant)).collect::<Vec<_>>())
        .or_else(|| first_no(&of_baseline.chain(passes(0)).collect::<Vec<_>>()))
}

fn first_no(readings: &[&Vec<Reading>]) -> Option<Verdict> {
    let all = || readings.iter().flat_map(|of_block| of_block.iter());
    let no = all().find(|reading| reading.holds == Some(false))?;
    let same = || all().filter(|it| it.witness == no.witness);
    Some(Verdict::NotExercised {
        witness: no.witness.clone(),
        seen: no.seen.clone(),
        blocks: same().filter(|it| it.holds == Some(false)).count() as u32,
        of: same().filter(|it| it.holds.is_some()).count() as u32,
    })
}

fn name(run: &Run, contrast: Contrast) -> String {
    match contrast.arm {
        Arm::Again => again_name(run),
        Arm::Baseline | Arm::Variant => {
            let variant = run.header.variants.get(contrast.variant as usize);
            variant.map_or(String::new(), |it| it.name.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{analyse, fixture};
    use super::*;
    use crate::scenario::Share;

    /// Two variants, ten pairs each; the second has this rate beside the first's, with 1 % of noise.
    fn run_with_rate(factor: f64) -> Run {
        let mut random = crate::stats::Random::new(4);
        fixture::run(2, 10, |block| {
            let noise = (0.01 * random.normal()).exp();
            let factor = if block.arm == Arm::Variant {
                factor
            } else {
                1.0
            };
            fixture::set_rate(block, 400.0 * factor * noise);
        })
    }

    fn primary(run: &Run) -> Comparison {
        analyse(run, &[])
            .primary()
            .next()
            .cloned()
            .expect("a variant")
    }

    #[test]
    fn a_faster_variant_is_called_faster_with_its_ratio() {
        let comparison = primary(&run_with_rate(1.10));
        let estimate = comparison.estimate.expect("ten pairs");
        assert_eq!(comparison.verdict, Verdict::Faster);
        assert_eq!((comparison.role, estimate.pairs), (Role::Primary, 10));
        assert!(estimate.interval_95.contains(1.10), "{estimate:?}");
        assert!(estimate.signed_rank_p < 0.01 && !estimate.disagree);
    }

    #[test]
    fn an_equal_variant_is_the_same_and_so_is_the_baseline_again() {
        let analysis = analyse(&run_with_rate(1.0), &[]);
        for it in analysis
            .comparisons
            .iter()
            .filter(|it| it.role == Role::Primary)
        {
            assert_eq!(it.verdict.word(), "SAME", "{} {}", it.name, it.verdict);
        }
        let floor = analysis.noise_floor.expect("the A/A arm ran");
        assert!(floor.half_width < 0.02 && !floor.suspect, "{floor:?}");
    }

    #[test]
    fn a_cost_is_cheaper_or_dearer() {
        let mut run = run_with_rate(1.0);
        run.header.scenario.design.primary = Metric::CpuSPerRequest;
        for block in &mut run.blocks {
            if block.arm == Arm::Variant {
                block.server.user_seconds *= 0.7;
            }
        }
        assert_eq!(primary(&run).verdict, Verdict::Cheaper);
    }

    #[test]
    fn different_work_makes_a_speed_invalid_and_keeps_the_figures() {
        let judgement = |same| WorkJudgement {
            variant: 1,
            url: "/a.jpg".into(),
            same,
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
        // The baseline against itself is not concerned.
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
        let text = primary(&run).verdict.to_string();
        assert!(text.contains("3 of ") && text.contains("failed"), "{text}");
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
    fn a_witness_that_says_no_withholds_the_verdict() {
        let mut run = run_with_rate(2.0);
        for block in run
            .blocks
            .iter_mut()
            .filter(|block| block.arm == Arm::Variant)
        {
            block.witnesses = vec![Reading {
                witness: "buffer_grown_total > 0".into(),
                seen: "0".into(),
                holds: Some(block.index == 0),
            }];
        }
        let text = primary(&run).verdict.to_string();
        assert!(
            text.starts_with("NOT EXERCISED: buffer_grown_total > 0, but saw 0"),
            "{text}"
        );
        for block in &mut run.blocks {
            block
                .witnesses
                .iter_mut()
                .for_each(|it| it.holds = Some(true));
        }
        assert_eq!(primary(&run).verdict, Verdict::Faster);
    }

    #[test]
    fn a_witness_of_the_counting_pass_counts_too() {
        let mut run = run_with_rate(2.0);
        run.passes.push(crate::record::Pass {
            variant: 1,
            method: "ptrace".into(),
            requests: 50,
            slowdown: 3.0,
            syscalls: Vec::new(),
            instructions: None,
            witnesses: vec![Reading {
                witness: "sendfile > 0".into(),
                seen: "0".into(),
                holds: Some(false),
            }],
        });
        assert_eq!(primary(&run).verdict.word(), "NOT EXERCISED");
    }

    #[test]
    fn discarded_pairs_do_not_decide_and_are_shown_beside() {
        let mut run = run_with_rate(1.0);
        let wild = run
            .blocks
            .iter_mut()
            .filter(|block| block.arm == Arm::Variant)
            .take(2);
        for block in wild {
            fixture::set_rate(block, 40.0);
            block.discarded = Some("steal 12 % > 5 %".into());
        }
        let comparison = primary(&run);
        assert_eq!(comparison.verdict.word(), "SAME");
        assert_eq!(comparison.estimate.map(|it| it.pairs), Some(8));
        let with = comparison.with_discarded.expect("two were discarded");
        assert!(with.pairs == 10 && with.ratio < 0.8, "{with:?}");
    }

    #[test]
    fn too_many_discards_make_everything_invalid() {
        let mut run = run_with_rate(1.5);
        for block in run
            .blocks
            .iter_mut()
            .filter(|block| block.arm == Arm::Variant)
            .take(7)
        {
            block.discarded = Some("steal".into());
        }
        let text = primary(&run).verdict.to_string();
        assert!(text.contains("7 of 20 pairs"), "{text}");
    }

    #[test]
    fn secondary_metrics_follow_and_are_adjusted() {
        let run = run_with_rate(1.10);
        let analysis = analyse(&run, &[]);
        let of_variant: Vec<_> = analysis
            .comparisons
            .iter()
            .filter(|it| it.arm == Arm::Variant)
            .collect();
        assert_eq!(of_variant.len(), Metric::ALL.len());
        for it in &of_variant[1..] {
            let estimate = it.estimate.expect("ten pairs");
            assert_eq!(it.role, Role::Secondary);
            assert!(estimate.adjusted_p >= estimate.p);
        }
    }

    #[test]
    fn one_wild_pair_against_thirteen_calm_ones_is_a_disagreement() {
        let mut pairs: Vec<(f64, f64)> = (0..13)
            .map(|at| (1.0, 1.02 + 0.001 * f64::from(at)))
            .collect();
        pairs.push((1.0, 0.3));
        let ratios = LogRatios::new(&pairs).expect("fourteen pairs");
        let estimate = Estimate::of(&ratios, 0.03);
        assert!(
            estimate.p > 0.10 && estimate.signed_rank_p < 0.05,
            "{estimate:?}"
        );
        assert!(estimate.disagree);
    }

    #[test]
    fn three_times_the_spread_is_a_row_of_its_own() {
        let mut random = crate::stats::Random::new(8);
        let run = fixture::run(2, 16, |block| {
            let spread = if block.arm == Arm::Variant {
                0.06
            } else {
                0.01
            };
            fixture::set_rate(block, 400.0 * (spread * random.normal()).exp());
        });
        let stability = primary(&run).stability.expect("sixteen pairs");
        assert!(
            stability.spread_ratio > 2.5 && stability.p < 0.01,
            "{stability:?}"
        );
    }

    #[test]
    fn an_analysis_can_be_written_as_json_and_is_the_same_twice() {
        let mut run = run_with_rate(1.02);
        run.header.scenario.design.same_within = Share(0.01);
        let write = || serde_json::to_string(&analyse(&run, &[])).expect("writes");
        assert_eq!(write(), write());
        assert!(write().contains("\"word\":"));
    }
}
