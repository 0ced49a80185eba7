//! What /proc says about processes: who descends from whom, and what each has used.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use procfs::FromRead;
pub(crate) use procfs::process::{Io, Schedstat, Stat, Status};

/// A process id, as the kernel counts them.
pub type Pid = i32;

/// What `/proc/PID/stat` says of a process. `None`: there is no such process (any more).
pub(crate) fn stat(pid: Pid) -> Option<Stat> {
    Stat::from_file(format!("/proc/{pid}/stat")).ok()
}

/// Does it run? A zombie has ended, and waits for its parent to ask how.
pub(crate) fn runs(pid: Pid) -> bool {
    stat(pid).is_some_and(|stat| stat.state != 'Z')
}

/// The processes below one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descendants {
    /// Parents before their children.
    pub(crate) pids: Vec<Pid>,
    /// No process ended while they were looked up. Otherwise its children may be missing here.
    pub(crate) whole: bool,
}

/// Everything that descends from a process, without itself.
pub(crate) fn descendants(root: Pid) -> Descendants {
    let mut found = Descendants {
        pids: vec![root],
        whole: true,
    };
    let table = if children_files() {
        None
    } else {
        Some(parents())
    };
    let mut next = 0;
    while let Some(pid) = found.pids.get(next).copied() {
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
                    .filter(|child| !found.pids.contains(child));
                found.pids.extend(new.collect::<Vec<_>>());
            }
            None => found.whole = false,
        }
    }
    found.pids.remove(0);
    // A process that ended while its parent's list was read has handed its own children to the root.
    let handed =
        || children(root).is_none_or(|now| now.iter().any(|pid| !found.pids.contains(pid)));
    found.whole = found.whole && !(table.is_none() && handed());
    found
}

/// The command line of a process, or its short name in square brackets.
pub(crate) fn command(pid: Pid) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&words).replace('\0', " ");
    if !line.trim().is_empty() {
        return line.trim().to_owned();
    }
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("[{}]", name.trim())
}

/// Every process that there is.
pub(crate) fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The ids of a process's threads.
pub(crate) fn threads(pid: Pid) -> Option<Vec<Pid>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    Some(
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect(),
    )
}

/// Is every thread of a process traced by somebody? One that has ended needs no tracer.
pub(crate) fn traced(pid: Pid) -> bool {
    let traced = |thread: &Pid| {
        let status = Status::from_file(format!("/proc/{pid}/task/{thread}/status"));
        !status.is_ok_and(|status| status.tracerpid == 0)
    };
    threads(pid).unwrap_or_default().iter().all(traced)
}

/// CPU seconds that a thread of ours has used, to the nanosecond.
pub(crate) fn thread_seconds(thread: Pid) -> Option<f64> {
    let used = Schedstat::from_file(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    Some(used.sum_exec_runtime as f64 / 1e9)
}

/// The children of a process; `None` if it has ended.
pub(crate) fn children(pid: Pid) -> Option<Vec<Pid>> {
    if !children_files() {
        let rows = parents().into_iter();
        return Some(rows.filter(|row| row.1 == pid).map(|row| row.0).collect());
    }
    let mut children = Vec::new();
    for thread in threads(pid)? {
        // A thread that ended meanwhile has handed its children to another of the process.
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok()?;
        children.extend(
            text.split_ascii_whitespace()
                .filter_map(|pid| pid.parse::<Pid>().ok()),
        );
    }
    Some(children)
}

/// Does the kernel list children (CONFIG_PROC_CHILDREN)? Otherwise all processes are asked for their parent.
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
