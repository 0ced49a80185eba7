//! `andon lab gate`: for scripts that must tell a regression from noise and from a broken experiment.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use andon_lab::analysis::Verdict;
use andon_lab::record::Run;
use andon_lab::report::between::{title, verdict};
use andon_lab::scenario::{Metric, Share};
use anyhow::bail;

use super::baseline::Store;
use super::diff::compare;
use super::judged_run::JudgedRun;
use super::{INVALID, REGRESSION, UNDECIDED};
use crate::print::print;

/// Judge a finished run by its scenario's gate: exit 0 passed, 1 regression, 2 undecided, 3 invalid
///
/// Only a comparison that shows no regression passes. One that is UNDECIDED, INVALID or whose switch was inactive
/// does not, whatever the rules say; --allow-undecided lets the first kind through.
///
/// The run's own comparisons, which were interleaved, are judged. If a baseline is saved for its scenario and
/// machine (`andon lab baseline save`), or one is named, the run is compared with that too; a run with one variant
/// needs it.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The run's folder
    run: PathBuf,
    /// Rules instead of the scenario's: 'primary slower than 5%', 'any INVALID', 'any SWITCH INACTIVE',
    /// 'any UNDECIDED'
    #[arg(long, value_name = "RULE")]
    fail: Vec<String>,
    /// Exit 0 although a comparison is UNDECIDED: nobody knows whether that one is a regression
    #[arg(long)]
    allow_undecided: bool,
    /// Compare it with this baseline: a name, or a run's folder [default: the scenario's, if one is saved]
    #[arg(long, value_name = "NAME", conflicts_with = "no_baseline")]
    baseline: Option<String>,
    /// Judge the run by itself
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
    let mut judged = Judged::new(rules, args.allow_undecided);
    for it in new.analysis.primary() {
        let ratio = it.estimate.map(|estimate| estimate.ratio);
        let verdict = it.verdict.to_string();
        let figure = ratio.map_or_else(String::new, |ratio| format!("×{ratio:.3} "));
        judged.add(
            (&it.verdict, it.metric, ratio),
            &format!("{} / {}: {figure}{verdict}", it.name, it.baseline),
        );
    }
    if let Some(folder) = baseline(args, &new.run)? {
        let (saved, _, between) = compare(&folder, &args.run, None)?;
        judged.text += &format!("compared with {}\n", title(&saved));
        for line in between.caveats() {
            judged.text += &format!("  {line}\n");
        }
        for it in between.primary() {
            let ratio = it
                .ratio
                .map_or_else(String::new, |ratio| format!("×{ratio:.3} "));
            let said = format!("{} now / then: {ratio}{}", it.name, verdict(&it.verdict));
            judged.add((&it.verdict, it.metric, it.ratio), &said);
        }
    }
    if judged.count == 0 {
        eprintln!(
            "andon lab: {}: nothing was compared, so there is nothing to judge: give it a --baseline",
            args.run.display()
        );
        return Ok(ExitCode::from(INVALID));
    }
    print(judged.text.as_bytes())?;
    Ok(ExitCode::from(judged.worst))
}

/// The folder of the baseline that the run is compared with.
fn baseline(args: &Args, run: &Run) -> anyhow::Result<Option<PathBuf>> {
    match &args.baseline {
        _ if args.no_baseline => Ok(None),
        Some(folder) if Path::new(folder).join("run.json").exists() => Ok(Some(folder.into())),
        Some(name) => args.store.named(name, run).map(Some),
        None => args.store.of(run),
    }
}

/// What the rules made of all comparisons.
struct Judged {
    rules: Vec<Rule>,
    allow_undecided: bool,
    text: String,
    worst: u8,
    count: usize,
}

impl Judged {
    fn new(rules: Vec<Rule>, allow_undecided: bool) -> Self {
        Self {
            rules,
            allow_undecided,
            text: String::new(),
            worst: 0,
            count: 0,
        }
    }

    fn add(&mut self, compared: Compared<'_>, said: &str) {
        let (code, word) = self.judge(compared);
        self.worst = [self.worst, code]
            .into_iter()
            .max_by_key(|code| gravity(*code))
            .unwrap_or(code);
        self.count += 1;
        self.text += &format!("{word:10} {said}\n");
    }

    /// What came of one comparison. Without a verdict it is none that passes, whether or not a rule names it.
    fn judge(&self, compared: Compared<'_>) -> (u8, &'static str) {
        if self.rules.iter().any(|rule| rule.fails(compared)) {
            return (REGRESSION, "REGRESSION");
        }
        let forbidden = self
            .rules
            .iter()
            .any(|rule| matches!(rule, Rule::Undecided));
        match compared.0 {
            Verdict::Invalid { .. } => (INVALID, "INVALID"),
            Verdict::SwitchInactive { .. } => (INVALID, "INVALID"),
            Verdict::Undecided { .. } if self.allow_undecided && !forbidden => (0, "allowed"),
            Verdict::Undecided { .. } => (UNDECIDED, "UNDECIDED"),
            _ => (0, "passed"),
        }
    }
}

/// An invalid run says nothing about regressions, so it outranks them; a sure loss outranks what is not decided.
fn gravity(code: u8) -> u8 {
    match code {
        INVALID => 3,
        REGRESSION => 2,
        UNDECIDED => 1,
        _ => 0,
    }
}

/// A verdict, by what, and its ratio if there is one.
type Compared<'a> = (&'a Verdict, Metric, Option<f64>);

/// When a comparison fails the gate. The rules that name a missing verdict say in a scenario what holds anyway, but
/// for `any UNDECIDED`, which outranks --allow-undecided.
enum Rule {
    Slower(Share),
    Invalid,
    SwitchInactive,
    Undecided,
}

impl Rule {
    fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(match text.trim() {
            "any INVALID" => Self::Invalid,
            // The second is what scenarios said before the verdict was renamed, those of saved runs included.
            "any SWITCH INACTIVE" | "any NOT EXERCISED" => Self::SwitchInactive,
            "any UNDECIDED" => Self::Undecided,
            other => match other.strip_prefix("primary slower than ").map(Share::parse) {
                Some(Ok(share)) => Self::Slower(share),
                Some(Err(why)) => bail!("gate: {why}"),
                None => bail!(
                    "`{other}` is no rule of a gate: write `primary slower than 5%`, `any INVALID`, \
                     `any SWITCH INACTIVE` or `any UNDECIDED`"
                ),
            },
        })
    }

    /// Is it a regression by this rule? A certain loss, and more of it than is allowed.
    fn fails(&self, (verdict, metric, ratio): Compared<'_>) -> bool {
        let Self::Slower(share) = self else {
            return false;
        };
        let worse = matches!(verdict, Verdict::Slower | Verdict::More { .. });
        let ratio = ratio.unwrap_or(1.0);
        let loss = if metric.more_is_better() {
            1.0 / ratio
        } else {
            ratio
        };
        worse && loss > 1.0 + share.0
    }
}

const AFTER: &str = "\
Examples:
  andon lab gate runs/today
  andon lab gate runs/today --fail 'primary slower than 3%' --fail 'any INVALID'
  andon lab gate runs/today --allow-undecided
  andon lab gate runs/today --baseline release-1.4 --store ci/baselines
  andon lab run s.toml -o runs/today && andon lab gate runs/today --baseline runs/monday

Exit codes: 0 passed, 1 regression (where a rule says so), 2 undecided (unless --allow-undecided), 3 invalid, switch
inactive or nothing to judge, 4 not understood: a rule, a baseline, a folder that is not there.";

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(rules: &[&str], allow_undecided: bool, verdict: &Verdict, ratio: f64) -> Judged {
        let rules = rules.iter().map(|rule| Rule::parse(rule).expect("a rule"));
        let mut judged = Judged::new(rules.collect(), allow_undecided);
        judged.add((verdict, Metric::Throughput, Some(ratio)), "it");
        judged
    }

    const USUAL: [&str; 2] = ["primary slower than 5%", "any INVALID"];

    fn undecided() -> Verdict {
        Verdict::Undecided {
            half_width: Some(0.8),
            within: 0.03,
            more_pairs: None,
            seconds: None,
            least: None,
        }
    }

    #[test]
    fn a_loss_by_half_that_is_undecided_does_not_pass() {
        let judged = judged(&USUAL, false, &undecided(), 0.465);
        assert_eq!(judged.worst, UNDECIDED);
        assert_eq!(judged.text, "UNDECIDED  it\n");
    }

    #[test]
    fn undecided_is_let_through_where_that_is_asked_for_and_is_still_not_called_passed() {
        let allowed = judged(&USUAL, true, &undecided(), 0.465);
        assert_eq!(
            (allowed.worst, allowed.text.as_str()),
            (0, "allowed    it\n")
        );
        let forbidden = judged(&["any UNDECIDED"], true, &undecided(), 0.465);
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
            let judged = judged(&["primary slower than 5%"], true, &verdict, 1.0);
            assert_eq!(judged.worst, INVALID);
            assert!(!judged.text.contains("passed"), "{}", judged.text);
        }
    }

    #[test]
    fn a_certain_loss_is_a_regression_only_beyond_what_is_allowed() {
        for (ratio, code) in [(0.9, REGRESSION), (0.97, 0)] {
            assert_eq!(judged(&USUAL, false, &Verdict::Slower, ratio).worst, code);
        }
        assert_eq!(judged(&USUAL, false, &Verdict::Faster, 1.2).worst, 0);
    }
}
