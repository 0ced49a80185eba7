//! A run with everything that can be said about it.

use std::collections::BTreeMap;
use std::path::Path;

use andon_lab::analysis::{Analysis, analyse};
use andon_lab::bodies::{Judged, judge};
use andon_lab::record::{Folder, Run};
use andon_lab::report::{self, Format, Material};
use anyhow::{anyhow, bail};
use bytes::Bytes;

/// A run, judged.
pub(crate) struct Whole {
    pub(crate) run: Run,
    pub(crate) analysis: Analysis,
    pub(super) judged: Judged,
    bodies: BTreeMap<String, Bytes>,
}

impl Whole {
    /// Judges a run.
    pub(super) fn new(run: Run, bodies: BTreeMap<String, Bytes>) -> Self {
        let judged = judge(&run, &bodies);
        Self {
            analysis: analyse(&run, &judged.work),
            run,
            judged,
            bodies,
        }
    }

    /// Reads a run's folder and judges it.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let (folder, run) = Folder::read(folder)?;
        let bodies = folder.bodies()?;
        Ok(Self::new(run, bodies))
    }

    /// Prints it in a format.
    pub(super) fn print(&self, format: &Format, colour: bool) -> anyhow::Result<Vec<u8>> {
        let material = Material {
            run: &self.run,
            analysis: &self.analysis,
            judged: &self.judged,
            bodies: &self.bodies,
            colour,
        };
        (format.print)(&material).map_err(|why| anyhow!("{}: {why}", format.name))
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
