//! `andon-lab tune`: tries the few settings that matter on this machine, by experiments like those of `andon-lab run`.

mod advice;
mod budget;
mod subject;
mod trial;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use advice::Advice;
use andon_lab::launch::find_program;
use andon_lab::scenario::Seconds;
use andon_terminal::{interrupt, print};
use anyhow::{Context, bail};
use budget::Budget;
use subject::Subject;
use trial::{CONFIRM, Effort, Trial};

use crate::conduct::{Task, carry_out, default_folder};
use crate::judged_run::JudgedRun;

/// Try the few settings of Andon that matter on this machine, and recommend a configuration with the evidence
///
/// Compares the current settings with other numbers of worker threads (one fewer than cores leaves headroom), with
/// other settings of the cache's tiers, and with clients that do not keep connections alive. As in `andon-lab run`,
/// blocks are interleaved and each starts a fresh server. Settings that are faster are measured again before they are
/// recommended; settings within ±3 % are reported as the same. The configuration is printed. Only the runs are written,
/// unless --write is given.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Folder of images, which replaces the origins of the configuration [default: generated images]
    dir: Option<PathBuf>,
    /// Program of the server [default: andon next to this program, or in PATH]
    #[arg(long, value_name = "PATH", overrides_with = "server")]
    server: Option<PathBuf>,
    /// Configuration to tune [default: the built-in defaults]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// File with URLs or paths to request, one per line [default: two sizes of a few images of the folder]
    #[arg(short = 'L', long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// Finish in a few minutes: shorter blocks, fewer pairs, fewer candidates
    #[arg(long)]
    quick: bool,
    /// Stop after about this time, including confirming runs, and report the results so far: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse)]
    budget: Option<Seconds>,
    /// Save the runs in this new folder [default: lab-tune-DATE]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Write the recommended configuration into this new file: all of --config with the changes, or only the changes
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(file) = args.write.as_ref().filter(|file| file.exists()) {
        bail!("{} is there already: give another name", file.display());
    }
    let program = match &args.server {
        Some(program) => std::path::absolute(program)?,
        None => find_program("andon")
            .context("there is no `andon` beside this program or in PATH: give --server PATH")?,
    };
    let effort = Effort { quick: args.quick };
    let temporary = tempfile::tempdir()?;
    let subject = Subject::of(args, program, temporary.path())?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as i64);
    let trials = trial::all(&subject, cores, effort);
    let tuning = Tuning {
        subject: &subject,
        effort,
        configs: temporary.path().to_owned(),
        folder: args
            .output
            .clone()
            .unwrap_or_else(|| default_folder("tune")),
        cancel: interrupt::flag().context("cannot listen for signals")?,
    };
    let mut advice = Advice::default();
    let mut budget = Budget::new(
        args.budget.map(Seconds::duration),
        trials.iter().map(|trial| trial.comparisons(effort)).sum(),
    );
    for (at, trial) in trials.iter().enumerate() {
        eprintln!("{} of {}: {}", at + 1, trials.len(), trial.question);
        let time = budget.share(trial.own_comparisons(effort));
        let judged_run = tuning.carry_out(trial, time)?;
        let report = advice.add(trial, &judged_run);
        print(report.as_bytes())?;
        let time = budget.share(trial.confirmations());
        if let Some(winner) = advice.take_winner() {
            if tuning.cancelled() || time == Some(Duration::ZERO) {
                advice.give_up(winner);
            } else {
                eprintln!("once more, with another seed: {}", winner.candidate.name);
                let confirming = trial.confirming(&winner.candidate);
                let judged_run = tuning.carry_out(&confirming, time)?;
                let report = advice.confirm(winner, &judged_run);
                print(report.as_bytes())?;
            }
        }
        if tuning.cancelled() {
            break;
        }
    }
    print(advice.recommendation(&subject.description)?.as_bytes())?;
    if let Some(file) = &args.write {
        let config = advice.config(subject.user_config.as_ref())?;
        fs::write(file, config).with_context(|| file.display().to_string())?;
        eprintln!("Written: {}", file.display());
    }
    eprintln!("The runs are in {}", tuning.folder.display());
    Ok(match advice.is_blind() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// The inputs that all trials share.
struct Tuning<'a> {
    subject: &'a Subject,
    effort: Effort,
    /// The folder for the configurations that servers are started with.
    configs: PathBuf,
    /// The folder for the runs.
    folder: PathBuf,
    cancel: Arc<AtomicBool>,
}

impl Tuning<'_> {
    fn carry_out(&self, trial: &Trial, time: Option<Duration>) -> anyhow::Result<JudgedRun> {
        let folder = match trial.name {
            CONFIRM => format!(
                "{CONFIRM}-{}",
                trial.candidates[0].name.replace([' ', '"'], "")
            ),
            name => name.to_owned(),
        };
        let (_, judged_run) = carry_out(Task {
            scenario: trial.scenario(self.subject, self.effort, &self.configs)?,
            folder: self.folder.join(folder),
            budget: time,
            quiet: false,
            cancel: self.cancel.clone(),
        })?;
        Ok(judged_run)
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

const AFTER: &str = "\
Examples:
  andon-lab tune --quick
  andon-lab tune ~/photos
  andon-lab tune --config /etc/andon/andon.toml -L urls.txt --budget 15m
  andon-lab tune --config andon.toml --write tuned.toml && andon config check tuned.toml

Exit codes: 0 done, whatever is recommended; 1 it failed, or nothing could be compared, \
and the message says why.";
