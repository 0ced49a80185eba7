//! What Linux tells about a process: `/proc/PID/…`.

use std::fs;

use anyhow::{Context, Result};
use serde::Serialize;

/// A line of `/proc/PID/status` that counts in kB, such as `VmRSS`, in bytes.
pub(crate) fn status_bytes(pid: &str, key: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
        .with_context(|| format!("no {key} in /proc/{pid}/status"))?;
    let number = line.trim().trim_end_matches("kB").trim();
    Ok(number.parse::<u64>()? * 1024)
}

/// How many threads a process has, and which of them run or want to.
pub(crate) fn threads(pid: u32) -> Result<Threads> {
    let mut threads = Threads::default();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end between the listing and the reading.
        let Ok(stat) = fs::read_to_string(task?.path().join("stat")) else {
            continue;
        };
        threads.all += 1;
        // "ID (name) state …", where the name may hold anything.
        if let Some((name, state)) = stat.rsplit_once(") ")
            && state.starts_with('R')
        {
            let name = name.split_once('(').map_or("", |(_, name)| name);
            threads.runnable.push(name.to_owned());
        }
    }
    Ok(threads)
}

/// A process's threads at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Threads {
    /// How many there are.
    pub(crate) all: usize,
    /// The names of those that run or want to.
    pub(crate) runnable: Vec<String>,
}
