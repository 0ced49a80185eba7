//! The privileges that the server gives up at its start, so that an attacker who takes over a decoder by a crafted image
//! gains little.
//!
//! | thread | files (Landlock, `files`) | system calls (seccomp) |
//! |---|---|---|
//! | all | those that the configuration and the system's name look-up need, [`files`] | none that start programs, look into other processes or change the machine, [`process`] |
//! | worker threads, where images are decoded | the same | those that compute: no `open`, no `socket`, no new thread, [`confine`] |
//!
//! Landlock restricts a thread and the threads that it starts from then on (all threads of a process at once only since
//! Linux 7.0). So a program [enters](Sandbox::enter) while it has one thread, before the server binds its addresses and
//! opens its files; the rules come from the configuration, which names all of them. The worker threads restrict themselves
//! in addition when they start, in every program that runs a server.
//!
//! A violation does not kill the process: the system call fails with `EPERM` or `EACCES`, and the error is answered or
//! logged like any other.

mod files;
mod process;

use std::io;
use std::path::Path;
use std::thread;

use andon_isolation::confine;

use self::files::FileRules;
use crate::config::{Config, ConfigError, Processes, SandboxMode};

/// The sandbox that this process is in, if any.
#[derive(Debug)]
pub struct Sandbox {
    mode: SandboxMode,
    processes: Processes,
    /// Rules for the files that may be opened; `None` if all may.
    files: Option<FileRules>,
    /// Whether system calls are restricted.
    syscalls: bool,
}

impl Sandbox {
    /// Restricts the process to what a server with this configuration needs, for the rest of its life. `file` is the
    /// configuration file, if there is one, because a reload reads it again. Must be called while the process has only
    /// one thread.
    ///
    /// If the kernel does not support a restriction, the log says so and the server runs without it.
    ///
    /// # Errors
    /// If the kernel does not support a restriction and `sandbox.mode` is `required`.
    pub fn enter(config: &Config, file: Option<&Path>) -> Result<Self, ConfigError> {
        let mode = config.sandbox.mode;
        if mode == SandboxMode::Off {
            return Ok(Self {
                mode,
                processes: config.sandbox.processes,
                files: None,
                syscalls: false,
            });
        }
        let rules = FileRules::of(config, file);
        let files = match rules.restrict() {
            Ok(()) => Some(rules),
            Err(error) => {
                allow_without(mode, FILES, &error)?;
                None
            }
        };
        let syscalls = process::restrict();
        if let Err(error) = &syscalls {
            allow_without(mode, SYSCALLS, error)?;
        }
        Ok(Self {
            mode,
            processes: config.sandbox.processes,
            files,
            syscalls: syscalls.is_ok(),
        })
    }

    /// Logs what is restricted; logs nothing if `sandbox.mode` is `off`.
    pub fn report(&self) {
        let scope = match (&self.files, self.syscalls) {
            (Some(_), true) => "files and system calls are",
            (Some(_), false) => "files are",
            (None, true) => "system calls are",
            (None, false) => "nothing is",
        };
        if self.mode != SandboxMode::Off {
            tracing::info!("sandbox: {scope} restricted");
        }
    }

    /// Checks whether another configuration can be served in this sandbox. Privileges that were given up at the start cannot
    /// be regained without a restart.
    ///
    /// # Errors
    /// An error that names the configuration key, and says which path the process may not open, or which setting takes
    /// effect with a restart only.
    pub fn permits(&self, config: &Config) -> Result<(), ConfigError> {
        let mode = config.sandbox.mode;
        if mode != self.mode {
            let text = format!(
                "\"{}\" takes effect with a restart only; the server was started with \"{}\"",
                mode.name(),
                self.mode.name()
            );
            return Err(ConfigError::new("sandbox.mode", text));
        }
        let processes = config.sandbox.processes;
        if processes != self.processes {
            let text = format!(
                "\"{}\" takes effect with a restart only; the server was started with \"{}\"",
                processes.name(),
                self.processes.name()
            );
            return Err(ConfigError::new("sandbox.processes", text));
        }
        match &self.files {
            Some(rules) => rules.permit(&FileRules::of(config, None)),
            None => Ok(()),
        }
    }
}

/// Checks, on a thread of its own, that the kernel supports all restrictions that `sandbox.mode = "required"` needs. Does
/// nothing in other modes.
///
/// # Errors
/// If the kernel does not support a restriction.
pub(crate) fn check(config: &Config) -> Result<(), ConfigError> {
    if config.sandbox.mode != SandboxMode::Required {
        return Ok(());
    }
    let rules = FileRules::of(config, None);
    // On a thread of its own, so that the restrictions end with it.
    let trial = thread::spawn(move || {
        let files = rules.restrict().map_err(|error| (FILES, error));
        files.and_then(|()| confine::thread().map_err(|error| (SYSCALLS, error)))
    });
    let result = trial.join().unwrap_or_else(|_| {
        let error = io::Error::other("the thread that tried it panicked");
        Err((FILES, error))
    });
    result.or_else(|(what, error)| allow_without(SandboxMode::Required, what, &error))
}

/// Logs that this system cannot restrict `what`, or returns an error if the mode is `required`.
fn allow_without(mode: SandboxMode, what: &str, error: &io::Error) -> Result<(), ConfigError> {
    if mode == SandboxMode::Required {
        let text = format!(
            "is \"required\", and this system cannot restrict {what} ({error}); \"auto\" starts the server without"
        );
        return Err(ConfigError::new("sandbox.mode", text));
    }
    tracing::warn!(%error, "sandbox: this system cannot restrict {what}; serving without");
    Ok(())
}

const FILES: &str = "files (Landlock, Linux 5.19)";
const SYSCALLS: &str = "system calls (seccomp)";
