//! Foreign users of the CPU: all processes, by name, that belong neither to the server nor to the laboratory.
//!
//! All of `/proc` is read at the edges of the window and once a second in between, which costs a few milliseconds of
//! one CPU. Processes that live shorter than that are not named, but they are part of
//! [`Noise::foreign`](crate::record::Noise), which decides whether a block counts.

use std::collections::{BTreeMap, HashMap};

use super::system::tick;
use crate::proc::{self, Pid};
use crate::record::ForeignProcess;

/// All processes at one moment that belong neither to the server nor to the laboratory.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    /// Seconds since the run began.
    pub(super) at: f64,
    /// Name and used clock ticks of each process, by process id and start time, since ids are reused.
    processes: HashMap<(Pid, u64), (String, u64)>,
}

impl Scan {
    /// Reads all processes except this one and those in `excluded`.
    pub(super) fn read(at: f64, excluded: &[Pid]) -> Self {
        let this_process = std::process::id() as Pid;
        let foreign = proc::all().filter(|pid| *pid != this_process && !excluded.contains(pid));
        let processes = foreign.filter_map(|pid| {
            let stat = proc::stat(pid)?;
            Some(((pid, stat.starttime), (stat.comm, stat.utime + stat.stime)))
        });
        Self {
            at,
            processes: processes.collect(),
        }
    }
}

/// Returns the CPU use of each foreign process (neither the server's nor the laboratory's) between the first and the
/// last scan. `all` is the sum of all CPUs' seconds in that time.
pub(super) fn between(scans: &[&Scan], all: f64) -> Vec<ForeignProcess> {
    let mut first: HashMap<(Pid, u64), u64> = HashMap::new();
    let mut last: HashMap<(Pid, u64), (&str, u64)> = HashMap::new();
    for (at, scan) in scans.iter().enumerate() {
        for (id, (name, ticks)) in &scan.processes {
            // A process that is missing from the first scan started later, so all of its ticks count.
            first.entry(*id).or_insert(if at == 0 { *ticks } else { 0 });
            last.insert(*id, (name, *ticks));
        }
    }
    let mut names: BTreeMap<&str, (u32, u64)> = BTreeMap::new();
    for (id, (name, ticks)) in last {
        let used_ticks = ticks.saturating_sub(first.get(&id).copied().unwrap_or(0));
        if used_ticks > 0 {
            let sum = names.entry(name).or_default();
            *sum = (sum.0 + 1, sum.1 + used_ticks);
        }
    }
    let share = |ticks: u64| {
        if all > 0.0 {
            ticks as f64 * tick() / all
        } else {
            0.0
        }
    };
    let foreign = names
        .into_iter()
        .map(|(name, (count, ticks))| ForeignProcess {
            name: name.to_owned(),
            count,
            share: share(ticks),
        });
    ForeignProcess::busiest(foreign.collect(), MOST)
}

/// Maximum number of process names reported.
const MOST: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(at: f64, processes: &[(Pid, &str, u64)]) -> Scan {
        let processes = processes.iter();
        Scan {
            at,
            processes: processes
                .map(|(pid, name, ticks)| ((*pid, 7), ((*name).to_owned(), *ticks)))
                .collect(),
        }
    }

    #[test]
    fn whoever_used_the_cpu_is_named_with_its_share_and_whoever_slept_is_not() {
        let second = (1.0 / tick()).round() as u64;
        let scans = [
            scan(0.0, &[(1, "init", 900), (2, "cc1", 50)]),
            // The process started after the first scan and ended before the last one.
            scan(
                1.0,
                &[
                    (1, "init", 900),
                    (2, "cc1", 50 + second),
                    (3, "cc1", second),
                ],
            ),
            scan(2.0, &[(1, "init", 900), (2, "cc1", 50 + second)]),
        ];
        let found = between(&scans.iter().collect::<Vec<_>>(), 4.0);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].to_string(), "cc1 (2) 50 %");
    }
}
