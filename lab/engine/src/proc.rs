//! What /proc says about processes: who descends from whom, and what each has used.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A process id, as the kernel counts them.
pub type Pid = i32;

/// The fields of `/proc/PID/stat` that the laboratory needs. Times are clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) parent: Pid,
    pub(crate) major_faults: u64,
    pub(crate) children_major_faults: u64,
    pub(crate) user: u64,
    pub(crate) system: u64,
    pub(crate) children_user: u64,
    pub(crate) children_system: u64,
    pub(crate) threads: u32,
    pub(crate) started: u64,
    pub(crate) rss_pages: u64,
}

impl Stat {
    /// `None`: there is no such process (any more).
    pub(crate) fn read(pid: Pid) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name in round brackets may itself hold brackets and spaces: the last one ends it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // proc(5) counts from 1 and the state is its field 3.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            major_faults: number(12)?,
            children_major_faults: number(13)?,
            user: number(14)?,
            system: number(15)?,
            children_user: number(16)?,
            children_system: number(17)?,
            threads: number(20)? as u32,
            started: number(22)?,
            rss_pages: number(24)?,
        })
    }
}

/// A process's short name, and its [`Stat`].
pub(crate) fn named(pid: Pid) -> Option<(String, Stat)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let name = text.split_once('(')?.1.rsplit_once(") ")?.0;
    Some((name.to_owned(), Stat::parse(&text)?))
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
        let status = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status"));
        !status.is_ok_and(|status| status.lines().any(|line| line == "TracerPid:\t0"))
    };
    threads(pid).unwrap_or_default().iter().all(traced)
}

/// CPU seconds that a thread of ours has used, to the nanosecond.
pub(crate) fn thread_seconds(thread: Pid) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
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
        .filter_map(|pid| Some((pid, Stat::read(pid)?.parent)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let text = "42 (a) (b) c) S 7 42 42 0 -1 4194304 1 2 3 4 50 60 70 80 20 0 9 0 1234 999 \
                    55 18446744073709551615\n";
        let stat = Stat::parse(text).expect("parses");
        assert_eq!((stat.state, stat.parent), ('S', 7));
        assert_eq!((stat.major_faults, stat.children_major_faults), (3, 4));
        assert_eq!((stat.user, stat.system), (50, 60));
        assert_eq!((stat.children_user, stat.children_system), (70, 80));
        assert_eq!((stat.threads, stat.started, stat.rss_pages), (9, 1234, 55));
    }

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
