//! Reads from `/proc` which processes descend from which, and what each has used.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use procfs::FromRead;
pub(crate) use procfs::process::{Io, Schedstat, Stat, Status};

/// A process id, in the kernel's type.
pub type Pid = i32;

/// Reads `/proc/PID/stat`. Returns `None` if there is no such process (any more).
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    Stat::from_file(format!("/proc/{pid}/stat")).ok()
}

/// Returns whether a process runs. A zombie does not: it has ended, and its parent has yet to read its status.
pub(crate) fn runs(pid: Pid) -> bool {
    stat(pid).is_some_and(|stat| stat.state != 'Z')
}

/// The descendants of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descendants {
    /// Ids of the processes, parents before their children.
    pub(crate) pids: Vec<Pid>,
    /// Whether no process ended during the search. Otherwise the children of the ended process may be missing.
    pub(crate) whole: bool,
}

/// Returns all descendants of a process, without the process itself.
pub(crate) fn descendants(root: Pid) -> Descendants {
    let mut tree = Descendants {
        pids: vec![root],
        whole: true,
    };
    let table = if children_files() {
        None
    } else {
        Some(parents())
    };
    let mut next = 0;
    while let Some(pid) = tree.pids.get(next).copied() {
        next += 1;
        let children = match &table {
            None => children(pid),
            Some(table) => Some(
                (table.iter())
                    .filter(|row| row.1 == pid)
                    .map(|row| row.0)
                    .collect(),
            ),
        };
        match children {
            Some(children) => {
                let new = children
                    .into_iter()
                    .filter(|child| !tree.pids.contains(child));
                tree.pids.extend(new.collect::<Vec<_>>());
            }
            None => tree.whole = false,
        }
    }
    tree.pids.remove(0);
    // The root adopts the children of a process that ended while its list of children was read.
    let has_adopted =
        || children(root).is_none_or(|now| now.iter().any(|pid| !tree.pids.contains(pid)));
    tree.whole = tree.whole && !(table.is_none() && has_adopted());
    tree
}

/// Returns the command line of a process, or its short name in square brackets if it has none.
pub(crate) fn command(pid: Pid) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&words).replace('\0', " ");
    if !line.trim().is_empty() {
        return line.trim().to_owned();
    }
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("[{}]", name.trim())
}

/// Returns the ids of all processes.
pub(crate) fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the ids of a process's threads, or `None` if the process has ended.
pub(crate) fn threads(pid: Pid) -> Option<Vec<Pid>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    Some(
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect(),
    )
}

/// Returns whether every thread of a process is being traced. Threads that have ended need no tracer.
pub(crate) fn traced(pid: Pid) -> bool {
    let traced = |thread: &Pid| {
        let status = Status::from_file(format!("/proc/{pid}/task/{thread}/status"));
        !status.is_ok_and(|status| status.tracerpid == 0)
    };
    threads(pid).unwrap_or_default().iter().all(traced)
}

/// Returns the CPU time in seconds that a thread of this process has used, with nanosecond resolution.
pub(crate) fn thread_seconds(thread: Pid) -> Option<f64> {
    let stat = Schedstat::from_file(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    Some(stat.sum_exec_runtime as f64 / 1e9)
}

/// Returns the children of a process, or `None` if it has ended.
pub(crate) fn children(pid: Pid) -> Option<Vec<Pid>> {
    if !children_files() {
        let rows = parents().into_iter();
        return Some(rows.filter(|row| row.1 == pid).map(|row| row.0).collect());
    }
    let mut children = Vec::new();
    for thread in threads(pid)? {
        // A thread that ended meanwhile has handed its children to another thread of the process.
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok()?;
        children.extend(
            text.split_ascii_whitespace()
                .filter_map(|pid| pid.parse::<Pid>().ok()),
        );
    }
    Some(children)
}

/// Returns whether the kernel lists children (`CONFIG_PROC_CHILDREN`). Otherwise the parent of every process is read
/// instead.
fn children_files() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| Path::new("/proc/thread-self/children").exists())
}

fn parents() -> Vec<(Pid, Pid)> {
    all()
        .filter_map(|pid| Some((pid, stat(pid)?.ppid)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_below_its_parent() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep");
        let me = std::process::id() as Pid;
        let found = descendants(me).pids.contains(&(child.id() as Pid));
        let by_table = parents().contains(&(child.id() as Pid, me));
        child.kill().expect("kills");
        child.wait().expect("reaps");
        assert!(found && by_table);
    }
}
