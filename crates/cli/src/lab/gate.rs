//! `andon lab gate`: for scripts that must tell a regression from noise and from a broken experiment.

use std::path::PathBuf;
use std::process::ExitCode;

use andon_lab::analysis::{Comparison, Verdict};
use andon_lab::scenario::Share;
use anyhow::bail;

use super::whole::Whole;
use super::{INVALID, REGRESSION, UNDECIDED};
use crate::print::print;

/// Judge a finished run by its scenario's [gate]: exit 0 passed, 1 regression, 2 undecided, 3 invalid
#[derive(clap::Args)]
pub(super) struct Args {
    /// The run's folder
    run: PathBuf,
    /// Rules instead of the scenario's: 'primary slower than 5%', 'any INVALID', 'any NOT EXERCISED',
    /// 'any UNDECIDED'
    #[arg(long, value_name = "RULE")]
    fail: Vec<String>,
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
    let compared: Vec<&Comparison> = whole.analysis.primary().collect();
    let mut worst = 0;
    let mut text = String::new();
    for comparison in &compared {
        let hit = rules
            .iter()
            .filter(|rule| rule.fails(comparison))
            .map(|rule| rule.code());
        // An invalid run says nothing about regressions, so it outranks them.
        let code = hit.max().unwrap_or(0);
        worst = worst.max(code);
        let word = match code {
            0 => "passed",
            REGRESSION => "REGRESSION",
            UNDECIDED => "UNDECIDED",
            _ => "INVALID",
        };
        text += &format!(
            "{word:10} {} / {}: {}\n",
            comparison.name, comparison.baseline, comparison.verdict
        );
    }
    if compared.is_empty() {
        bail!(
            "{}: nothing was compared, so there is nothing to judge",
            args.run.display()
        );
    }
    print(text.as_bytes())?;
    Ok(ExitCode::from(worst))
}

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

    fn fails(&self, comparison: &Comparison) -> bool {
        match self {
            Self::Invalid => matches!(comparison.verdict, Verdict::Invalid { .. }),
            Self::NotExercised => matches!(comparison.verdict, Verdict::NotExercised { .. }),
            Self::Undecided => matches!(comparison.verdict, Verdict::Undecided { .. }),
            // A certain loss, and more of it than is allowed.
            Self::Slower(share) => {
                let worse = matches!(comparison.verdict, Verdict::Slower | Verdict::Dearer);
                let ratio = comparison.estimate.map_or(1.0, |estimate| estimate.ratio);
                let loss = if comparison.metric.more_is_better() {
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
