//! A variant's metrics in two runs, and the verdicts on their differences.

use serde::Serialize;

use super::blocks;
use crate::analysis::{Verdict, contrasts, pairs};
use crate::record::{Arm, Run};
use crate::scenario::Metric;
use crate::stats::{Interval, LogApart, Spread, rank_sum};

/// One metric of a variant, compared between two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The variant's name.
    pub name: String,
    /// The metric that is compared.
    pub metric: Metric,
    /// The way in which the two runs are compared.
    pub how: How,
    /// Whether this is the primary metric that the new run declared.
    pub primary: bool,
    /// Number of blocks (or pairs) in the old run and in the new one.
    pub counts: (u32, u32),
    /// Geometric means of the old run and of the new one: in the metric's unit, or of ratios to the baseline.
    pub means: (f64, f64),
    /// New mean divided by old mean; `None` with fewer than two blocks in either run.
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of `ratio`. It is widened by how much the machine's speed changed between the runs,
    /// except for memory and for ratios to a baseline.
    pub interval_95: Option<Interval>,
    /// p-value of "neither run tends to be higher" (rank-sum test).
    pub rank_sum_p: Option<f64>,
    /// The conclusion: better, worse, equal, undecided, or why the comparison is not valid.
    pub verdict: Verdict,
}

/// The way in which two runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// By the variant's own blocks. Drift between the runs is part of the ratio.
    Plainly,
    /// By the variant's ratios to a baseline that both runs have, interleaved in each.
    BesideBaseline,
}

pub(super) struct Question<'a> {
    pub(super) old: &'a Run,
    pub(super) new: &'a Run,
    pub(super) widening: f64,
    pub(super) within: f64,
    pub(super) obstacle: Option<&'a str>,
}

impl Figure {
    /// Whether both runs have enough blocks to draw a conclusion from.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.counts.0.min(self.counts.1) as usize >= FEWEST
    }
}

impl Question<'_> {
    /// Returns all figures of a variant, the primary metric first. `other_work` says why its replies in the two runs
    /// are not equivalent, if they are not.
    pub(super) fn figures(
        &self,
        (old, new): (usize, usize),
        other_work: Option<String>,
    ) -> Vec<Figure> {
        let primary = self.new.header.scenario.design.primary;
        let objection = self
            .obstacle
            .map(str::to_owned)
            .or_else(|| failed(self.old, old, "old"))
            .or_else(|| failed(self.new, new, "new"))
            .or(other_work);
        let mut metrics = vec![primary];
        metrics.extend(Metric::ALL.into_iter().filter(|it| *it != primary));
        let mut all = Vec::new();
        for metric in metrics {
            let of = |run, variant| -> Vec<f64> {
                blocks(run, variant)
                    .filter_map(|it| metric.of(it))
                    .collect()
            };
            let values = (of(self.old, old), of(self.new, new));
            // The CPU calibration measures speed, which does not affect memory.
            let widening = if metric == Metric::Rss {
                1.0
            } else {
                self.widening
            };
            let figure = |how, values: &(Vec<f64>, Vec<f64>), widening| {
                let mut figure = self.figure(metric, how, values, widening);
                figure.name.clone_from(&self.new.header.variants[new].name);
                figure.primary = metric == primary;
                if let Some(why) = &objection {
                    figure.verdict = Verdict::Invalid { why: why.clone() };
                }
                figure
            };
            let empty = values.0.is_empty() && values.1.is_empty();
            if metric == primary || !empty {
                all.push(figure(How::Plainly, &values, widening));
            }
            if let Some(ratios) = self.beside_baseline(metric, (old, new)) {
                all.push(figure(How::BesideBaseline, &ratios, 1.0));
            }
        }
        all
    }

    /// Returns the ratios to the baseline in both runs; `None` if the baseline is not the same in both, or if this
    /// variant is the baseline itself.
    fn beside_baseline(
        &self,
        metric: Metric,
        (old, new): (usize, usize),
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        if old == 0 || new == 0 {
            return None;
        }
        let first = |run: &Run| {
            let hash = run.header.programs.first().filter(|it| !it.is_empty());
            run.header.variants.first().cloned().zip(hash.cloned())
        };
        if first(self.old)? != first(self.new)? {
            return None;
        }
        let ratios = |run: &Run, variant: usize| -> Vec<f64> {
            let of_variant = |it: &&_| contrast_is(it, variant as u32);
            let contrast = contrasts(run).iter().find(of_variant).copied();
            let pairs = contrast.map(|it| pairs(run, it)).unwrap_or_default();
            let counting = pairs.iter().filter(|pair| pair.counts());
            counting
                .filter_map(|pair| Some(metric.of(pair.other)? / metric.of(pair.baseline)?))
                .collect()
        };
        Some((ratios(self.old, old), ratios(self.new, new)))
    }

    fn figure(
        &self,
        metric: Metric,
        how: How,
        (old, new): &(Vec<f64>, Vec<f64>),
        widening: f64,
    ) -> Figure {
        let mean = |values: &[f64]| {
            let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            Spread::of(&logs).map_or(0.0, |spread| spread.mean.exp())
        };
        let comparison = LogApart::new(old, new);
        let rank_sum_p = rank_sum(old, new).map(|it| it.p);
        let enough = old.len().min(new.len()) >= FEWEST;
        Figure {
            name: String::new(),
            metric,
            how,
            primary: false,
            counts: (old.len() as u32, new.len() as u32),
            means: (mean(old), mean(new)),
            ratio: comparison.map(|it| it.ratio()),
            interval_95: comparison.map(|it| it.interval(0.95, widening)),
            rank_sum_p,
            verdict: match comparison {
                Some(comparison) if enough => {
                    self.verdict(metric, &comparison, widening, rank_sum_p)
                }
                _ => self.undecided(comparison.map(|it| it.interval(0.95, widening))),
            },
        }
    }

    /// Returns the verdict. Sameness is tested first, as within a run. A difference must be shown both by the interval
    /// and by ranks.
    fn verdict(
        &self,
        metric: Metric,
        comparison: &LogApart,
        widening: f64,
        rank_sum_p: Option<f64>,
    ) -> Verdict {
        if comparison.interval(0.90, widening).within(self.within) {
            return Verdict::Same {
                within: self.within,
                tiny: None,
            };
        }
        let interval = comparison.interval(0.95, widening);
        if interval.contains(1.0) || rank_sum_p.is_none_or(|p| p >= 0.05) {
            return self.undecided(Some(interval));
        }
        let better = (interval.low > 1.0) == metric.more_is_better();
        Verdict::certain(metric, better)
    }

    fn undecided(&self, interval: Option<Interval>) -> Verdict {
        Verdict::Undecided {
            half_width: interval.map(|it| (it.high / it.low).sqrt() - 1.0),
            within: self.within,
            more_pairs: None,
            seconds: None,
            least: None,
            untold: None,
        }
    }
}

fn contrast_is(contrast: &crate::analysis::Contrast, variant: u32) -> bool {
    contrast.arm == Arm::Variant && contrast.variant == variant
}

/// Returns a message about failed requests in the variant's blocks, if there are any: a rate with failures is not
/// comparable.
fn failed(run: &Run, variant: usize, which: &str) -> Option<String> {
    let (mut failed, mut sent) = (0, 0);
    for block in blocks(run, variant) {
        failed += block.load.failures.all();
        sent += block.load.sent;
    }
    (failed > 0).then(|| format!("{failed} of {sent} requests failed in the {which} run"))
}

/// Number of blocks that each run needs for a verdict. Four against four can reach p = 0.029 by ranks; three against
/// three cannot reach 0.05.
const FEWEST: usize = 4;
