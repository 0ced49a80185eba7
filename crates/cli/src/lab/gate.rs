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
use super::whole::Whole;
use super::{INVALID, REGRESSION, UNDECIDED};
use crate::print::print;

/// Judge a finished run by its scenario's gate: exit 0 passed, 1 regression, 2 undecided, 3 invalid
///
/// The run's own comparisons are judged, which were interleaved. If a baseline is saved for its scenario and
/// machine (`andon lab baseline save`), or one is named, the run is held against that too; a run with one variant
/// needs it.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The run's folder
    run: PathBuf,
    /// Rules instead of the scenario's: 'primary slower than 5%', 'any INVALID', 'any NOT EXERCISED',
    /// 'any UNDECIDED'
    #[arg(long, value_name = "RULE")]
    fail: Vec<String>,
    /// Hold it against this baseline: a name, or a run's folder [default: the scenario's, if one is saved]
    #[arg(long, value_name = "NAME", conflicts_with = "no_baseline")]
    baseline: Option<String>,
    /// Judge the run by itself
    #[arg(long)]
    no_baseline: bool,
    #[command(flatten)]
    store: Store,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let whole = Whole::read(&args.run)?;
    let rules = if args.fail.is_empty() {
        &whole.run.header.scenario.gate.fail
    } else {
        &args.fail
    };
    let rules = rules
        .iter()
        .map(|rule| Rule::parse(rule))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut judged = Judged::default();
    for it in whole.analysis.primary() {
        let ratio = it.estimate.map(|estimate| estimate.ratio);
        let verdict = it.verdict.to_string();
        judged.add(
            &rules,
            (&it.verdict, it.metric, ratio),
            &format!("{} / {}: {verdict}", it.name, it.baseline),
        );
    }
    if let Some(folder) = baseline(args, &whole.run)? {
        let (saved, _, between) = compare(&folder, &args.run, None)?;
        judged.text += &format!("held against {}\n", title(&saved));
        for line in between.caveats() {
            judged.text += &format!("  {line}\n");
        }
        for it in between.primary() {
            let ratio = it
                .ratio
                .map_or_else(String::new, |ratio| format!("×{ratio:.3} "));
            let said = format!("{} now / then: {ratio}{}", it.name, verdict(&it.verdict));
            judged.add(&rules, (&it.verdict, it.metric, it.ratio), &said);
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

/// The folder of the baseline that the run is held against.
fn baseline(args: &Args, run: &Run) -> anyhow::Result<Option<PathBuf>> {
    match &args.baseline {
        _ if args.no_baseline => Ok(None),
        Some(folder) if Path::new(folder).join("run.json").exists() => Ok(Some(folder.into())),
        Some(name) => args.store.named(name, run).map(Some),
        None => args.store.of(run),
    }
}

/// What the rules made of all comparisons.
#[derive(Default)]
struct Judged {
    text: String,
    worst: u8,
    count: usize,
}

impl Judged {
    fn add(&mut self, rules: &[Rule], compared: Compared<'_>, said: &str) {
        let hit = rules
            .iter()
            .filter(|rule| rule.fails(compared))
            .map(Rule::code);
        let code = hit.max_by_key(|code| gravity(*code)).unwrap_or(0);
        self.worst = [self.worst, code]
            .into_iter()
            .max_by_key(|code| gravity(*code))
            .unwrap_or(code);
        self.count += 1;
        let word = match code {
            0 => "passed",
            REGRESSION => "REGRESSION",
            UNDECIDED => "UNDECIDED",
            _ => "INVALID",
        };
        self.text += &format!("{word:10} {said}\n");
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

/// When a comparison fails the gate.
enum Rule {
    Slower(Share),
    Invalid,
    NotExercised,
    Undecided,
}

impl Rule {
    fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(match text.trim() {
            "any INVALID" => Self::Invalid,
            "any NOT EXERCISED" => Self::NotExercised,
            "any UNDECIDED" => Self::Undecided,
            other => match other.strip_prefix("primary slower than ").map(Share::parse) {
                Some(Ok(share)) => Self::Slower(share),
                Some(Err(why)) => bail!("gate: {why}"),
                None => bail!(
                    "`{other}` is no rule of a gate: write `primary slower than 5%`, `any INVALID`, \
                     `any NOT EXERCISED` or `any UNDECIDED`"
                ),
            },
        })
    }

    fn fails(&self, (verdict, metric, ratio): Compared<'_>) -> bool {
        match self {
            Self::Invalid => matches!(verdict, Verdict::Invalid { .. }),
            Self::NotExercised => matches!(verdict, Verdict::NotExercised { .. }),
            Self::Undecided => matches!(verdict, Verdict::Undecided { .. }),
            // A certain loss, and more of it than is allowed.
            Self::Slower(share) => {
                let worse = matches!(verdict, Verdict::Slower | Verdict::Dearer);
                let ratio = ratio.unwrap_or(1.0);
                let loss = if metric.more_is_better() {
                    1.0 / ratio
                } else {
                    ratio
                };
                worse && loss > 1.0 + share.0
            }
        }
    }

    fn code(&self) -> u8 {
        match self {
            Self::Slower(_) => REGRESSION,
            Self::Undecided => UNDECIDED,
            Self::Invalid | Self::NotExercised => INVALID,
        }
    }
}

const AFTER: &str = "\
Examples:
  andon lab gate runs/today
  andon lab gate runs/today --fail 'primary slower than 3%' --fail 'any INVALID'
  andon lab gate runs/today --baseline release-1.4 --store ci/baselines
  andon lab run s.toml -o runs/today && andon lab gate runs/today --baseline runs/monday

Exit codes: 0 passed, 1 regression, 2 undecided, 3 invalid or not exercised (each where a rule says so), 3 also where
there is nothing to judge, 4 not understood: a rule, a baseline, a folder that is not there.";
