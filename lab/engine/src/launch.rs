//! Starts a server in its own work directory, makes sure that it is the one that answers, and ends it completely.
//!
//! [`Launched::start`] returns a server that is ready and whose listening socket belongs to the process tree that was
//! started; [`Launched::stop`] ends the tree. Both block. A [`Guard`] process between the laboratory and the server
//! makes sure that nothing outlives the laboratory.

mod attached;
mod error;
mod guard;
mod listeners;
mod patch;
mod running;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub use andon_client::Endpoint;

pub use error::LaunchError;
pub use guard::{Guard, stand};
pub use running::{describe, running};

pub(crate) use attached::Attached;

use crate::proc;
pub use crate::proc::Pid;
use crate::scenario::{Address, Scenario, Stop, cpus, placeholders};
use crate::variant::Variant;
use guard::LaunchSpec;

#[cfg(test)]
pub(crate) use guard::tests::of_tests as guard_of_tests;

/// A running server that is ready and belongs to the process tree that was started. Dropping it kills the server.
#[derive(Debug)]
pub struct Launched {
    /// The address at which the server listens.
    pub address: Endpoint,
    /// The server's work directory.
    pub work: PathBuf,
    /// Time in seconds that the server took to become ready.
    pub start_seconds: f64,
    guard: Child,
    folder: tempfile::TempDir,
    values: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
    after: String,
    stop: Stop,
}

/// A tool that observes a server from its start.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    /// The tool's command line, to which the server's command is appended.
    pub words: Vec<String>,
    /// Folders that the tool writes into. They are removed with the server's work directory if the laboratory vanishes.
    pub litter: Vec<PathBuf>,
}

/// How a server ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// Whether the server did not end within its grace period and was killed.
    pub killed: bool,
    /// Time in seconds that stopping took, including the scenario's `after` hook.
    pub seconds: f64,
    /// The last lines that the server printed.
    pub output: Vec<String>,
}

impl Launched {
    /// Starts a variant's server and waits until it is ready. `padding` bytes are added to the server's environment,
    /// because its size shifts the stack and thereby affects speed by chance. Blocks should choose it at random.
    ///
    /// # Errors
    /// The scenario asks for something impossible; the address is taken (the error says by which process); the server
    /// ended or was not ready in time (its last output is given); or another process answers at the address. If the
    /// address is to be a free port, up to three more ports are tried first, and the `before` hook runs for each.
    pub fn start(
        scenario: &Scenario,
        variant: &Variant,
        guard: &Guard,
        padding: usize,
    ) -> Result<Self, LaunchError> {
        Self::start_under(&Tool::default(), scenario, variant, guard, padding)
    }

    /// Starts a server under a tool that observes it.
    ///
    /// # Errors
    /// See [`Launched::start`].
    pub fn start_under(
        tool: &Tool,
        scenario: &Scenario,
        variant: &Variant,
        guard: &Guard,
        padding: usize,
    ) -> Result<Self, LaunchError> {
        let is_free_port = matches!(scenario.server.addr, Address::Tcp);
        let mut attempts_left = if is_free_port { OTHER_PORTS } else { 0 };
        loop {
            // Another process may take the port between the moment it is found free and the moment the server listens
            // there.
            match Self::start_once(tool, scenario, variant, guard, padding) {
                Err(LaunchError::Taken { .. }) if attempts_left > 0 => attempts_left -= 1,
                result => return result,
            }
        }
    }

    fn start_once(
        tool: &Tool,
        scenario: &Scenario,
        variant: &Variant,
        guard: &Guard,
        padding: usize,
    ) -> Result<Self, LaunchError> {
        let server = &scenario.server;
        let folder = work_folder(scenario)?;
        let work = folder.path().join("work");
        let output = output_of(&folder);
        let folder_result = fs::create_dir(&work).and_then(|()| File::create(&output));
        folder_result.map_err(|error| LaunchError::new(format!("{}: {error}", work.display())))?;
        let programs = own_programs(&folder)
            .map_err(|error| LaunchError::new(format!("{}: {error}", folder.path().display())))?;

        let address = endpoint(&server.addr, &work)?;
        let values = values(scenario, variant, &address, &work);
        let fill = |text: &str| placeholders::fill(text, &values).into_owned();
        work::furnish(scenario, variant, &work, &values)?;
        let env = environment(scenario, variant, &values, &programs, padding);
        hook("before", &fill(&server.before), &work, &env)?;
        if let Some(listener) = listeners::listeners(&address).first() {
            let owner = listeners::owner(*listener);
            return Err(LaunchError::Taken {
                what: format!(
                    "{address} is already taken by {owner}: end it, or give `server.addr` another \
                     address (\"tcp\": a free port)"
                ),
                output: Vec::new(),
            });
        }

        let cwd = match fill(&server.cwd) {
            empty if empty.is_empty() => work.clone(),
            path => scenario.path(&path),
        };
        let mut cmd: Vec<String> = variant.cmd.iter().map(|word| fill(word)).collect();
        if let Some(program) = cmd.first_mut().filter(|program| program.contains('/')) {
            *program = scenario.path(program).to_string_lossy().into_owned();
        }
        let spec = LaunchSpec {
            cmd: tool.words.iter().cloned().chain(cmd).collect(),
            env: env.clone(),
            cwd,
            output,
            cpus: cpus::parse(&server.cpus).map_err(LaunchError::new)?,
            litter: (tool.litter.iter().cloned())
                .chain([folder.path().to_owned()])
                .collect(),
        };
        let start = Instant::now();
        let guard = (guard.start(&spec))
            .map_err(|error| LaunchError::new(format!("the guard did not start: {error}")))?;
        let mut launched = Self {
            address,
            work,
            start_seconds: 0.0,
            guard,
            folder,
            values,
            env,
            after: server.after.clone(),
            stop: server.stop.clone(),
        };
        launched.wait_until_ready(scenario)?;
        launched.start_seconds = start.elapsed().as_secs_f64();
        Ok(launched)
    }

    /// Returns every process of the server, parents before their children.
    #[must_use]
    pub fn tree(&self) -> Vec<Pid> {
        proc::descendants(self.guard_pid()).pids
    }

    /// Returns the server's first process; for a server that became a daemon, the daemon. `None` if none is left.
    #[must_use]
    pub fn root_pid(&self) -> Option<Pid> {
        proc::children(self.guard_pid())?.first().copied()
    }

    /// Returns the process that the whole server descends from. It is not part of the server itself. The processes that
    /// it has reaped are included in its CPU times of children.
    #[must_use]
    pub fn guard_pid(&self) -> Pid {
        self.guard.id() as Pid
    }

    /// Whether any process of the server is left.
    pub fn alive(&mut self) -> bool {
        matches!(self.guard.try_wait(), Ok(None))
    }

    /// Returns the values of all placeholders, for URLs and headers.
    #[must_use]
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// The last lines that the server printed.
    #[must_use]
    pub fn last_output(&self) -> Vec<String> {
        let bytes = fs::read(output_of(&self.folder)).unwrap_or_default();
        let start = bytes.len().saturating_sub(LAST_BYTES);
        let text = String::from_utf8_lossy(&bytes[start..]).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.len().saturating_sub(LAST_LINES);
        lines[first..].iter().map(|&line| line.to_owned()).collect()
    }

    /// Ends the server: sends its stop signal, waits for its grace period, then kills everything that is left. Runs the
    /// `after` hook and removes the work directory.
    ///
    /// # Errors
    /// A process could not be killed (the error names it), or the `after` hook failed.
    pub fn stop(mut self) -> Result<Stopped, LaunchError> {
        let start = Instant::now();
        let processes: Vec<_> = (self.tree().into_iter())
            .filter_map(|pid| Some((pid, proc::stat(pid)?.starttime)))
            .collect();
        let killed = !self.ended_by_itself(self.stop.grace.duration());
        if killed {
            self.kill();
        }
        let output = self.last_output();
        let survivors: Vec<_> = (processes.into_iter())
            .filter(|(pid, started)| {
                let now = proc::stat(*pid);
                now.is_some_and(|now| now.starttime == *started && now.state != 'Z')
            })
            .map(|(pid, _)| format!("pid {pid} ({})", proc::command(pid)))
            .collect();
        if !survivors.is_empty() {
            let what = format!("still there after being killed: {}", survivors.join(", "));
            return Err(LaunchError::Server { what, output });
        }
        let after = placeholders::fill(&self.after, &self.values).into_owned();
        hook("after", &after, &self.work, &self.env)?;
        Ok(Stopped {
            killed,
            seconds: start.elapsed().as_secs_f64(),
            output,
        })
    }

    fn wait_until_ready(&mut self, scenario: &Scenario) -> Result<(), LaunchError> {
        let ready = &scenario.server.ready;
        let timeout = ready.timeout.duration();
        let start = Instant::now();
        loop {
            if let Ok(Some(status)) = self.guard.try_wait() {
                let how = match status.code() {
                    Some(guard::NOT_STARTED) => "the server could not be started".to_owned(),
                    Some(code) if code > 128 => {
                        format!("the server ended by signal {}", code - 128)
                    }
                    Some(code) => format!("the server ended with status {code}"),
                    None => "the server's guard was killed".to_owned(),
                };
                let what = format!("{how} before it was ready at {}", self.address);
                return Err(match listeners::listeners(&self.address).first() {
                    Some(listener) => {
                        let owner = listeners::owner(*listener);
                        let what = format!("{what}, where {owner} listens");
                        let output = self.last_words();
                        LaunchError::Taken { what, output }
                    }
                    None => self.failed(what),
                });
            }
            let patience = timeout
                .saturating_sub(start.elapsed())
                .max(SHORTEST_PATIENCE);
            let problem = match self.address.ask(&ready.http, patience) {
                Err(error) => error.to_string(),
                Ok(status) if ready.status != 0 && status != ready.status => {
                    format!("{} answers with status {status}", ready.http)
                }
                Ok(_) if !ready.owner => break,
                Ok(_) => match self.stranger() {
                    Ok(None) => break,
                    Ok(Some(owner)) => {
                        let what = format!(
                            "{} answers, but belongs to {owner}, not to the server that was \
                             started",
                            self.address
                        );
                        let output = self.last_words();
                        return Err(LaunchError::Taken { what, output });
                    }
                    Err(what) => what,
                },
            };
            if start.elapsed() >= timeout {
                let what = format!(
                    "the server was not ready at {} within {} (last: {problem})",
                    self.address, ready.timeout
                );
                return Err(self.failed(what));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Returns the process other than the server that listens at its address, if there is one. Fails if no listening
    /// socket is found at all.
    fn stranger(&self) -> Result<Option<String>, String> {
        let listeners = listeners::listeners(&self.address);
        if listeners.is_empty() {
            return Err(format!(
                "{} accepts, but its listening socket is in no table of /proc/net; with a server \
                 in another network namespace, set `server.ready.owner = false`",
                self.address
            ));
        }
        let mut other = None;
        // A server that becomes a daemon may hand its socket to another process during the search, so the search is
        // repeated.
        for _ in 0..LOOKS {
            let tree = self.tree();
            let is_held = |inode| {
                tree.iter()
                    .any(|pid| listeners::holds(*pid, inode) == Some(true))
            };
            other = listeners
                .iter()
                .find(|listener| !is_held(listener.inode))
                .copied();
            if other.is_none() {
                break;
            }
            thread::sleep(POLL);
        }
        Ok(other.map(listeners::owner))
    }

    fn failed(&mut self, what: String) -> LaunchError {
        let output = self.last_words();
        LaunchError::Server { what, output }
    }

    /// Kills the server and returns the last lines that it printed.
    fn last_words(&mut self) -> Vec<String> {
        self.kill();
        self.last_output()
    }

    /// Sends the stop signal once to each child of the guard, and returns whether the server ended within `grace`.
    /// Processes whose parents end become children of the guard, and get the signal then.
    fn ended_by_itself(&mut self, grace: Duration) -> bool {
        let signal = self.stop.parsed().unwrap_or(rustix::process::Signal::TERM);
        let start = Instant::now();
        let mut signalled = BTreeSet::new();
        while start.elapsed() < grace {
            if !self.alive() {
                return true;
            }
            for pid in proc::children(self.guard_pid()).unwrap_or_default() {
                if signalled.insert(pid) {
                    guard::signal(pid, signal);
                }
            }
            thread::sleep(POLL);
        }
        !self.alive()
    }

    /// Makes the guard kill everything, and waits until the guard has ended.
    fn kill(&mut self) {
        if let Some(mut pipe) = self.guard.stdin.take() {
            // Writing fails only if the guard has ended, and then there is nothing to kill.
            let _ = pipe.write_all(guard::KILL);
        }
        let start = Instant::now();
        while self.alive() && start.elapsed() < KILL_PATIENCE {
            thread::sleep(POLL);
        }
        if self.alive() {
            guard::kill_all(self.guard_pid());
            let _ = self.guard.kill();
            let _ = self.guard.wait();
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if self.alive() {
            self.kill();
        }
    }
}

fn work_folder(scenario: &Scenario) -> Result<tempfile::TempDir, LaunchError> {
    let above = match scenario.server.work.as_str() {
        "" => env::temp_dir(),
        path => scenario.path(path),
    };
    let folder = tempfile::Builder::new()
        .prefix("andon-lab-")
        .tempdir_in(&above);
    folder.map_err(|error| {
        LaunchError::new(format!("no work directory in {}: {error}", above.display()))
    })
}

/// Returns the file that receives the server's output. It lies next to the work directory rather than inside, so that
/// it cannot clash with a file of the server.
fn output_of(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("output")
}

fn endpoint(address: &Address, work: &Path) -> Result<Endpoint, LaunchError> {
    let endpoint = match address {
        Address::Tcp => listeners::free_port()
            .map_err(|error| LaunchError::new(format!("no free port: {error}")))?,
        Address::Unix => Endpoint::Unix(work.join("socket")),
        Address::Fixed(text) => match text.strip_prefix("unix:") {
            Some(path) => Endpoint::Unix(path.into()),
            None => Endpoint::Tcp(text.parse().map_err(|error| {
                LaunchError::new(format!("`{text}` is not an address: {error}"))
            })?),
        },
    };
    match &endpoint {
        Endpoint::Unix(path) if path.as_os_str().len() > LONGEST_SOCKET => {
            Err(LaunchError::new(format!(
                "{} is too long for a Unix socket ({LONGEST_SOCKET} bytes): set `server.work` to \
                 a shorter folder",
                path.display()
            )))
        }
        _ => Ok(endpoint),
    }
}

fn values(
    scenario: &Scenario,
    variant: &Variant,
    address: &Endpoint,
    work: &Path,
) -> BTreeMap<String, String> {
    let (host, port, socket) = match address {
        Endpoint::Tcp(address) => (
            address.ip().to_string(),
            address.port().to_string(),
            String::new(),
        ),
        Endpoint::Unix(path) => (String::new(), String::new(), path.display().to_string()),
    };
    let mut values = variant.values();
    values.extend([
        ("work".to_owned(), work.display().to_string()),
        ("addr".to_owned(), address.to_string()),
        ("host".to_owned(), host),
        ("port".to_owned(), port),
        ("socket".to_owned(), socket),
        ("dir".to_owned(), scenario.dir.display().to_string()),
    ]);
    values
}

/// Creates a folder in which the names of our programs link to those next to the running one. So a scenario measures
/// the same build as the laboratory's, whatever other version is installed.
fn own_programs(folder: &tempfile::TempDir) -> io::Result<PathBuf> {
    let programs = folder.path().join("own");
    fs::create_dir(&programs)?;
    for name in OWN {
        if let Some(file) = sibling_program(name) {
            std::os::unix::fs::symlink(file, programs.join(name))?;
        }
    }
    Ok(programs)
}

/// Returns the file of one of our programs in the folder of the running program, if it is there.
fn sibling_program(name: &str) -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    Some(program.parent()?.join(name)).filter(|file| OWN.contains(&name) && file.is_file())
}

/// Returns the file of a program that is named without a folder. For our own programs that is the one next to the
/// running program, if it is there; otherwise the first in `PATH`.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    let in_path = || {
        env::split_paths(&env::var_os("PATH").unwrap_or_default())
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    };
    sibling_program(name).or_else(in_path)
}

/// Returns the path of the program that a server's command names. `None` if the name has no folder and no such program
/// is found.
pub(crate) fn program_file(scenario: &Scenario, program: &str) -> Option<PathBuf> {
    match program.contains('/') {
        true => Some(scenario.path(program)),
        false => find_program(program),
    }
}

/// Returns the server's environment. The folder `programs` comes first in `PATH`, unless the scenario sets `PATH` itself.
fn environment(
    scenario: &Scenario,
    variant: &Variant,
    values: &BTreeMap<String, String>,
    programs: &Path,
    padding: usize,
) -> BTreeMap<String, String> {
    let inherited = scenario.server.inherit.iter().map(String::as_str);
    let mut env: BTreeMap<String, String> = inherited
        .filter_map(|name| Some((name.to_owned(), env::var(name).ok()?)))
        .collect();
    let path = env::var("PATH").unwrap_or_else(|_| USUAL_PATH.to_owned());
    env.insert("PATH".into(), format!("{}:{path}", programs.display()));
    for (name, value) in &variant.env {
        env.insert(name.clone(), placeholders::fill(value, values).into_owned());
    }
    env.retain(|_, value| !value.is_empty());
    if padding > 0 {
        env.insert("ANDON_LAB_PADDING".into(), "x".repeat(padding));
    }
    env
}

/// Runs one of the scenario's hooks (`before`, `after`) in a shell.
fn hook(
    name: &str,
    line: &str,
    work: &Path,
    env: &BTreeMap<String, String>,
) -> Result<(), LaunchError> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let wrong = |what: String| LaunchError::new(format!("`server.{name}` = `{line}`: {what}"));
    // `output()` would also wait for processes that the line leaves running in the background.
    let output = tempfile::NamedTempFile::new().map_err(|error| wrong(error.to_string()))?;
    let (out, err) = (output.reopen(), output.reopen());
    let (Ok(out), Ok(err)) = (out, err) else {
        return Err(wrong("no file for its output".into()));
    };
    let status = Command::new("/bin/sh")
        .args(["-c", line])
        .env_clear()
        .envs(env)
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .status()
        .map_err(|error| wrong(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let text = fs::read(output.path()).unwrap_or_default();
    Err(wrong(format!(
        "{status}; {}",
        String::from_utf8_lossy(&text).trim()
    )))
}

/// Names of our programs in scenarios.
const OWN: [&str; 2] = ["andon", "andon-lab"];

/// The `PATH` that is used if the laboratory has none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Time between two checks of a server that is starting or ending.
const POLL: Duration = Duration::from_millis(5);

/// Number of further free ports to try if other processes have taken the first.
const OTHER_PORTS: usize = 3;

/// Number of searches for the listening socket in the server's process tree before it counts as another process's.
const LOOKS: usize = 4;

/// Minimum time that a server has to answer once it accepts connections, even if its time-out for getting ready is
/// almost over.
const SHORTEST_PATIENCE: Duration = Duration::from_millis(100);

/// How long to wait for killed processes to end, which takes long if they write a core file or wait for a disk.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// Length of the longest path of a Unix socket in bytes: `sun_path` without its terminating NUL.
const LONGEST_SOCKET: usize = 107;

/// Number of last lines of a server's output that are reported.
const LAST_LINES: usize = 12;
const LAST_BYTES: usize = 4096;

#[cfg(test)]
mod tests;
