//! What Linux tells about a process: `/proc/PID/…`.

use std::fs;

use anyhow::{Context, Result};

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

/// How many threads a process has, and how many of them are running or want to.
pub(crate) fn threads(pid: u32) -> Result<Threads> {
    let mut threads = Threads::default();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end between the listing and the reading.
        let Ok(stat) = fs::read_to_string(task?.path().join("stat")) else {
            continue;
        };
        // The name, in parentheses, may hold anything; the state follows it.
        let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        threads.all += 1;
        threads.runnable += usize::from(state.starts_with('R'));
    }
    Ok(threads)
}

/// A process's threads at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Threads {
    pub(crate) all: usize,
    pub(crate) runnable: usize,
}
