//! A tool that observes a running server: strace, or the reader of the kernel's trace. It runs under a [`Guard`], so
//! that it detaches from the server when the laboratory ends, for whatever reason.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::guard::{self, Guard, LaunchSpec};
use crate::proc::{self, Pid};

/// A running tool that observes a server, such as strace. Dropping it kills the tool.
#[derive(Debug)]
pub(crate) struct Attached {
    guard: Child,
    output: PathBuf,
    /// The temporary folder that holds `output`.
    _folder: tempfile::TempDir,
}

impl Attached {
    /// Starts an observing tool by its command line `words`, with the laboratory's own `PATH`. The folders in `litter`
    /// are removed if the laboratory vanishes.
    pub(crate) fn start(
        guard: &Guard,
        words: Vec<String>,
        mut litter: Vec<PathBuf>,
    ) -> Result<Self, String> {
        let wrong = |error: std::io::Error| format!("the tool could not be started: {error}");
        let folder = tempfile::Builder::new()
            .prefix("andon-lab-")
            .tempdir()
            .map_err(wrong)?;
        let output = folder.path().join("output");
        fs::File::create(&output).map_err(wrong)?;
        let path = env::var("PATH").unwrap_or_default();
        litter.push(folder.path().to_owned());
        let guard = guard.start(&LaunchSpec {
            cmd: words,
            env: BTreeMap::from([("PATH".to_owned(), path)]),
            cwd: folder.path().to_owned(),
            output: output.clone(),
            cpus: Vec::new(),
            litter,
        });
        Ok(Self {
            guard: guard.map_err(wrong)?,
            output,
            _folder: folder,
        })
    }

    /// Waits until all threads of all these processes are being traced. Fails if the tool ends or takes too long.
    pub(crate) fn wait_until_traced(&mut self, pids: &[Pid]) -> Result<(), String> {
        let start = Instant::now();
        while !pids.iter().all(|pid| proc::traced(*pid)) {
            if !self.alive() || start.elapsed() > PATIENCE {
                let why = self.last_word();
                return Err(format!("the server may not be watched ({why})"));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Asks the observing tool by SIGTERM to detach from the server, and waits until it has ended, for 10 s at most.
    pub(crate) fn stop(mut self) {
        for pid in proc::children(self.guard.id() as Pid).unwrap_or_default() {
            guard::signal(pid, Signal::TERM);
        }
        let start = Instant::now();
        while self.alive() && start.elapsed() < PATIENCE {
            thread::sleep(POLL);
        }
    }

    /// Returns the file that receives the tool's output.
    pub(crate) fn output(&self) -> &Path {
        &self.output
    }

    /// Returns the last line that the tool printed, or a text that says that there is none.
    pub(crate) fn last_word(&self) -> String {
        let output = fs::read_to_string(&self.output).unwrap_or_default();
        output
            .lines()
            .last()
            .unwrap_or("it does not say why")
            .into()
    }

    fn alive(&mut self) -> bool {
        matches!(self.guard.try_wait(), Ok(None))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.guard.stdin.take() {
            // Writing fails only if the guard has ended, and then there is nothing to kill.
            let _ = pipe.write_all(guard::KILL);
        }
        let _ = self.guard.wait();
    }
}

/// Maximum time that an observing tool may take to attach to a server, or to detach from it. Attaching to many threads
/// takes time, detaching less.
const PATIENCE: Duration = Duration::from_secs(10);

const POLL: Duration = Duration::from_millis(10);
