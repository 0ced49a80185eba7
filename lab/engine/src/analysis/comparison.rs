//! Comparison of one variant with the baseline by one metric.

use serde::Serialize;

use super::discards::Discards;
use super::estimate::{Estimate, Stability};
use super::interim::InterimAnalyses;
use super::objection::{invalid, switch_inactive};
use super::pairs::{Contrast, Pair, contrasts, pairs, values};
use super::summary::again_name;
use super::verdict::{Question, Verdict};
use super::work::WorkJudgement;
use crate::record::{Arm, Run};
use crate::scenario::Metric;
use crate::stats::{Adjusted, LogRatios, holm, median};

/// A comparison of one variant with the baseline by one metric.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The variant's name.
    pub name: String,
    /// The baseline's name.
    pub baseline: String,
    /// Index of the variant in the run's header.
    pub variant: u32,
    /// Whether a variant is compared, or the baseline once more (A/A arm).
    pub arm: Arm,
    /// The metric that is compared.
    pub metric: Metric,
    /// Whether this is the metric that the experiment was declared to be about, or another one.
    pub role: Role,
    /// The conclusion: better, worse, equal, undecided, or why the comparison is not valid.
    pub verdict: Verdict,
    /// The estimated ratio with its intervals, given even if the verdict is INVALID or SWITCH INACTIVE; `None` below
    /// two pairs.
    pub estimate: Option<Estimate>,
    /// The estimate from all blocks, discarded ones included; `None` if none was discarded.
    pub with_discarded: Option<Estimate>,
    /// How much baseline and variant vary from block to block; `None` below three pairs.
    pub stability: Option<Stability>,
}

/// A metric's part in the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The one metric that was declared before the first result.
    Primary,
    /// Any other metric. Its p-values are adjusted for the number of secondary metrics (Holm).
    Secondary,
}

/// Returns all comparisons of a run.
pub(super) fn all(run: &Run, work: &[WorkJudgement], discards: &Discards) -> Vec<Comparison> {
    let too_many = discards.too_many().map(|why| Verdict::Invalid { why });
    let of_contrast = |contrast| {
        let pairs = pairs(run, contrast);
        // A server that fails to start prints an error message, which explains more than the number of lost pairs.
        let objection = invalid(contrast, &pairs, work, &run.header.scenario.check)
            .or_else(|| too_many.clone())
            .or_else(|| switch_inactive(run, contrast, &pairs));
        compare(run, contrast, &pairs, objection)
    };
    contrasts(run).into_iter().flat_map(of_contrast).collect()
}

/// Compares a variant (or the A/A arm) with the baseline by every metric, the primary one first. Secondary metrics are
/// left out if the blocks have too few values of them.
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
    let (within, interim) = (design.same_within.0, InterimAnalyses::of(design));
    let difference = adjusted(&ratios, |ratios| interim.together(ratios.p_value()));
    let sameness = adjusted(&ratios, |ratios| {
        interim.together(ratios.sameness_p(within))
    });
    let lengths: Vec<f64> = counting.iter().map(Pair::seconds).collect();

    let mut comparisons = Vec::new();
    for (at, (metric, ratios)) in ratios.iter().enumerate() {
        let tests = (difference[at].factor, sameness[at].factor);
        let estimate = |ratios: &LogRatios| Estimate {
            adjusted_p: difference[at].p,
            adjusted_sameness_p: sameness[at].p,
            ..Estimate::of(ratios, within, interim, tests)
        };
        let question = Question {
            metric: *metric,
            ratios: ratios.as_ref(),
            difference: difference[at],
            sameness: sameness[at],
            within,
            interim,
            min_pairs: design.pairs.min,
            counting: counting.len() as u32,
            telling: values(*metric, &counting).len() as u32,
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
            with_discarded: with_discarded
                .map(|ratios| Estimate::of(&ratios, within, interim, tests)),
            stability: Stability::of(*metric, &counting),
        });
    }
    comparisons
}

/// Returns a p-value for each metric: the first (primary) as given, the others adjusted among themselves (Holm).
fn adjusted(
    ratios: &[(Metric, Option<LogRatios>)],
    p: impl Fn(&LogRatios) -> f64,
) -> Vec<Adjusted> {
    let raw: Vec<f64> = ratios
        .iter()
        .map(|(_, ratios)| ratios.as_ref().map_or(1.0, &p))
        .collect();
    let secondary = holm(raw.get(1..).unwrap_or_default());
    let primary = raw.into_iter().take(1).map(|p| Adjusted { p, factor: 1 });
    primary.chain(secondary).collect()
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
    use super::super::analyse;
    use super::super::fixture::{self, primary, run_with_rate};
    use super::*;
    use crate::scenario::Share;

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
    fn of_a_resource_a_variant_uses_more_or_less() {
        let mut run = run_with_rate(1.0);
        run.header.scenario.design.primary = Metric::CpuSPerRequest;
        for block in &mut run.blocks {
            if block.arm == Arm::Variant {
                block.server.user_seconds *= 0.7;
            }
        }
        assert_eq!(primary(&run).verdict.word(), "LESS CPU");
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
    fn an_analysis_can_be_written_as_json_and_is_the_same_twice() {
        let mut run = run_with_rate(1.02);
        run.header.scenario.design.same_within = Share(0.01);
        let write = || serde_json::to_string(&analyse(&run, &[])).expect("writes");
        assert_eq!(write(), write());
        assert!(write().contains("\"word\":"));
    }
}
