//! A run together with its analysis and the judgement of its responses.

use std::path::Path;

use andon_lab::analysis::{Analysis, analyse};
use andon_lab::bodies::{Judged, judge};
use andon_lab::experiment::Error;
use andon_lab::record::{Folder, FolderError, Run, SavedBodies};
use andon_lab::report::{self, Format, ReportInput, headline};
use anyhow::{anyhow, bail};

/// Minimum number of distinct bodies for which a message announces that they are being decoded, since that can take
/// seconds.
const SLOW: usize = 1000;

/// A run with its analysis and the judgement of its replies.
pub(crate) struct JudgedRun {
    pub(crate) run: Run,
    pub(crate) analysis: Analysis,
    pub(super) judgement: Judged,
    saved_bodies: SavedBodies,
}

impl JudgedRun {
    /// Judges a run. `saved_bodies` holds the saved bodies of its replies, and earlier findings about them.
    pub(super) fn new(run: Run, saved_bodies: SavedBodies) -> Self {
        if saved_bodies.findings.is_none() && saved_bodies.bodies.len() >= SLOW {
            eprintln!("Decoding {} distinct responses…", saved_bodies.bodies.len());
        }
        let judgement = judge(&run, &saved_bodies);
        Self {
            analysis: analyse(&run, &judgement.work),
            run,
            judgement,
            saved_bodies,
        }
    }

    /// Judges a run that has just ended, and saves the findings about its replies in its folder.
    pub(super) fn ended(folder: &Folder) -> Result<Self, Error> {
        let (_, run) = Folder::read(folder.path())?;
        let judged_run = Self::new(run, folder.saved_bodies()?);
        folder.save_findings(&judged_run.judgement.findings)?;
        Ok(judged_run)
    }

    /// Reads a saved run and judges it.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let (folder, run) = Folder::read(path)?;
        // A report on no blocks would say that the run was too short.
        if run.blocks.is_empty() && run.passes.is_empty() {
            let path = path.to_owned();
            return Err(FolderError::NoBlocks { path }.into());
        }
        let judged_run = Self::new(run, folder.saved_bodies()?);
        if judged_run.saved_bodies.is_empty() && !judged_run.judgement.missing.is_empty() {
            let path = path.to_owned();
            return Err(FolderError::NotKept { path }.into());
        }
        Ok(judged_run)
    }

    /// Prints the run as a report in a format.
    pub(super) fn print(&self, format: &Format, colour: bool) -> anyhow::Result<Vec<u8>> {
        let input = self.input(colour);
        (format.print)(&input).map_err(|why| anyhow!("{}: {why}", format.name))
    }

    /// Returns the headline metrics of a load test as lines: rate, median, 99th percentile, errors and CPU per request.
    /// `server` is printed as the reason if the CPU time is unknown.
    pub(super) fn headline(&self, server: &str) -> String {
        let lines = headline::lines(&self.input(false), server);
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn input(&self, colour: bool) -> ReportInput<'_> {
        ReportInput {
            run: &self.run,
            analysis: &self.analysis,
            judgement: &self.judgement,
            bodies: &self.saved_bodies.bodies,
            colour,
        }
    }
}

/// Returns the report format with this name.
pub(super) fn format(name: &str) -> anyhow::Result<&'static Format> {
    if let Some(format) = report::find(name) {
        return Ok(format);
    }
    let names: Vec<&str> = report::ALL.iter().map(|format| format.name).collect();
    bail!(
        "there is no format `{name}`; there are {}",
        names.join(", ")
    )
}

/// Returns whether to print colours: standard output is a terminal, and `NO_COLOR` is not set.
pub(super) fn colour() -> bool {
    use std::io::IsTerminal;
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
