//! Runs an experiment and shows its progress, then judges the run, writes its reports, and prints the verdicts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use andon_lab::analysis::{Analysis, Verdict};
use andon_lab::experiment::{self, End, Experiment, Finished};
use andon_lab::scenario::{Scenario, Seconds};
use anyhow::Context;

use super::judged_run::{JudgedRun, colour, format};
use super::progress::Progress;
use super::{INVALID, PROGRAM, UNDECIDED, guard};
use andon_terminal::interrupt;
use andon_terminal::print;

/// Options shared by all commands that run experiments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Write the run and its reports into this new folder [default: lab-NAME-DATE in the current folder]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Stop after this time and report the results so far: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse)]
    budget: Option<Seconds>,
    /// Maximum number of pairs of blocks per comparison
    #[arg(long, value_name = "N")]
    pairs: Option<u32>,
    /// Print only the verdicts
    #[arg(short, long)]
    quiet: bool,
    /// Exit with 2 if a comparison stays undecided
    #[arg(long)]
    strict: bool,
}

/// Runs an experiment, prints its result, and returns the exit code.
pub(super) fn conduct(mut scenario: Scenario, options: &Options) -> anyhow::Result<ExitCode> {
    if let Some(pairs) = options.pairs {
        scenario.design.pairs.max = pairs;
        scenario.design.pairs.min = scenario.design.pairs.min.min(pairs);
    }
    let folder = options
        .output
        .clone()
        .unwrap_or_else(|| default_folder(&scenario.name));
    let (finished, judged_run) = carry_out(Task {
        scenario,
        folder,
        budget: options.budget.map(Seconds::duration),
        quiet: options.quiet,
        cancel: interrupt::flag().context("cannot listen for signals")?,
    })?;
    report(&finished, &judged_run, options)
}

/// An experiment to be run.
pub(crate) struct Task {
    pub(crate) scenario: Scenario,
    /// The folder for the run, which must not exist yet.
    pub(crate) folder: PathBuf,
    pub(crate) budget: Option<Duration>,
    /// Whether to show no progress while the experiment runs.
    pub(crate) quiet: bool,
    /// Ends the experiment early when set.
    pub(crate) cancel: Arc<AtomicBool>,
}

/// Runs an experiment, judges the run, and writes its reports.
pub(crate) fn carry_out(task: Task) -> anyhow::Result<(Finished, JudgedRun)> {
    let progress = Progress::start(&task.scenario, task.budget, task.quiet);
    let finished = experiment::run(&Experiment {
        scenario: task.scenario,
        guard: guard(),
        folder: task.folder,
        program: PROGRAM.to_owned(),
        budget: task.budget,
        cancel: task.cancel,
        watch: &|event| progress.show(event),
    });
    progress.finish();
    let finished = finished?;
    let judged_run = JudgedRun::ended(&finished.folder)?;
    for name in REPORTS {
        let format = format(name)?;
        let path = finished.folder.path().join(format.file);
        std::fs::write(&path, judged_run.print(format, false)?)
            .with_context(|| path.display().to_string())?;
    }
    Ok((finished, judged_run))
}

fn report(
    finished: &Finished,
    judged_run: &JudgedRun,
    options: &Options,
) -> anyhow::Result<ExitCode> {
    let folder = finished.folder.path();
    if options.quiet {
        let verdicts = judged_run.analysis.primary();
        let lines = verdicts.map(|it| format!("{} / {}: {}\n", it.name, it.baseline, it.verdict));
        print(lines.collect::<String>().as_bytes())?;
    } else {
        print(&judged_run.print(format("text")?, colour())?)?;
        match finished.end {
            End::Budget => eprintln!("The time was up."),
            End::Cancelled => eprintln!("Ended early: this is what there is."),
            End::Enough(_) | End::AllRun => {}
        }
        eprintln!("Everything is in {}", folder.display());
    }
    Ok(code(&judged_run.analysis, options.strict))
}

/// Returns the exit code for the verdicts of an analysis. With `strict`, an undecided comparison has an exit code of
/// its own.
fn code(analysis: &Analysis, strict: bool) -> ExitCode {
    let any = |condition: fn(&Verdict) -> bool| {
        // A run of a single variant has no primary comparison, only that of the baseline with itself.
        let mut itself = analysis
            .comparisons
            .iter()
            .filter(|_| analysis.primary().next().is_none());
        analysis.primary().any(|it| condition(&it.verdict))
            || itself.any(|it| condition(&it.verdict))
    };
    if any(|verdict| {
        matches!(
            verdict,
            Verdict::Invalid { .. } | Verdict::SwitchInactive { .. }
        )
    }) {
        ExitCode::from(INVALID)
    } else if strict && any(|verdict| matches!(verdict, Verdict::Undecided { .. })) {
        ExitCode::from(UNDECIDED)
    } else {
        ExitCode::SUCCESS
    }
}

/// The report formats that are always written into the run's folder.
const REPORTS: [&str; 4] = ["text", "html", "md", "json"];

/// Returns the default name of a run's folder, e.g. `lab-NAME-2026-11-21T220000Z`, relative to the current directory.
pub(crate) fn default_folder(name: &str) -> PathBuf {
    let now = experiment::utc(SystemTime::now()).replace(':', "");
    let name = if name.is_empty() { "run" } else { name };
    Path::new(&format!("lab-{name}-{now}")).to_owned()
}
