//! Numbers about processes from Linux's `/proc/PID/…`, and the CPU time of a thread.

use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// Returns the CPU time of the current thread so far, in milliseconds.
pub(crate) fn thread_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns the value of a line of `/proc/PID/status` that counts in kB, such as `VmRSS`, in bytes.
pub(crate) fn status_bytes(pid: &str, key: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
        .with_context(|| format!("no {key} in /proc/{pid}/status"))?;
    let number = line.trim().trim_end_matches("kB").trim();
    Ok(number.parse::<u64>()? * 1024)
}

/// Waits up to 20 s until a server that was just started accepts connections.
pub(crate) fn wait_until_it_listens(
    child: &mut Child,
    name: &str,
    address: SocketAddr,
) -> Result<()> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        if let Some(status) = child.try_wait()? {
            bail!("{name} ended at once: {status}");
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("{name} does not listen on {address}")
}

/// Returns the CPU seconds that a process has used so far.
pub(crate) fn cpu_seconds(pid: u32) -> Result<f64> {
    cpu(&pid.to_string(), USER_AND_SYSTEM)
}

/// Returns the CPU seconds that several processes have used so far, in total.
pub(crate) fn cpu_seconds_of(pids: &[u32]) -> Result<f64> {
    pids.iter().map(|pid| cpu_seconds(*pid)).sum()
}

/// Returns the CPU seconds of those children of this process that have ended.
pub(crate) fn cpu_seconds_of_children() -> Result<f64> {
    cpu("self", CHILDREN)
}

/// Returns the sum, in seconds, of two neighbouring fields of `/proc/PID/stat` that count clock ticks. `first` is an
/// index into the fields after the name.
fn cpu(pid: &str, first: usize) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // "ID (name) state …", where the name may contain any characters.
    let (_, fields) = stat.rsplit_once(") ").context("no fields in stat")?;
    let mut ticks = 0;
    for field in fields.split(' ').skip(first).take(2) {
        ticks += field.parse::<u64>()?;
    }
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Index of `utime` in `/proc/PID/stat`, counted from the field after the name. `stime` follows it.
const USER_AND_SYSTEM: usize = 11;
const CHILDREN: usize = 13;

/// Returns the ids of a process's children whose command line begins with `command`.
pub(crate) fn children(pid: u32, command: &str) -> Result<Vec<u32>> {
    let mut pids = Vec::new();
    for process in fs::read_dir("/proc")? {
        let name = process?.file_name();
        // `/proc` contains other things besides processes, and a process may end before it is read.
        let Some(child) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let read = |file| fs::read_to_string(format!("/proc/{child}/{file}")).unwrap_or_default();
        let stat = read("stat");
        let parent = stat
            .rsplit_once(") ")
            .and_then(|(_, fields)| fields.split(' ').nth(1));
        let ours = parent.and_then(|parent| parent.parse().ok()) == Some(pid);
        if ours && read("cmdline").starts_with(command) {
            pids.push(child);
        }
    }
    Ok(pids)
}

/// Returns a process's number of threads and the names of those that run or are runnable.
pub(crate) fn threads(pid: u32) -> Result<Threads> {
    let mut threads = Threads::default();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end between the listing and the reading.
        let Ok(stat) = fs::read_to_string(task?.path().join("stat")) else {
            continue;
        };
        threads.all += 1;
        // "ID (name) state …", where the name may contain any characters.
        if let Some((name, state)) = stat.rsplit_once(") ")
            && state.starts_with('R')
        {
            let name = name.split_once('(').map_or("", |(_, name)| name);
            threads.runnable.push(name.to_owned());
        }
    }
    Ok(threads)
}

/// Snapshot of a process's threads.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Threads {
    /// The number of threads.
    pub(crate) all: usize,
    /// Names of the threads that run or are runnable.
    pub(crate) runnable: Vec<String>,
}
