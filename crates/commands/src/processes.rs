//! Worker processes for commands that make images.

use std::env;
use std::time::Duration;

use andon_isolation::{Prepared, Program, Settings, Which};
use andon_pixels::{Codec, Limits};
use andon_server::config::{FontsConfig, Processes};
use anyhow::Context;

use crate::fonts;

/// The codecs of a command, whose worker processes have not been started yet.
pub(crate) struct Codecs(Option<(Prepared, Which)>);

impl Codecs {
    /// Prepares one worker process per thread in `threads`, each with at most `kept` bytes of free buffers, and
    /// installs the fonts for the workers and for this process. Must be called before a second thread exists, and
    /// before the process gives up privileges.
    ///
    /// # Errors
    /// If the system cannot start a process, or a font is missing.
    pub(crate) fn prepare(
        processes: Processes,
        threads: usize,
        limits: &Limits,
        kept: u64,
        suspect: Duration,
        fonts: Option<&FontsConfig>,
    ) -> anyhow::Result<Self> {
        let which = match processes {
            Processes::ThirdParty => Which::ThirdParty,
            Processes::All => Which::All,
            Processes::None => {
                fonts.map_or(Ok(()), fonts::install)?;
                return Ok(Self(None));
            }
        };
        let shared = fonts.map_or(Ok(None), fonts::share)?;
        let settings = Settings {
            program: program(),
            ready: threads,
            memory: limits.memory,
            kept,
            shared,
            suspect,
        };
        let prepared = Prepared::new(settings).context(
            "cannot start the worker processes (sandbox.processes = \"none\" or --processes none does without)",
        )?;
        Ok(Self(Some((prepared, which))))
    }

    /// Starts the worker processes, and returns the codecs that use them.
    pub(crate) fn start(self) -> &'static [&'static dyn Codec] {
        match self.0 {
            Some((prepared, which)) => {
                andon_isolation::install(andon_codecs::ALL, prepared.start(), which)
            }
            None => andon_codecs::ALL,
        }
    }
}

/// Returns the program of the worker processes: the separately packaged one if it is installed, because it can read
/// formats that this executable cannot, or else this executable.
fn program() -> Program {
    let executable = env::current_exe().unwrap_or_default();
    let folder = executable.parent();
    let places = ["andon-worker", "../lib/andon/andon-worker"];
    let mut installed = places
        .into_iter()
        .filter_map(|place| Some(folder?.join(place)))
        .filter(|path| path.is_file());
    let Some(path) = installed.next() else {
        return Program::this();
    };
    let program = Program {
        path,
        arguments: Vec::new(),
    };
    if program.is_of_this_version() {
        return program;
    }
    eprintln!(
        "andon: {} is not of version {} and is not used: install the package andon-heic of this version, or remove it",
        program.path.display(),
        env!("CARGO_PKG_VERSION")
    );
    Program::this()
}
