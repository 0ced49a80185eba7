//! How strace is called, and whether it may trace programs on this machine.

mod line;

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::tool;
use super::trace::Trace;
use crate::proc::Pid;

/// An installed strace that works here.
pub(super) struct Strace {
    program: String,
    version: String,
}

/// Factor by which the time-outs of a server under strace are extended: every system call stops its thread twice.
pub(super) const PATIENCE: f64 = 20.0;

impl Strace {
    /// Finds strace and tries it on a program that does nothing, since containers often forbid ptrace.
    pub(super) fn find() -> Result<Self, String> {
        let program = tool::find("strace")?;
        let version = tool::version(&program)?;
        let strace = Self { program, version };
        let wrong = |error: std::io::Error| format!("strace cannot be tried: {error}");
        let trace = Self::trace()?;
        let words = strace.words(&trace.path());
        let output = Command::new(&words[0])
            .args(&words[1..])
            .arg("true")
            .stdin(Stdio::null())
            .output()
            .map_err(wrong)?;
        if trace.rested() == 0 {
            let message = String::from_utf8_lossy(&output.stderr);
            let why = message.lines().next().unwrap_or("it saw nothing");
            return Err(format!("strace may not watch programs here ({why})"));
        }
        Ok(strace)
    }

    /// Creates a file for strace to write into.
    pub(super) fn trace() -> Result<Trace, String> {
        Trace::new(line::parse)
    }

    /// Returns the words to put before the server's command: strace follows forks and threads, times every call, prints
    /// arguments as raw numbers (decoding them costs time) and leaves signals out. With `-D`, strace makes itself the
    /// server's grandchild, so that the server remains the first process, as without strace, and gets the signals that
    /// end it.
    pub(super) fn words(&self, trace: &Path) -> Vec<String> {
        let mut words = self.watching(trace);
        words.insert(1, "-D".into());
        words.push("--".into());
        words
    }

    /// Returns the command that makes strace trace processes which are already running, with all their threads and
    /// whatever they fork.
    pub(super) fn attach(&self, trace: &Path, pids: &[Pid]) -> Vec<String> {
        let mut words = self.watching(trace);
        words.extend(
            pids.iter()
                .flat_map(|pid| ["-p".to_owned(), pid.to_string()]),
        );
        words
    }

    fn watching(&self, trace: &Path) -> Vec<String> {
        let trace = trace.to_string_lossy();
        let options = [
            "-f",
            "-T",
            "-qq",
            "-e",
            "signal=none",
            "-e",
            "raw=all",
            "-o",
            &trace,
        ];
        std::iter::once(self.program.as_str())
            .chain(options)
            .map(str::to_owned)
            .collect()
    }
}

impl fmt::Display for Strace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "strace {}", self.version)
    }
}
