//! A run with everything that can be said about it.

use std::path::Path;

use andon_lab::analysis::{Analysis, analyse};
use andon_lab::bodies::{Judged, judge};
use andon_lab::experiment::Error;
use andon_lab::record::{Folder, FolderError, Run, SavedBodies};
use andon_lab::report::{self, Format, ReportInput, headline};
use anyhow::{anyhow, bail};

/// A run, judged.
pub(crate) struct JudgedRun {
    pub(crate) run: Run,
    pub(crate) analysis: Analysis,
    pub(super) judged: Judged,
    kept: SavedBodies,
}

impl JudgedRun {
    /// Judges a run by what is kept of its replies.
    pub(super) fn new(run: Run, kept: SavedBodies) -> Self {
        let judged = judge(&run, &kept);
        Self {
            analysis: analyse(&run, &judged.work),
            run,
            judged,
            kept,
        }
    }

    /// Judges a run that has just ended, and writes down what was found about its replies.
    pub(super) fn ended(folder: &Folder) -> Result<Self, Error> {
        let (_, run) = Folder::read(folder.path())?;
        let judged = Self::new(run, folder.kept()?);
        folder.note(&judged.judged.findings)?;
        Ok(judged)
    }

    /// Reads a saved run and judges it.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let (folder, run) = Folder::read(path)?;
        // Zero blocks would read as a run that was too short.
        if run.blocks.is_empty() && run.passes.is_empty() {
            let path = path.to_owned();
            return Err(FolderError::NoBlocks { path }.into());
        }
        let judged = Self::new(run, folder.kept()?);
        if judged.kept.is_empty() && !judged.judged.missing.is_empty() {
            let path = path.to_owned();
            return Err(FolderError::NotKept { path }.into());
        }
        Ok(judged)
    }

    /// Prints it in a format.
    pub(super) fn print(&self, format: &Format, colour: bool) -> anyhow::Result<Vec<u8>> {
        let input = self.input(colour);
        (format.print)(&input).map_err(|why| anyhow!("{}: {why}", format.name))
    }

    /// What a load test is asked for first; `server`: what is known about its processes.
    pub(super) fn headline(&self, server: &str) -> String {
        let lines = headline::lines(&self.input(false), server);
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn input(&self, colour: bool) -> ReportInput<'_> {
        ReportInput {
            run: &self.run,
            analysis: &self.analysis,
            judged: &self.judged,
            bodies: &self.kept.bodies,
            colour,
        }
    }
}

/// The format of this name.
pub(super) fn format(name: &str) -> anyhow::Result<&'static Format> {
    if let Some(format) = report::find(name) {
        return Ok(format);
    }
    let known: Vec<&str> = report::ALL.iter().map(|format| format.name).collect();
    bail!(
        "there is no format `{name}`; there are {}",
        known.join(", ")
    )
}

/// Colours only on a terminal that wants them.
pub(super) fn colour() -> bool {
    use std::io::IsTerminal;
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
