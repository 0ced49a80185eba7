//! Runs an experiment with a progress bar, then judges, writes its reports, and prints the verdicts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use andon_lab::analysis::{Analysis, Verdict};
use andon_lab::experiment::{self, End, Event, Experiment, Finished};
use andon_lab::scenario::{Scenario, Seconds};
use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

use super::whole::{Whole, colour, format};
use super::{INVALID, PROGRAM, UNDECIDED, guard, interrupt};
use crate::print::print;

/// What all commands that run experiments share.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Write the run and its reports into this new folder [default: lab-NAME-DATE here]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Stop after this time with what is known: 90s, 10m
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse)]
    budget: Option<Seconds>,
    /// At most so many pairs of blocks per comparison
    #[arg(long, value_name = "N")]
    pairs: Option<u32>,
    /// Print nothing but the verdicts
    #[arg(short, long)]
    quiet: bool,
    /// Exit with 2 if a comparison stays undecided
    #[arg(long)]
    strict: bool,
}

/// Runs it, and says what came of it.
pub(super) fn conduct(mut scenario: Scenario, options: &Options) -> anyhow::Result<ExitCode> {
    if let Some(pairs) = options.pairs {
        scenario.design.pairs.max = pairs;
        scenario.design.pairs.min = scenario.design.pairs.min.min(pairs);
    }
    let folder = options
        .output
        .clone()
        .unwrap_or_else(|| default_folder(&scenario.name));
    let (finished, whole) = carry_out(Task {
        scenario,
        folder,
        budget: options.budget.map(Seconds::duration),
        quiet: options.quiet,
        cancel: interrupt::flag().context("cannot listen for signals")?,
    })?;
    report(&finished, &whole, options)
}

/// An experiment to be carried out.
pub(crate) struct Task {
    pub(crate) scenario: Scenario,
    /// A new one.
    pub(crate) folder: PathBuf,
    pub(crate) budget: Option<Duration>,
    /// No progress bar.
    pub(crate) quiet: bool,
    /// Ends it early when set.
    pub(crate) cancel: Arc<AtomicBool>,
}

/// Runs it, judges it, and writes its reports.
pub(crate) fn carry_out(task: Task) -> anyhow::Result<(Finished, Whole)> {
    let bar = Bar::new(task.quiet);
    let finished = experiment::run(&Experiment {
        scenario: task.scenario,
        guard: guard(),
        folder: task.folder,
        program: PROGRAM.to_owned(),
        budget: task.budget,
        cancel: task.cancel,
        watch: &|event| bar.show(event),
    });
    bar.finish();
    let finished = finished?;
    let whole = Whole::ended(&finished.folder)?;
    for name in KEPT {
        let format = format(name)?;
        let path = finished.folder.path().join(format.file);
        std::fs::write(&path, whole.print(format, false)?)
            .with_context(|| path.display().to_string())?;
    }
    Ok((finished, whole))
}

fn report(finished: &Finished, whole: &Whole, options: &Options) -> anyhow::Result<ExitCode> {
    let folder = finished.folder.path();
    if options.quiet {
        let verdicts = whole.analysis.primary();
        let lines = verdicts.map(|it| format!("{} / {}: {}\n", it.name, it.baseline, it.verdict));
        print(lines.collect::<String>().as_bytes())?;
    } else {
        print(&whole.print(format("text")?, colour())?)?;
        match finished.end {
            End::Budget => eprintln!("The time was up."),
            End::Cancelled => eprintln!("Ended early: this is what there is."),
            End::Enough(_) | End::AllRun => {}
        }
        eprintln!("Everything is in {}", folder.display());
    }
    Ok(code(&whole.analysis, options.strict))
}

/// The exit code that the verdicts ask for.
fn code(analysis: &Analysis, strict: bool) -> ExitCode {
    let any = |wanted: fn(&Verdict) -> bool| analysis.primary().any(|it| wanted(&it.verdict));
    if any(|verdict| {
        matches!(
            verdict,
            Verdict::Invalid { .. } | Verdict::NotExercised { .. }
        )
    }) {
        ExitCode::from(INVALID)
    } else if strict && any(|verdict| matches!(verdict, Verdict::Undecided { .. })) {
        ExitCode::from(UNDECIDED)
    } else {
        ExitCode::SUCCESS
    }
}

/// What is written into the run's folder without being asked for.
const KEPT: [&str; 4] = ["text", "html", "md", "json"];

/// `lab-NAME-2026-11-21T220000Z` beside the user.
pub(crate) fn default_folder(name: &str) -> PathBuf {
    let now = experiment::utc(SystemTime::now()).replace(':', "");
    let name = if name.is_empty() { "run" } else { name };
    Path::new(&format!("lab-{name}-{now}")).to_owned()
}

/// The progress bar; hidden where there is no terminal.
struct Bar {
    bar: ProgressBar,
    what: Mutex<String>,
}

impl Bar {
    fn new(quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(0)
        };
        let style = ProgressStyle::with_template(
            "{spinner} block {pos} of at most {len}, {elapsed}  {msg}",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            what: Mutex::default(),
        }
    }

    fn show(&self, event: Event<'_>) {
        match event {
            Event::Begins { name, done, .. } => {
                self.bar.set_length(done.1.into());
                self.bar.set_position(done.0.into());
                self.bar.set_message(format!("{name}: starts"));
                if let Ok(mut what) = self.what.lock() {
                    name.clone_into(&mut what);
                }
            }
            Event::Load(progress) => {
                let what = self
                    .what
                    .lock()
                    .map(|what| what.clone())
                    .unwrap_or_default();
                let phase = if progress.measuring {
                    format!("{:.0} %", progress.done * 100.0)
                } else {
                    "warms up".to_owned()
                };
                self.bar
                    .set_message(format!("{what}: {phase}, {:.0} replies/s", progress.rate));
            }
            Event::Counts { name } => self
                .bar
                .set_message(format!("{name}: counts, apart from all timing")),
            Event::Ended(block) => {
                if let Some(why) = block.discarded.as_ref().or(block.failure.as_ref()) {
                    self.bar.println(format!(
                        "block {}: {why}; its pair runs again",
                        block.index + 1
                    ));
                }
            }
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
