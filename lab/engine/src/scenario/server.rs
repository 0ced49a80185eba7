//! `[server]`: the program, its environment, when it counts as ready and how it is stopped.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::Seconds;

/// The server under test. In `cmd`, `env`, `args` and copied files, these placeholders are replaced by their values:
/// `{work}` (the server's work directory), `{addr}` (`127.0.0.1:PORT` or `unix:PATH`), `{host}`, `{port}`, `{socket}`
/// (path of the Unix socket), `{dir}` (the scenario file's folder), the names in the scenario's `[matrix]` and the keys
/// of the variant's `set`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// Program and arguments, run without a shell.
    pub cmd: Vec<String>,
    /// The address at which the server listens: a fixed one, or a TCP port or Unix socket chosen for it.
    pub addr: Address,
    /// The server's environment variables. It gets no others but `PATH` and those named in `inherit`.
    pub env: BTreeMap<String, String>,
    /// Names of variables passed on from the laboratory's own environment.
    pub inherit: Vec<String>,
    /// Files copied into `{work}`: name there = path relative to the scenario file. Folders are copied recursively.
    pub files: BTreeMap<String, String>,
    /// The server's working directory. Empty for `{work}`.
    pub cwd: String,
    /// The condition by which the server is known to be ready.
    pub ready: Ready,
    /// The signal that stops the server, and the time it is given to end.
    pub stop: Stop,
    /// Whether each block or each variant gets a new server process.
    pub fresh: Fresh,
    /// CPUs that the server may use, e.g. `0-1`. Empty for all.
    pub cpus: String,
    /// Shell command run in `{work}` before each start, untimed.
    pub before: String,
    /// Shell command run in `{work}` after each stop, untimed.
    pub after: String,
    /// Folder in which work directories are created (e.g. on a tmpfs). Empty for the system's temporary folder.
    pub work: String,
}

/// The address at which the server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Address {
    /// A free TCP port of the loopback interface.
    #[default]
    Tcp,
    /// A Unix socket in `{work}`.
    Unix,
    /// A fixed address: `127.0.0.1:8080` or `unix:/run/server.sock`.
    Fixed(String),
}

impl From<String> for Address {
    fn from(text: String) -> Self {
        match text.as_str() {
            "tcp" => Self::Tcp,
            "unix" => Self::Unix,
            _ => Self::Fixed(text),
        }
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        match address {
            Address::Tcp => "tcp".into(),
            Address::Unix => "unix".into(),
            Address::Fixed(text) => text,
        }
    }
}

impl Stop {
    /// Returns the signal that `signal` names.
    ///
    /// # Errors
    /// A sentence that names the unknown signal and the known ones.
    pub fn parsed(&self) -> Result<Signal, String> {
        let name = self.signal.strip_prefix("SIG").unwrap_or(&self.signal);
        let signal = SIGNALS.iter().find(|(word, _)| *word == name);
        signal.map(|(_, signal)| *signal).ok_or_else(|| {
            let names: Vec<_> = SIGNALS.iter().map(|(name, _)| *name).collect();
            super::unknown("signal", &self.signal, &names)
        })
    }
}

/// Names of the signals that may be used to stop a server.
const SIGNALS: [(&str, Signal); 8] = [
    ("TERM", Signal::TERM),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("HUP", Signal::HUP),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("WINCH", Signal::WINCH),
    ("KILL", Signal::KILL),
];

/// The condition under which the server counts as ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ready {
    /// Request target that must be answered. If empty, it is enough that the port accepts connections.
    pub http: String,
    /// Status code that the answer must have. 0 for any.
    pub status: u16,
    /// Whether the listening socket must belong to the process tree that was started.
    pub owner: bool,
    /// Time after which starting the server is given up.
    pub timeout: Seconds,
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            http: String::new(),
            status: 0,
            owner: true,
            timeout: Seconds(10.0),
        }
    }
}

/// How the server is stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stop {
    /// Signal sent to the server's first process: `TERM`, `INT`, `QUIT`, `HUP`, `USR1`, `USR2`, `WINCH` or `KILL`.
    pub signal: String,
    /// Time after the signal at which every process that is left is killed.
    pub grace: Seconds,
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            signal: "TERM".into(),
            grace: Seconds(5.0),
        }
    }
}

/// The lifetime of a server process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// One block: each block starts a new process.
    #[default]
    Block,
    /// All blocks of a variant. This is cheaper, but the luck of one start affects all of them.
    Variant,
}
