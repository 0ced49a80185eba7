//! `[server]`: the program, its surroundings, when it is ready, how it is ended.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::Seconds;

/// The server under test. In `cmd`, `env`, `args` and copied files the placeholders `{work}` (its work
/// directory), `{addr}` (`127.0.0.1:PORT` or `unix:PATH`), `{host}`, `{port}`, `{socket}` (path of the Unix
/// socket), `{dir}` (the scenario file's folder), the matrix's names and the variant's `set` keys stand for
/// their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// Program and arguments; no shell.
    pub cmd: Vec<String>,
    /// The address at which the server listens: a port, a socket, or one that is chosen.
    pub addr: Address,
    /// Its environment; nothing else is in it but `PATH` and what `inherit` names.
    pub env: BTreeMap<String, String>,
    /// Names passed on from the lab's own environment.
    pub inherit: Vec<String>,
    /// Copied into `{work}`: name there = path relative to the scenario file. Folders are copied whole.
    pub files: BTreeMap<String, String>,
    /// Its working directory; empty: `{work}`.
    pub cwd: String,
    /// The sign by which the server is known to be ready.
    pub ready: Ready,
    /// The signal that ends the server, and the time that it is given.
    pub stop: Stop,
    /// A new process for each block, or one per variant.
    pub fresh: Fresh,
    /// CPUs it may use, e.g. `0-1`; empty: all.
    pub cpus: String,
    /// Shell line run in `{work}` before each start, untimed.
    pub before: String,
    /// Shell line run in `{work}` after each stop, untimed.
    pub after: String,
    /// Folder for work directories (e.g. on a tmpfs); empty: the system's temporary folder.
    pub work: String,
}

/// Where the server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Address {
    /// A free TCP port of the loopback interface.
    #[default]
    Tcp,
    /// A Unix socket in `{work}`.
    Unix,
    /// This address: `127.0.0.1:8080` or `unix:/run/server.sock`.
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
    /// The signal.
    ///
    /// # Errors
    /// A sentence with the offending value and the names that are known.
    pub fn parsed(&self) -> Result<Signal, String> {
        let name = self.signal.strip_prefix("SIG").unwrap_or(&self.signal);
        let known = SIGNALS.iter().find(|(known, _)| *known == name);
        known.map(|(_, signal)| *signal).ok_or_else(|| {
            let names: Vec<_> = SIGNALS.iter().map(|(name, _)| *name).collect();
            super::unknown("signal", &self.signal, &names)
        })
    }
}

/// Signals that servers end on.
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

/// When the server counts as ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ready {
    /// This target must answer; empty: it is enough that the port accepts.
    pub http: String,
    /// With this status; 0: any.
    pub status: u16,
    /// The listening socket must belong to the process tree that was started.
    pub owner: bool,
    /// Given up after this.
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

/// How the server is ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stop {
    /// Signal to its first process: `TERM`, `INT`, `QUIT`, `HUP`, `USR1`, `USR2`, `WINCH` or `KILL`.
    pub signal: String,
    /// Everything that is left then is killed.
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

/// How long a server process lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// One block.
    #[default]
    Block,
    /// All blocks of its variant: cheaper, and luck of one start stays in all of them.
    Variant,
}
