//! Memory limit of the server. It is a control group if one can be created. Otherwise it is a limit on the address
//! space, which is stricter than one on memory and makes allocations fail instead of killing processes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// How the memory of a server is limited.
pub(super) struct Limit {
    mechanism: Mechanism,
    description: String,
}

enum Mechanism {
    Free,
    /// A control group: its folder and the names of its files.
    Group(PathBuf, &'static Version),
    /// Limit on the address space, in KiB.
    Addresses(u64),
}

/// File names in one version of control groups.
struct Version {
    name: &'static str,
    limit: &'static str,
    peak: &'static str,
    /// File with a line `oom_kill N`, where N is the number of processes that the kernel killed for lack of memory.
    events: &'static str,
}

const VERSION_1: Version = Version {
    name: "control group (version 1)",
    limit: "memory.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
    events: "memory.oom_control",
};

const VERSION_2: Version = Version {
    name: "control group (version 2)",
    limit: "memory.max",
    peak: "memory.peak",
    events: "memory.events",
};

impl Limit {
    /// Creates an unlimited `Limit`.
    pub(super) fn none() -> Self {
        Self {
            mechanism: Mechanism::Free,
            description: "none".to_owned(),
        }
    }

    /// Creates a limit of this many bytes: a control group if possible, otherwise a limit on the address space.
    pub(super) fn of(bytes: u64) -> Result<Self> {
        for (mount, version) in [
            ("/sys/fs/cgroup", &VERSION_2),
            ("/sys/fs/cgroup/memory", &VERSION_1),
        ] {
            let group = Path::new(mount).join(format!("andon-bench-{}", std::process::id()));
            if fs::create_dir(&group).is_err() {
                continue;
            }
            // The file is missing in a folder that is no control group, or whose group does not control memory.
            let limit_file = group.join(version.limit);
            let limit = Self {
                description: format!("{} of {} MiB", version.name, bytes >> 20),
                mechanism: Mechanism::Group(group.clone(), version),
            };
            if limit_file.is_file() && fs::write(limit_file, bytes.to_string()).is_ok() {
                return Ok(limit);
            }
        }
        Ok(Self {
            mechanism: Mechanism::Addresses(bytes >> 10),
            description: format!(
                "no control group may be made here; {} MiB of addresses (ulimit -v) instead",
                bytes >> 20
            ),
        })
    }

    pub(super) fn describe(&self) -> &str {
        &self.description
    }

    /// Returns the command that starts the server under this limit. It is a shell that applies the limit to itself and
    /// then becomes the server.
    pub(super) fn command(&self) -> Result<Command> {
        let andon = env::current_exe()?.with_file_name("andon");
        let (script, argument) = match &self.mechanism {
            Mechanism::Free => return Ok(Command::new(andon)),
            Mechanism::Group(group, _) => (
                "echo $$ >\"$0\" && exec \"$@\"",
                group.join("cgroup.procs").into_os_string(),
            ),
            Mechanism::Addresses(kib) => {
                ("ulimit -v \"$0\" && exec \"$@\"", kib.to_string().into())
            }
        };
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(argument).arg(andon);
        Ok(command)
    }

    /// Returns the maximum number of bytes that were charged to the control group, or `None` without a group.
    pub(super) fn peak_bytes(&self) -> Option<u64> {
        let Mechanism::Group(group, version) = &self.mechanism else {
            return None;
        };
        let text = fs::read_to_string(group.join(version.peak)).ok()?;
        text.trim().parse().ok()
    }

    /// Returns how many processes of the control group the kernel has killed, or `None` without a group.
    pub(super) fn kills(&self) -> Option<u64> {
        let Mechanism::Group(group, version) = &self.mechanism else {
            return None;
        };
        let text = fs::read_to_string(group.join(version.events)).ok()?;
        kills(&text).ok()
    }
}

fn kills(events: &str) -> Result<u64> {
    let line = events
        .lines()
        .find_map(|line| line.strip_prefix("oom_kill "));
    Ok(line.context("no count of kills")?.trim().parse()?)
}

impl Drop for Limit {
    fn drop(&mut self) {
        if let Mechanism::Group(group, _) = &self.mechanism {
            // The group is empty once the server has ended. An empty group that remains costs nothing.
            let _ = fs::remove_dir(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_read_from_both_kinds_of_files() {
        let first = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
        let second = "low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\n";
        assert_eq!(kills(first).unwrap(), 2);
        assert_eq!(kills(second).unwrap(), 1);
        assert!(kills("oom_kill_disable 0\n").is_err());
    }
}
