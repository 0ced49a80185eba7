//! Checks of the experiment itself. Each file looks for one mistake that the field reports (five published benchmarks)
//! made, or could have made, without noticing.

mod aa_suspect;
mod client_saturation;
mod clock_resolution;
mod clock_step;
mod delayed_ack;
mod disagreement;
mod fixed_rate;
mod late_samples;
mod littles_law;
mod load_windows;
mod lower_cpu;
mod one_order;
mod page_faults;
mod ramp_share;
mod reply_bytes;
mod send_lag;
mod small_effect;
mod starved_connection;
mod tail_samples;
mod uncounted_cpu;
mod undecoded;
mod unread_assertion;
mod unsteady;

use serde::Serialize;

use super::{Analysis, Summary};
use crate::record::{Arm, Block, Purpose, Run};
use crate::stats::median;

/// A mistake or weakness of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The check's name, e.g. `littles-law`.
    pub name: &'static str,
    /// The severity of the finding.
    pub severity: Severity,
    /// What was found, with the numbers, as a sentence.
    pub sentence: String,
    /// The remedy, as a sentence.
    pub advice: &'static str,
}

/// How much a finding matters, most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The results do not mean what they seem to mean.
    Critical,
    /// The results may mislead.
    Warning,
    /// Information that helps to interpret the results.
    Note,
}

/// A check of the experiment itself.
#[derive(Debug)]
pub struct SelfCheck {
    /// The check's name in findings.
    pub name: &'static str,
    /// What the check looks for, for the documentation.
    pub about: &'static str,
    examine: fn(&Evidence<'_>) -> Vec<Remark>,
}

/// All checks, in the order in which equally severe findings are reported.
pub const ALL: &[SelfCheck] = &[
    one_order::CHECK,
    aa_suspect::CHECK,
    disagreement::CHECK,
    small_effect::CHECK,
    reply_bytes::CHECK,
    undecoded::CHECK,
    unread_assertion::CHECK,
    littles_law::CHECK,
    ramp_share::CHECK,
    unsteady::CHECK,
    starved_connection::CHECK,
    fixed_rate::CHECK,
    send_lag::CHECK,
    client_saturation::CHECK,
    tail_samples::CHECK,
    clock_resolution::CHECK,
    delayed_ack::CHECK,
    clock_step::CHECK,
    load_windows::CHECK,
    lower_cpu::CHECK,
    uncounted_cpu::CHECK,
    page_faults::CHECK,
    late_samples::CHECK,
];

/// Returns the findings of all checks, the most severe first.
pub(super) fn findings(run: &Run, analysis: &Analysis) -> Vec<Finding> {
    let evidence = Evidence { run, analysis };
    let mut all: Vec<Finding> = ALL
        .iter()
        .flat_map(|check| check.findings(&evidence))
        .collect();
    // The sort is stable, so that findings of equal severity stay in the order of the list.
    all.sort_by_key(|finding| finding.severity);
    all
}

impl SelfCheck {
    fn findings(&self, evidence: &Evidence<'_>) -> Vec<Finding> {
        let finding = |remark: Remark| Finding {
            name: self.name,
            severity: remark.severity,
            sentence: remark.sentence,
            advice: remark.advice,
        };
        (self.examine)(evidence).into_iter().map(finding).collect()
    }
}

/// What a check reports: a finding that still lacks the check's name.
struct Remark {
    severity: Severity,
    sentence: String,
    advice: &'static str,
}

/// What the checks examine: the run and its analysis so far, without findings.
struct Evidence<'a> {
    run: &'a Run,
    analysis: &'a Analysis,
}

/// One variant with its blocks, as a check sees it.
struct Subject<'a> {
    summary: &'a Summary,
    /// The blocks that count; if none does, all that reached a measured window.
    blocks: Vec<&'a Block>,
}

impl<'a> Evidence<'a> {
    /// Returns every variant that has blocks, the baseline first, without the A/A arm.
    fn subjects(&self) -> Vec<Subject<'a>> {
        let run = self.run;
        let variants = self
            .analysis
            .summaries
            .iter()
            .filter(|it| it.arm != Arm::Again);
        variants
            .map(|summary| {
                let measured = || {
                    run.blocks
                        .iter()
                        .filter(|it| it.arm != Arm::Again && it.variant == summary.variant)
                };
                let mut blocks: Vec<&Block> = measured().filter(|block| block.counts()).collect();
                if blocks.is_empty() {
                    blocks = measured().filter(|block| block.failure.is_none()).collect();
                }
                Subject { summary, blocks }
            })
            .filter(|subject| !subject.blocks.is_empty())
            .collect()
    }

    /// Whether the run only observes one server and compares nothing. Checks of comparisons do not apply to it.
    fn observes(&self) -> bool {
        self.run.header.purpose == Purpose::Observation
    }

    /// Returns the baseline paired with each other variant. Empty for a run that only observes, because its variants
    /// are connection levels of one server and are meant to differ in CPU use and window length.
    fn versus_baseline(&self) -> Vec<(Subject<'a>, Subject<'a>)> {
        if self.observes() {
            return Vec::new();
        }
        let (baselines, others): (Vec<_>, Vec<_>) = self
            .subjects()
            .into_iter()
            .partition(|it| it.summary.arm == Arm::Baseline);
        let Some(baseline) = baselines.into_iter().next() else {
            return Vec::new();
        };
        let with_baseline = |other| {
            let blocks = baseline.blocks.clone();
            (
                Subject {
                    summary: baseline.summary,
                    blocks,
                },
                other,
            )
        };
        others.into_iter().map(with_baseline).collect()
    }

    /// Runs `look` on each variant and returns its remarks.
    fn each(&self, look: impl Fn(&Subject<'a>) -> Option<Remark>) -> Vec<Remark> {
        self.subjects().iter().filter_map(look).collect()
    }
}

impl<'a> Subject<'a> {
    fn name(&self) -> &'a str {
        &self.summary.name
    }

    /// Returns the median of a value over the blocks that have it.
    fn median(&self, of: impl Fn(&Block) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.blocks.iter().filter_map(|block| of(block)).collect();
        median(&values)
    }

    /// Returns the block with the largest value, and that value.
    fn worst(&self, of: impl Fn(&Block) -> Option<f64>) -> Option<(&'a Block, f64)> {
        let values = self
            .blocks
            .iter()
            .filter_map(|block| Some((*block, of(block)?)));
        values.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{analyse, fixture};
    use super::*;

    /// Returns the findings of one check on a run.
    pub(super) fn found(check: &SelfCheck, run: &Run) -> Vec<Finding> {
        let analysis = analyse(run, &[]);
        check.findings(&Evidence {
            run,
            analysis: &analysis,
        })
    }

    /// Returns the sentence of the check's only finding; fails if there is not exactly one.
    pub(super) fn sentence(check: &SelfCheck, run: &Run) -> String {
        let found = found(check, run);
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0].sentence.clone()
    }

    #[test]
    fn a_calm_run_has_no_findings() {
        let analysis = analyse(&fixture::run(3, 10, |_| {}), &[]);
        assert_eq!(analysis.findings, []);
    }

    #[test]
    fn a_run_without_a_single_block_is_survived_by_every_check() {
        let mut run = fixture::run(2, 10, |_| {});
        run.blocks.clear();
        let analysis = analyse(&run, &[]);
        assert!(
            analysis
                .findings
                .iter()
                .all(|finding| finding.name == "one-order")
        );
    }

    /// Runs of `bench -c 1,10 -R 200` and `replay` give no findings about what these commands cannot avoid: no pairs, a
    /// requested rate, bodies that are not checked, and numbers of connections that differ.
    #[test]
    fn what_a_command_makes_inevitable_is_not_held_against_it() {
        let mut run = fixture::run(2, 1, |block| {
            if block.variant == 1 {
                fixture::set_rate(block, 150.0);
            }
        });
        run.blocks.retain(|block| block.arm != Arm::Again);
        for (at, block) in run.blocks.iter_mut().enumerate() {
            block.pair = at as u32;
        }
        run.header.scenario.load.mode = crate::scenario::Mode::Open;
        run.header.scenario.load.rate = 200.0;
        run.header.scenario.check.body = crate::scenario::BodyCheck::None;
        let found = |run: &Run| -> Vec<&str> {
            let found = analyse(run, &[]).findings;
            found.into_iter().map(|finding| finding.name).collect()
        };
        let compared = found(&run);
        for name in ["one-order", "fixed-rate", "undecoded"] {
            assert!(compared.contains(&name), "{name}: {compared:?}");
        }
        run.header.purpose = Purpose::Observation;
        assert_eq!(found(&run), Vec::<&str>::new());
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = ALL.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|check| !check.about.is_empty()));
    }

    #[test]
    fn the_most_severe_come_first() {
        let run = fixture::run(2, 10, |block| {
            block.noise.clock_step = 1.0;
            block.client.busy = 0.99;
        });
        let severities: Vec<_> = analyse(&run, &[])
            .findings
            .iter()
            .map(|finding| finding.severity)
            .collect();
        assert!(
            severities.is_sorted() && severities.len() > 2,
            "{severities:?}"
        );
    }
}
