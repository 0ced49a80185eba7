//! Worker processes of commands that make images.

use std::io;
use std::time::Duration;

use andon_isolation::{Prepared, Program, Settings, Which};
use andon_pixels::{Codec, Limits};
use andon_server::config::Processes;

/// The codecs of a command, whose worker processes are not started yet.
pub(crate) struct Codecs(Option<(Prepared, Which)>);

impl Codecs {
    /// Prepares a worker process for each of `threads`, with at most `kept` bytes of free buffers each. Must be called
    /// before there is a second thread, and before the process gives up any privileges.
    ///
    /// # Errors
    /// If the system cannot start a process.
    pub(crate) fn prepare(
        processes: Processes,
        threads: usize,
        limits: &Limits,
        kept: u64,
        suspect: Duration,
    ) -> io::Result<Self> {
        let which = match processes {
            Processes::ThirdParty => Which::ThirdParty,
            Processes::All => Which::All,
            Processes::None => return Ok(Self(None)),
        };
        let settings = Settings {
            program: Program::this(),
            ready: threads,
            memory: limits.memory,
            kept,
            suspect,
        };
        Ok(Self(Some((Prepared::new(settings)?, which))))
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
