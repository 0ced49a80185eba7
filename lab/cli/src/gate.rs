//! `andon-lab gate`: an exit code for scripts that distinguishes a regression from noise and from a broken experiment.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use andon_lab::analysis::{Role, Verdict};
use andon_lab::record::{Arm, Run};
use andon_lab::report::between::{title, verdict};
use andon_lab::scenario::{Metric, Share};
use andon_lab::stats::Interval;
use anyhow::{anyhow, bail};

use super::baseline::Store;
use super::diff::compare;
use super::judged_run::JudgedRun;
use super::{INVALID, REGRESSION, UNDECIDED};
use andon_terminal::print;

/// Judge a finished run by its scenario's gate: exit 0 passed, 1 regression, 2 undecided, 3 invalid
///
/// A loss is a regression if its whole 95 % interval lies beyond what the rule allows, and passes if all of it lies
/// within. If the interval lies on both sides of that limit, the comparison is UNDECIDED, which fails the gate unless
/// --allow-undecided is given. Comparisons that are INVALID or whose switch was inactive always fail it, whatever the
/// rules say.
///
/// The gate judges the run's own comparisons, which were interleaved. If a baseline is saved for its scenario and
/// machine (`andon-lab baseline save`), or one is given, the run is also compared with that. A run with a single
/// variant needs a baseline.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The run's folder
    run: PathBuf,
    /// Rules that replace the scenario's: 'primary slower than 5%', 'p99 slower than 10%', 'rss more than 10%', 'any
    /// INVALID', 'any SWITCH INACTIVE', 'any UNDECIDED'
    #[arg(long, value_name = "RULE")]
    fail: Vec<String>,
    /// Exit with 0 even if a comparison is UNDECIDED, that is, may be a regression
    #[arg(long)]
    allow_undecided: bool,
    /// Compare the run with this baseline: a name, or a run's folder [default: the scenario's, if one is saved]
    #[arg(long, value_name = "NAME", conflicts_with = "no_baseline")]
    baseline: Option<String>,
    /// Do not compare the run with a baseline
    #[arg(long)]
    no_baseline: bool,
    #[command(flatten)]
    store: Store,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let new = JudgedRun::read(&args.run)?;
    let rules = if args.fail.is_empty() {
        &new.run.header.scenario.gate.fail
    } else {
        &args.fail
    };
    let rules = rules
        .iter()
        .map(|rule| Rule::parse(rule))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut result = GateResult::new(rules, args.allow_undecided);
    let design = &new.run.header.scenario.design;
    let variants = (new.analysis.comparisons.iter()).filter(|it| it.arm == Arm::Variant);
    for it in variants {
        let estimate = it.estimate.as_ref();
        result.add(&Compared {
            what: format!("{} / {}", it.name, it.baseline),
            metric: it.metric,
            is_primary: it.role == Role::Primary,
            verdict: &it.verdict,
            words: it.verdict.to_string(),
            ratio: estimate.map(|it| (it.ratio, it.interval_95)),
            enough: estimate.is_some_and(|it| it.pairs >= design.pairs.min),
            pairs_to_clear: &|limit| {
                let enough = estimate?.pairs_to_clear(limit, design, it.role)?;
                Some(enough.saturating_sub(estimate?.pairs))
            },
        });
    }
    if let Some(folder) = baseline(args, &new.run)? {
        let (saved, _, between) = compare(&folder, &args.run, None)?;
        result.text += &format!("compared with {}\n", title(&saved));
        for line in between.caveats() {
            result.text += &format!("  {line}\n");
        }
        for it in between.trusted() {
            result.add(&Compared {
                what: format!("{} now / then", it.name),
                metric: it.metric,
                is_primary: it.primary,
                verdict: &it.verdict,
                words: verdict(&it.verdict),
                ratio: it.ratio.zip(it.interval_95),
                enough: it.is_enough(),
                pairs_to_clear: &|_| None,
            });
        }
    }
    if result.count == 0 {
        eprintln!(
            "andon-lab: {}: nothing was compared, so there is nothing to judge: give it a --baseline",
            args.run.display()
        );
        return Ok(ExitCode::from(INVALID));
    }
    print(result.text.as_bytes())?;
    Ok(ExitCode::from(result.worst))
}

/// Returns the folder of the baseline that the run is compared with, if any.
fn baseline(args: &Args, run: &Run) -> anyhow::Result<Option<PathBuf>> {
    match &args.baseline {
        _ if args.no_baseline => Ok(None),
        Some(folder) if Path::new(folder).join("run.json").exists() => Ok(Some(folder.into())),
        Some(name) => args.store.folder_of(name, run).map(Some),
        None => args.store.of(run),
    }
}

/// The outcome of applying the rules to all comparisons.
struct GateResult {
    rules: Vec<Rule>,
    allow_undecided: bool,
    text: String,
    worst: u8,
    count: usize,
}

impl GateResult {
    fn new(rules: Vec<Rule>, allow_undecided: bool) -> Self {
        Self {
            rules,
            allow_undecided,
            text: String::new(),
            worst: 0,
            count: 0,
        }
    }

    /// Judges a comparison by each rule about its metric. If no rule is about it, the primary metric is still judged by
    /// its verdict alone.
    fn add(&mut self, it: &Compared<'_>) {
        let limits: Vec<Share> = (self.rules.iter())
            .filter_map(|rule| rule.limit(it))
            .collect();
        if limits.is_empty() && it.is_primary {
            let (code, word) = self.weigh(it.verdict, None);
            let figure = it
                .ratio
                .map_or_else(String::new, |(ratio, _)| format!("×{ratio:.3} "));
            self.tell(code, word, &format!("{}: {figure}{}", it.what, it.words));
        }
        for limit in limits {
            let loss = it.loss(limit);
            let (code, word) = self.weigh(it.verdict, Some(loss));
            let text = it.text(limit, loss);
            self.tell(code, word, &text);
        }
    }

    fn tell(&mut self, code: u8, word: &str, words: &str) {
        self.worst = [self.worst, code]
            .into_iter()
            .max_by_key(|code| gravity(*code))
            .unwrap_or(code);
        self.count += 1;
        self.text += &format!("{word:10} {words}\n");
    }

    /// Returns the exit code and the word for one comparison. A comparison that is invalid or whose switch was inactive
    /// never passes, whether or not a rule names it.
    fn weigh(&self, verdict: &Verdict, loss: Option<Loss>) -> (u8, &'static str) {
        let forbidden = self
            .rules
            .iter()
            .any(|rule| matches!(rule, Rule::Undecided));
        let undecided = match loss {
            Some(loss) => loss == Loss::Unsure,
            None => matches!(verdict, Verdict::Undecided { .. }),
        };
        match verdict {
            Verdict::Invalid { .. } | Verdict::SwitchInactive { .. } => (INVALID, "INVALID"),
            _ if undecided && self.allow_undecided && !forbidden => (0, "allowed"),
            _ if undecided => (UNDECIDED, "UNDECIDED"),
            _ if loss == Some(Loss::TooLarge) => (REGRESSION, "REGRESSION"),
            _ => (0, "passed"),
        }
    }
}

/// Returns the rank of an exit code. An invalid run says nothing about regressions, so it outranks them. A certain loss
/// outranks an undecided comparison.
fn gravity(code: u8) -> u8 {
    match code {
        INVALID => 3,
        REGRESSION => 2,
        UNDECIDED => 1,
        _ => 0,
    }
}

/// A comparison of two variants or runs by one metric.
struct Compared<'a> {
    what: String,
    metric: Metric,
    is_primary: bool,
    verdict: &'a Verdict,
    /// The verdict in words.
    words: String,
    /// The measured ratio and its 95 % interval.
    ratio: Option<(f64, Interval)>,
    /// Whether there are enough pairs for a conclusion.
    enough: bool,
    /// Returns how many more pairs would put the whole interval on one side of a given ratio.
    pairs_to_clear: &'a dyn Fn(f64) -> Option<u32>,
}

/// How a measured loss compares with the allowed one, judged by the whole 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// The whole interval lies beyond the limit.
    TooLarge,
    /// The whole interval lies within the limit.
    Allowed,
    /// The interval includes the limit, or is not known.
    Unsure,
}

impl Compared<'_> {
    /// Returns the ratio at which the loss is exactly as large as allowed.
    fn limit(&self, Share(allowed): Share) -> f64 {
        match self.metric.more_is_better() {
            true => 1.0 / (1.0 + allowed),
            false => 1.0 + allowed,
        }
    }

    fn loss(&self, allowed: Share) -> Loss {
        let limit = self.limit(allowed);
        let Some((_, interval)) = self.ratio.filter(|_| self.enough) else {
            return Loss::Unsure;
        };
        let (is_above, is_below) = (interval.low > limit, interval.high < limit);
        match (is_above, is_below, self.metric.more_is_better()) {
            (false, true, true) | (true, false, false) => Loss::TooLarge,
            (true, false, true) | (false, true, false) => Loss::Allowed,
            _ => Loss::Unsure,
        }
    }

    /// Describes the comparison with its limit, e.g. `omp1 / default by p99: ×1.080 [1.032, 1.130], limit ×1.050; about
    /// 12 more pairs`.
    fn text(&self, allowed: Share, loss: Loss) -> String {
        let what = format!("{} by {}", self.what, self.metric.name());
        if let Verdict::Invalid { .. } | Verdict::SwitchInactive { .. } = self.verdict {
            return format!("{what}: {}", self.words);
        }
        let Some((ratio, Interval { low, high })) = self.ratio.filter(|_| self.enough) else {
            return format!("{what}: {}", self.words);
        };
        let limit = self.limit(allowed);
        let text = format!("{what}: ×{ratio:.3} [{low:.3}, {high:.3}], limit ×{limit:.3}");
        match ((self.pairs_to_clear)(limit), loss) {
            (_, Loss::TooLarge | Loss::Allowed) => text,
            (Some(pairs), Loss::Unsure) => format!("{text}; about {pairs} more pairs"),
            (None, Loss::Unsure) => text,
        }
    }
}

/// A condition under which a comparison fails the gate. A rule that names a verdict is redundant, because such verdicts
/// fail the gate anyway. Only `any UNDECIDED` has an effect: it overrides `--allow-undecided`.
enum Rule {
    /// The comparison is worse by more than this share in a metric, or in the primary metric for `None`.
    Worse(Option<Metric>, Share),
    Invalid,
    SwitchInactive,
    Undecided,
}

impl Rule {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Ok(match words[..] {
            ["any", "INVALID"] => Self::Invalid,
            // `NOT EXERCISED` is the former name of this verdict, which older scenarios and saved runs contain.
            ["any", "SWITCH", "INACTIVE"] | ["any", "NOT", "EXERCISED"] => Self::SwitchInactive,
            ["any", "UNDECIDED"] => Self::Undecided,
            [name, "slower" | "more" | "worse", "than", share] => {
                let share = Share::parse(share).map_err(|why| anyhow!("gate: {why}"))?;
                let metric = Metric::ALL
                    .into_iter()
                    .find(|candidate| candidate.name() == name);
                if metric.is_none() && name != "primary" {
                    let names = Metric::ALL.map(Metric::name).join(", ");
                    bail!("`{name}` is no metric of a gate: write primary, {names}");
                }
                Self::Worse(metric, share)
            }
            _ => bail!(
                "`{text}` is no rule of a gate: write `primary slower than 5%`, `p99 slower than 10%`, \
                 `rss more than 10%`, `any INVALID`, `any SWITCH INACTIVE` or `any UNDECIDED`"
            ),
        })
    }

    /// Returns how much worse a comparison may be by this rule, or `None` if the rule is not about its metric.
    fn limit(&self, it: &Compared<'_>) -> Option<Share> {
        match self {
            Self::Worse(None, share) => it.is_primary.then_some(*share),
            Self::Worse(Some(metric), share) => (*metric == it.metric).then_some(*share),
            Self::Invalid | Self::SwitchInactive | Self::Undecided => None,
        }
    }
}

const AFTER: &str = "\
Examples:
  andon-lab gate runs/today
  andon-lab gate runs/today --fail 'primary slower than 3%' --fail 'p99 slower than 10%'
  andon-lab gate runs/today --allow-undecided
  andon-lab gate runs/today --baseline release-1.4 --store ci/baselines
  andon-lab run s.toml -o runs/today && andon-lab gate runs/today --baseline runs/monday

Exit codes: 0 passed, 1 regression (where a rule says so), 2 undecided (unless --allow-undecided), 3 invalid, switch
inactive or nothing to judge, 4 not understood: a rule, a baseline, a folder that is not there.";

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies the rules to one comparison with this verdict. The last argument is the compared metric, its ratio, and
    /// the relative half-width of the ratio's interval. Throughput is the primary metric.
    fn judged(
        rules: &[&str],
        allow_undecided: bool,
        verdict: &Verdict,
        (metric, ratio, half): (Metric, f64, f64),
    ) -> GateResult {
        let rules = rules.iter().map(|rule| Rule::parse(rule).expect("a rule"));
        let mut judged = GateResult::new(rules.collect(), allow_undecided);
        let interval = Interval {
            low: ratio / (1.0 + half),
            high: ratio * (1.0 + half),
        };
        judged.add(&Compared {
            what: "b / a".to_owned(),
            metric,
            is_primary: metric == Metric::Throughput,
            verdict,
            words: verdict.to_string(),
            ratio: Some((ratio, interval)),
            enough: true,
            pairs_to_clear: &|_| Some(7),
        });
        judged
    }

    fn throughput(ratio: f64, half: f64) -> (Metric, f64, f64) {
        (Metric::Throughput, ratio, half)
    }

    const USUAL: [&str; 2] = ["primary slower than 5%", "any INVALID"];

    fn undecided() -> Verdict {
        Verdict::Undecided {
            half_width: Some(0.8),
            within: 0.03,
            more_pairs: None,
            seconds: None,
            least: None,
            untold: None,
        }
    }

    #[test]
    fn a_loss_by_half_that_is_undecided_does_not_pass() {
        let judged = judged(&USUAL, false, &undecided(), throughput(0.465, 1.5));
        assert_eq!(judged.worst, UNDECIDED);
        assert_eq!(
            judged.text,
            "UNDECIDED  b / a by throughput: ×0.465 [0.186, 1.163], limit ×0.952; about 7 more pairs\n"
        );
    }

    #[test]
    fn undecided_is_let_through_where_that_is_asked_for_and_is_still_not_called_passed() {
        let figures = throughput(0.465, 1.5);
        let allowed = judged(&USUAL, true, &undecided(), figures);
        assert_eq!(allowed.worst, 0);
        assert!(allowed.text.starts_with("allowed "), "{}", allowed.text);
        let forbidden = judged(&["any UNDECIDED"], true, &undecided(), figures);
        assert_eq!(forbidden.worst, UNDECIDED);
    }

    #[test]
    fn what_is_no_comparison_at_all_never_passes_whatever_the_rules() {
        let inactive = Verdict::SwitchInactive {
            assertion: String::new(),
            seen: String::new(),
            blocks: 1,
            of: 1,
        };
        for verdict in [Verdict::Invalid { why: String::new() }, inactive] {
            let judged = judged(&USUAL, true, &verdict, throughput(1.0, 0.01));
            assert_eq!(judged.worst, INVALID);
            assert!(!judged.text.contains("passed"), "{}", judged.text);
        }
    }

    #[test]
    fn a_loss_is_a_regression_only_if_its_whole_interval_lies_beyond_what_is_allowed() {
        for (ratio, half, code) in [
            (0.9, 0.02, REGRESSION),
            (0.9, 0.08, UNDECIDED),
            (0.96, 0.02, UNDECIDED),
            (0.98, 0.02, 0),
            (1.2, 0.3, UNDECIDED),
            (1.2, 0.1, 0),
        ] {
            let judged = judged(&USUAL, false, &Verdict::Slower, throughput(ratio, half));
            assert_eq!(judged.worst, code, "{ratio} {half}");
        }
    }

    #[test]
    fn what_is_undecided_beside_one_passes_if_it_is_within_the_limit() {
        let judged = judged(&USUAL, false, &undecided(), throughput(0.99, 0.035));
        assert_eq!(judged.worst, 0, "{}", judged.text);
    }

    #[test]
    fn a_rule_may_name_any_metric() {
        let rules = ["p99 slower than 10%", "rss more than 20%"];
        for (metric, ratio, half, code, told) in [
            (Metric::P99, 1.2, 0.05, REGRESSION, 1),
            (Metric::P99, 1.0, 0.05, 0, 1),
            (Metric::P99, 1.1, 0.05, UNDECIDED, 1),
            (Metric::Rss, 1.5, 0.05, REGRESSION, 1),
            (Metric::Rss, 0.5, 0.05, 0, 1),
            (Metric::P50, 2.0, 0.05, 0, 0),
            // No rule is about throughput, the primary metric, so its verdict counts.
            (Metric::Throughput, 0.5, 0.05, 0, 1),
        ] {
            let judged = judged(&rules, false, &Verdict::Slower, (metric, ratio, half));
            assert_eq!(
                (judged.worst, judged.count),
                (code, told),
                "{metric:?} {ratio}"
            );
        }
        let why = Rule::parse("p98 slower than 3%").err().expect("an error");
        assert!(why.to_string().contains("p50, p90, p99"), "{why}");
    }
}
