//! The verdict: one word for each comparison and metric, with the numbers that belong to it.

use std::fmt;

use serde::Serialize;

use super::interim::InterimAnalyses;
use crate::scenario::Metric;
use crate::stats::{Adjusted, LogRatios, pairs_until_a_verdict};

/// The conclusion of a comparison. Not finding a difference is not a conclusion: equality within a bound has to be
/// shown like a difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "word", rename_all = "kebab-case")]
pub enum Verdict {
    /// The variant is faster: the 95 % interval of the ratio excludes 1, and the two are not shown to be the same
    /// within ±`design.same_within`.
    Faster,
    /// The variant is slower: the 95 % interval of the ratio excludes 1, and the two are not shown to be the same
    /// within ±`design.same_within`.
    Slower,
    /// The variant uses less of a resource.
    Less {
        /// The resource that the variant uses less of.
        of: Resource,
    },
    /// The variant uses more of a resource.
    More {
        /// The resource that the variant uses more of.
        of: Resource,
    },
    /// The variant is shown to be equal to the baseline: the 90 % interval of the ratio lies within ±`within`.
    Same {
        /// The largest difference that counts as the same, as a share: 0.03 for ±3 %.
        within: f64,
        /// The difference as a share, if it is certain (the 95 % interval excludes a ratio of 1) but too small to
        /// matter: −0.008 for 0.8 % less.
        tiny: Option<f64>,
    },
    /// Neither a difference from the baseline nor equality within ±`within` could be shown.
    Undecided {
        /// Half the width of the 95 % interval of the ratio, as a share; `None` with fewer than two pairs.
        half_width: Option<f64>,
        /// The largest difference that would count as the same, as a share: 0.03 for ±3 %.
        within: f64,
        /// Estimated number of further pairs until there is a verdict, if mean and spread stay as they are. `None` if
        /// no realistic number of pairs would suffice.
        more_pairs: Option<u32>,
        /// Estimated time in seconds to run the further pairs (`more_pairs`).
        seconds: Option<f64>,
        /// The required minimum number of pairs, if fewer were run: then there is no verdict, however clear the pairs
        /// look.
        #[serde(skip_serializing_if = "Option::is_none")]
        least: Option<u32>,
        /// Of the pairs that count, the number without a value of the metric, and the total number; `None` if all have
        /// a value. More such pairs would not help, only longer blocks.
        #[serde(skip_serializing_if = "Option::is_none")]
        untold: Option<(u32, u32)>,
    },
    /// The comparison is invalid: its numbers do not measure what they seem to measure.
    Invalid {
        /// Why the comparison is invalid.
        why: String,
    },
    /// An assertion does not hold: the setting that the variant changes did not reach the server, so nothing was
    /// compared.
    SwitchInactive {
        /// The assertion as written in the scenario, such as `threads_peak <= 3`.
        assertion: String,
        /// The observed value, for which the assertion does not hold.
        seen: String,
        /// Number of blocks (or counting passes) in which the assertion did not hold.
        blocks: u32,
        /// Number of blocks (or counting passes) in which the assertion was read.
        of: u32,
    },
}

/// A resource that a server uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// CPU time.
    Cpu,
    /// Memory.
    Memory,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU",
            Self::Memory => "memory",
        })
    }
}

/// The input to a verdict, after replies and assertions have been found to be in order.
pub(super) struct Question<'a> {
    pub(super) metric: Metric,
    /// The ratios of the metric between the two blocks of each pair; `None` with fewer than two pairs.
    pub(super) ratios: Option<&'a LogRatios>,
    /// p-value of a difference, adjusted for all interim analyses, and for the other metrics if this is a secondary
    /// one.
    pub(super) difference: Adjusted,
    /// p-value of the test that the ratio is the same within ±`within`. Adjusted in the same way as the p-value of a
    /// difference.
    pub(super) sameness: Adjusted,
    pub(super) within: f64,
    pub(super) interim: InterimAnalyses,
    pub(super) min_pairs: u32,
    /// Number of pairs of which neither block was discarded or failed, so that they count.
    pub(super) counting: u32,
    /// Number of counting pairs that have a value of the metric.
    pub(super) telling: u32,
    pub(super) seconds_per_pair: Option<f64>,
}

impl Question<'_> {
    /// Returns the verdict. Equality within ±`within` is tested first, so that a certain but small difference is
    /// reported as the same (tiny) rather than as an effect.
    pub(super) fn answer(&self) -> Verdict {
        let Some(ratios) = self.ratios else {
            return self.undecided();
        };
        if (ratios.count() as u32) < self.min_pairs {
            return self.undecided();
        }
        let differs = self.difference.p < 0.05;
        if self.sameness.p < 0.05 {
            let tiny = differs.then(|| ratios.mean().exp_m1());
            let within = self.within;
            return Verdict::Same { within, tiny };
        }
        if !differs {
            return self.undecided();
        }
        let better = (ratios.mean() > 0.0) == self.metric.more_is_better();
        Verdict::certain(self.metric, better)
    }

    fn undecided(&self) -> Verdict {
        let have = self.telling;
        let projected = match self.ratios {
            Some(ratios) => {
                let (mean, deviation) = (ratios.mean(), ratios.deviation());
                // A design with more pairs has more interim analyses, each with a smaller part of the error.
                let errors = |pairs: usize| {
                    let interim = self.interim.up_to(u32::try_from(pairs).unwrap_or(u32::MAX));
                    let error = |it: Adjusted| 1.0 - interim.each(0.95, it.factor);
                    (error(self.difference), error(self.sameness))
                };
                pairs_until_a_verdict(mean, deviation, self.within, errors, ratios.count())
                    .and_then(|pairs| u32::try_from(pairs).ok())
            }
            None => Some(self.min_pairs),
        };
        let telling = f64::from(have) / f64::from(self.counting.max(1));
        let shortfall = projected.map(|pairs| pairs.max(self.min_pairs).saturating_sub(have));
        // The forecast assumes that the share of pairs without a value of the metric stays the same.
        let more_pairs = match self.counting {
            0 => shortfall,
            _ if have == 0 => None,
            _ => shortfall.map(|pairs| (f64::from(pairs) / telling).ceil() as u32),
        };
        Verdict::Undecided {
            half_width: self
                .ratios
                .map(|ratios| ratios.half_width(self.interim.each(0.95, self.difference.factor))),
            within: self.within,
            more_pairs,
            seconds: more_pairs
                .zip(self.seconds_per_pair)
                .map(|(pairs, each)| f64::from(pairs) * each),
            least: (have < self.min_pairs).then_some(self.min_pairs),
            untold: (have < self.counting).then_some((self.counting - have, self.counting)),
        }
    }
}

impl Verdict {
    /// Returns the verdict for a difference in `metric` that has been shown statistically; `better` is its direction.
    pub(crate) fn certain(metric: Metric, better: bool) -> Self {
        match (metric.resource(), better) {
            (None, true) => Self::Faster,
            (None, false) => Self::Slower,
            (Some(of), true) => Self::Less { of },
            (Some(of), false) => Self::More { of },
        }
    }

    /// Returns the verdict's word, e.g. `FASTER` or `SWITCH INACTIVE`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Faster => "FASTER",
            Self::Slower => "SLOWER",
            Self::Less { of: Resource::Cpu } => "LESS CPU",
            Self::Less {
                of: Resource::Memory,
            } => "LESS MEMORY",
            Self::More { of: Resource::Cpu } => "MORE CPU",
            Self::More {
                of: Resource::Memory,
            } => "MORE MEMORY",
            Self::Same { .. } => "SAME",
            Self::Undecided { .. } => "UNDECIDED",
            Self::Invalid { .. } => "INVALID",
            Self::SwitchInactive { .. } => "SWITCH INACTIVE",
        }
    }
}

/// Writes the word with its numbers, e.g. `SAME within ±3 % (tiny, +0.8 %)`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Faster | Self::Slower | Self::Less { .. } | Self::More { .. } => Ok(()),
            Self::Same { within, tiny } => {
                write!(f, " within ±{}", percent(*within))?;
                match tiny {
                    Some(effect) => write!(f, " (tiny, {:+.1} %)", effect * 100.0),
                    None => Ok(()),
                }
            }
            Self::Undecided {
                half_width,
                within,
                more_pairs,
                seconds,
                least,
                untold,
            } => {
                if let Some((untold, all)) = untold {
                    write!(
                        f,
                        ": {untold} of {all} pairs do not tell it, which takes longer blocks"
                    )?;
                }
                match (half_width, least) {
                    _ if untold.is_some_and(|(untold, all)| untold == all) => {}
                    (None, _) => f.write_str(": fewer than two pairs")?,
                    (_, Some(least)) => write!(f, ": fewer than {least} pairs")?,
                    (Some(half), None) => {
                        write!(
                            f,
                            ": interval ±{}, target ±{}",
                            percent(*half),
                            percent(*within)
                        )?;
                    }
                }
                match more_pairs {
                    Some(pairs) => write!(f, "; about {pairs} more pairs")?,
                    None if untold.is_some_and(|(untold, all)| untold == all) => {}
                    None => f.write_str("; no number of pairs in sight would do")?,
                }
                match seconds {
                    Some(seconds) => write!(f, " ({})", duration(*seconds)),
                    None => Ok(()),
                }
            }
            Self::Invalid { why } => write!(f, ": {why}"),
            Self::SwitchInactive {
                assertion,
                seen,
                blocks,
                of,
            } => write!(
                f,
                ": {assertion}, but saw {seen} in {blocks}/{of}; no verdict given"
            ),
        }
    }
}

/// Formats a share as a percentage with the digits that matter, e.g. `0.8 %` or `12 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() >= 10.0 || (percent - percent.round()).abs() < 1e-9 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

fn duration(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{seconds:.0} s")
    } else if seconds < 5400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{BlockOrder, Design};
    use crate::stats::Random;

    /// Returns ratios of `pairs` pairs that have exactly this mean and deviation of ln(b/a).
    fn ratios(mean: f64, deviation: f64, pairs: u32) -> LogRatios {
        let mut random = Random::new(1);
        let raw: Vec<f64> = (0..pairs).map(|_| random.normal()).collect();
        let spread = crate::stats::Spread::of(&raw).unwrap();
        let scaled = |x: &f64| mean + (x - spread.mean) / spread.deviation * deviation;
        let pairs: Vec<_> = raw.iter().map(|x| (1.0, scaled(x).exp())).collect();
        LogRatios::new(&pairs).unwrap()
    }

    fn alone(p: f64) -> Adjusted {
        Adjusted { p, factor: 1 }
    }

    fn one_analysis() -> InterimAnalyses {
        InterimAnalyses::of(&Design {
            order: BlockOrder::Sequential,
            ..Design::default()
        })
    }

    fn ask(metric: Metric, ratios: &LogRatios) -> Verdict {
        Question {
            metric,
            ratios: Some(ratios),
            difference: alone(ratios.p_value()),
            sameness: alone(ratios.sameness_p(0.03)),
            within: 0.03,
            interim: one_analysis(),
            min_pairs: 6,
            counting: ratios.count() as u32,
            telling: ratios.count() as u32,
            seconds_per_pair: Some(20.0),
        }
        .answer()
    }

    #[test]
    fn the_direction_depends_on_what_is_measured() {
        let more = ratios(0.10, 0.02, 10);
        assert_eq!(ask(Metric::Throughput, &more), Verdict::Faster);
        assert_eq!(ask(Metric::P99, &more), Verdict::Slower);
        assert_eq!(ask(Metric::CpuSPerRequest, &more).word(), "MORE CPU");
        let less = ratios(-0.10, 0.02, 10);
        assert_eq!(ask(Metric::Throughput, &less), Verdict::Slower);
        assert_eq!(ask(Metric::Rss, &less).word(), "LESS MEMORY");
    }

    #[test]
    fn a_certain_difference_inside_of_the_bound_is_the_same_and_tiny() {
        let verdict = ask(Metric::Throughput, &ratios(0.008, 0.004, 12));
        assert_eq!(verdict.to_string(), "SAME within ±3 % (tiny, +0.8 %)");
        let verdict = ask(Metric::Throughput, &ratios(0.0, 0.01, 12));
        assert_eq!(verdict.to_string(), "SAME within ±3 %");
    }

    #[test]
    fn noise_without_a_difference_is_undecided_and_tells_what_is_missing() {
        let verdict = ask(Metric::Throughput, &ratios(0.0, 0.10, 10));
        let Verdict::Undecided {
            half_width: Some(half),
            more_pairs: Some(more),
            seconds: Some(seconds),
            ..
        } = verdict
        else {
            panic!("{verdict}");
        };
        assert!((half - 0.074).abs() < 0.001, "{half}");
        // The smallest n with t × 0.10 / √n ≤ ln 1.03 (t one-sided at 5 %).
        assert_eq!(more, 23);
        assert_eq!(seconds, 460.0);
        assert!(
            verdict.to_string().contains("about 23 more pairs (8 min)"),
            "{verdict}"
        );
    }

    /// If the mean and the deviation of the pairs do not change, the forecast number of pairs gives a verdict, and one
    /// pair fewer does not. Both are judged with the interim analyses of a design with that number of pairs.
    #[test]
    fn a_forecast_of_so_many_pairs_keeps_its_promise() {
        for (factor, mean) in [(1, 0.0), (5, 0.0), (1, 0.08), (5, 0.08)] {
            let verdict = |pairs: u32, max: u32| {
                let ratios = ratios(mean, 0.10, pairs);
                let design = Design {
                    order: BlockOrder::PairsRandom,
                    pairs: crate::scenario::Pairs {
                        min: 6,
                        max,
                        ..Default::default()
                    },
                    ..Design::default()
                };
                let interim = InterimAnalyses::of(&design);
                let adjusted = |p: f64| Adjusted {
                    p: interim.together(p) * f64::from(factor),
                    factor,
                };
                Question {
                    metric: Metric::Throughput,
                    ratios: Some(&ratios),
                    difference: adjusted(ratios.p_value()),
                    sameness: adjusted(ratios.sameness_p(0.03)),
                    within: 0.03,
                    interim,
                    min_pairs: 6,
                    counting: pairs,
                    telling: pairs,
                    seconds_per_pair: None,
                }
                .answer()
            };
            let Verdict::Undecided {
                more_pairs: Some(more),
                ..
            } = verdict(8, 20)
            else {
                panic!("{}", verdict(8, 20));
            };
            let enough = 8 + more;
            let then = verdict(enough, enough.max(20));
            assert_ne!(then.word(), "UNDECIDED", "{factor} {mean}: {enough}");
            let sooner = verdict(enough - 1, (enough - 1).max(20));
            assert_eq!(sooner.word(), "UNDECIDED", "{factor} {mean}: {enough}");
        }
    }

    #[test]
    fn fewer_pairs_than_planned_decide_nothing() {
        let verdict = ask(Metric::Throughput, &ratios(0.5, 0.01, 3));
        assert!(
            matches!(
                verdict,
                Verdict::Undecided {
                    more_pairs: Some(3),
                    ..
                }
            ),
            "{verdict}"
        );
        let text = verdict.to_string();
        assert!(text.starts_with("UNDECIDED: fewer than 6 pairs;"), "{text}");
        let told = |counting: u32| {
            let nothing = Question {
                metric: Metric::Throughput,
                ratios: None,
                difference: alone(1.0),
                sameness: alone(1.0),
                within: 0.03,
                interim: one_analysis(),
                min_pairs: 6,
                counting,
                telling: 0,
                seconds_per_pair: None,
            };
            nothing.answer().to_string()
        };
        let text = "UNDECIDED: fewer than two pairs; about 6 more pairs";
        assert_eq!(told(0), text);
        // No pair has a value of the metric.
        let text = "UNDECIDED: 8 of 8 pairs do not tell it, which takes longer blocks";
        assert_eq!(told(8), text);
    }

    #[test]
    fn pairs_that_do_not_tell_the_metric_are_reckoned_with() {
        let four = ratios(0.0, 0.01, 4);
        let verdict = Question {
            metric: Metric::P99,
            ratios: Some(&four),
            difference: alone(four.p_value()),
            sameness: alone(four.sameness_p(0.03)),
            within: 0.03,
            interim: one_analysis(),
            min_pairs: 6,
            counting: 12,
            telling: 4,
            seconds_per_pair: None,
        }
        .answer();
        let text = verdict.to_string();
        assert!(text.contains("8 of 12 pairs do not tell it"), "{text}");
        assert!(
            text.ends_with("fewer than 6 pairs; about 6 more pairs"),
            "{text}"
        );
    }
}
