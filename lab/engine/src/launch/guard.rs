//! The guard: a small process between the laboratory and the server, so that nothing is ever left behind.
//!
//! The guard is the server's parent and the "subreaper" of everything that descends from it: a server that turns itself
//! into a daemon becomes the guard's child, not init's. So the server's tree is always what descends from the guard,
//! and the CPU time of ended processes is in the guard's CPU times of children. Its standard input is a pipe from the
//! laboratory. When that closes, even because the laboratory was killed, the guard kills the tree and removes the work
//! directory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, kill_process, set_child_subreaper, wait};
use serde::{Deserialize, Serialize};

use crate::proc::{self, Pid};
use crate::scenario::cpus;

/// How to start a guard: arguments and environment with which the running program calls [`stand`] when it is started
/// again.
#[derive(Clone, Debug)]
pub struct Guard {
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

/// The process that a guard starts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LaunchSpec {
    pub(super) cmd: Vec<String>,
    /// The whole environment of the process; nothing is inherited.
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: PathBuf,
    /// The existing file that the process's output is appended to.
    pub(super) output: PathBuf,
    /// CPUs that the process may use; empty means all.
    pub(super) cpus: Vec<usize>,
    /// Folders that are removed if the laboratory vanishes.
    pub(super) litter: Vec<PathBuf>,
}

impl Guard {
    /// Uses the running program as the guard: it is started again with these arguments, with which it must call
    /// [`stand`].
    pub fn this_program<A: Into<OsString>>(args: impl IntoIterator<Item = A>) -> Self {
        Self {
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
        }
    }

    /// Adds a variable to the guard's environment (not to the server's).
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Starts the guard process, which starts the server.
    pub(super) fn start(&self, spec: &LaunchSpec) -> io::Result<Child> {
        let mut child = Command::new("/proc/self/exe")
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A group of its own keeps Ctrl-C from the guard, so that the laboratory can stop its servers in order.
            .process_group(0)
            .spawn()?;
        let mut line = serde_json::to_vec(spec)?;
        line.push(b'\n');
        let Some(stdin) = child.stdin.as_mut() else {
            return Err(io::Error::other("the guard has no input"));
        };
        stdin.write_all(&line)?;
        Ok(child)
    }
}

/// Message from the laboratory to the guard: kill the server's process tree. The laboratory then cleans up itself.
pub(super) const KILL: &[u8] = b"kill\n";

/// Exit status of a guard whose server could not be started.
pub(super) const NOT_STARTED: i32 = 127;

/// Acts as the guard: reads from standard input what to start, starts the server, and reaps processes until none is
/// left. Returns the exit status: the server's own, 128 plus the signal that ended it, or 127 if it did not start.
#[must_use]
pub fn stand() -> i32 {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line).is_err() {
        return NOT_STARTED;
    }
    let Ok(spec) = serde_json::from_str::<LaunchSpec>(&line) else {
        return NOT_STARTED;
    };
    let server = match start(&spec) {
        Ok(pid) => pid,
        Err(error) => {
            let program = spec.cmd.first().map_or("", String::as_str);
            if let Ok(mut output) = OpenOptions::new().append(true).open(&spec.output) {
                let _ = writeln!(output, "`{program}` could not be started: {error}");
            }
            return NOT_STARTED;
        }
    };
    thread::spawn(watch);
    let status = reap(server);
    if ABANDONED.load(Ordering::SeqCst) {
        for path in &spec.litter {
            // A folder of the kernel's (a tracer instance) can only be removed as a whole, any other only with all of
            // its content.
            let _ = fs::remove_dir(path).or_else(|_| fs::remove_dir_all(path));
        }
    }
    status
}

fn start(spec: &LaunchSpec) -> io::Result<Pid> {
    // The kernel ignores which id this is. `None` would clear the flag.
    set_child_subreaper(Some(rustix::process::getpid()))?;
    cpus::stay_on(&spec.cpus)?;
    let output = OpenOptions::new().append(true).open(&spec.output)?;
    let (program, args) = (spec.cmd.split_first()).ok_or_else(|| io::Error::other("no command"))?;
    let child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(&spec.env)
        .current_dir(&spec.cwd)
        .stdin(Stdio::null())
        .stdout(File::try_clone(&output)?)
        .stderr(output)
        .process_group(0)
        .spawn()?;
    Ok(child.id() as Pid)
}

/// Waits for a message from the laboratory or for the end of its pipe, then kills all descendants repeatedly, until the
/// reaper finds none left and ends the process.
fn watch() {
    let mut word = String::new();
    let read = io::stdin().lock().read_line(&mut word);
    ABANDONED.store(!matches!(read, Ok(bytes) if bytes > 0), Ordering::SeqCst);
    loop {
        kill_all(std::process::id() as Pid);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reaps every process that ends. Returns the status of the process `first` once no children are left.
fn reap(first: Pid) -> i32 {
    let mut status = 0;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, how))) if pid.as_raw_pid() == first => {
                let signalled = how.terminating_signal().map(|signal| 128 + signal);
                status = how.exit_status().or(signalled).unwrap_or(0);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return status,
        }
    }
}

/// Sends SIGKILL to every running descendant of `root`, but not to `root` itself.
pub(super) fn kill_all(root: Pid) {
    for pid in proc::descendants(root).pids {
        if proc::runs(pid) {
            signal(pid, Signal::KILL);
        }
    }
}

/// Sends a signal to a process. It is no error if the process has already ended.
pub(super) fn signal(pid: Pid, signal: Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Whether the pipe from the laboratory closed without a command: the laboratory has vanished, and the guard cleans up
/// in its place.
static ABANDONED: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Not a test in itself: the entry point of the test program when [`of_tests`] starts it as a guard.
    #[test]
    fn the_test_program_stands_as_guard_when_asked_to() {
        if std::env::var_os(ASKED).is_some() {
            std::process::exit(stand());
        }
    }

    /// Returns a guard that starts this test program.
    pub(crate) fn of_tests() -> Guard {
        let name = "launch::guard::tests::the_test_program_stands_as_guard_when_asked_to";
        Guard::this_program([name, "--exact", "--nocapture"]).env(ASKED, "1")
    }

    const ASKED: &str = "ANDON_LAB_TEST_IS_GUARD";
}
