//! What a server's process tree has used, children that ended included.
//!
//! CPU, faults and storage are summed as *own + reaped children* over all living members and the guard's
//! account of reaped children (a server that runs already has no guard, and what it reaped itself stands in its
//! own account). When a process ends, what it used moves into its parent's account of children,
//! so nothing is lost or counted twice, if no process ends while the sum is made: then it is made again.
//! What the kernel does not hand to a parent (one that ignores SIGCHLD has its children vanish unaccounted) is
//! kept as it was last seen.

use std::collections::HashMap;

use procfs::FromRead;

use super::Watched;
use super::samples::Sample;
use super::system::tick;
use crate::proc::{self, Io, Pid, Schedstat, Stat, Status};

/// A server's tree.
pub(super) struct Tree {
    watched: Watched,
    user: Growing,
    system: Growing,
    faults: Growing,
    storage: Growing,
    /// Run-queue wait in nanoseconds and context switches of every thread ever seen, as last seen.
    threads: HashMap<(Pid, Pid), (u64, u64)>,
    /// Its processes, as last seen.
    members: Vec<Pid>,
}

/// One look at all members.
#[derive(Default)]
struct Sum {
    user: u64,
    system: u64,
    faults: u64,
    rss_pages: u64,
    threads: u32,
    pids: Vec<Pid>,
    /// No member ended meanwhile.
    whole: bool,
}

impl Tree {
    pub(super) fn new(watched: Watched) -> Self {
        Self {
            watched,
            user: Growing::default(),
            system: Growing::default(),
            faults: Growing::default(),
            storage: Growing::default(),
            threads: HashMap::new(),
            members: Vec::new(),
        }
    }

    /// The processes that are known to be the server's, and its guard.
    pub(super) fn members(&self) -> Vec<Pid> {
        let guard = match &self.watched {
            Watched::Below(guard) => Some(*guard),
            Watched::Running(_) => None,
        };
        self.members.iter().copied().chain(guard).collect()
    }

    /// Reads it; with `whole` also what has to be asked of each thread.
    pub(super) fn read(&mut self, whole: bool, sample: &mut Sample) {
        let mut sum = self.sum();
        for _ in 1..TRIES {
            if sum.whole {
                break;
            }
            sum = self.sum();
        }
        let totals = &mut sample.totals;
        totals.server_user = self.user.add(sum.user, sum.whole) as f64 * tick();
        totals.server_system = self.system.add(sum.system, sum.whole) as f64 * tick();
        totals.server_faults = self.faults.add(sum.faults, sum.whole) as f64;
        sample.threads = sum.threads;
        sample.processes = sum.pids.len() as u32;
        sample.rss = sum.rss_pages * rustix::param::page_size() as u64;
        if whole {
            let guard = match &self.watched {
                Watched::Below(guard) => Some(guard),
                Watched::Running(_) => None,
            };
            let io = (sum.pids.iter().chain(guard))
                .filter_map(|pid| storage(*pid))
                .sum();
            self.storage.add(io, sum.whole);
            self.read_threads(&sum.pids);
        }
        totals.server_storage = self.storage.value() as f64;
        totals.server_wait = self
            .threads
            .values()
            .map(|(wait, _)| *wait as f64 / 1e9)
            .sum();
        totals.server_switches = self.threads.values().map(|(_, count)| *count as f64).sum();
        self.members = sum.pids;
    }

    /// Parents before their children: what ends in between is missed, not counted twice, and noticed.
    fn sum(&self) -> Sum {
        let mut sum = Sum {
            whole: true,
            ..Sum::default()
        };
        match &self.watched {
            Watched::Below(guard) => {
                let found = proc::descendants(*guard);
                sum.whole = found.whole;
                match proc::stat(*guard) {
                    // The guard's own time is not the server's.
                    Some(guard) => sum.add_children(&guard),
                    None => sum.whole = false,
                }
                found.pids.into_iter().for_each(|pid| sum.add(pid));
            }
            Watched::Running(roots) => {
                for root in roots {
                    let found = proc::descendants(*root);
                    sum.whole &= found.whole;
                    sum.add(*root);
                    found.pids.into_iter().for_each(|pid| sum.add(pid));
                }
            }
        }
        sum
    }

    fn read_threads(&mut self, pids: &[Pid]) {
        for pid in pids {
            for thread in proc::threads(*pid).unwrap_or_default() {
                let folder = format!("/proc/{pid}/task/{thread}");
                let seen = self.threads.entry((*pid, thread)).or_default();
                if let Ok(scheduled) = Schedstat::from_file(format!("{folder}/schedstat")) {
                    seen.0 = seen.0.max(scheduled.run_delay);
                }
                if let Ok(status) = Status::from_file(format!("{folder}/status")) {
                    seen.1 = seen.1.max(switches(&status));
                }
            }
        }
    }
}

impl Sum {
    fn add(&mut self, pid: Pid) {
        let Some(stat) = proc::stat(pid) else {
            self.whole = false;
            return;
        };
        self.user += stat.utime;
        self.system += stat.stime;
        self.faults += stat.majflt;
        self.add_children(&stat);
        if stat.state != 'Z' {
            self.rss_pages += stat.rss;
            self.threads += stat.num_threads as u32;
            self.pids.push(pid);
        }
    }

    fn add_children(&mut self, stat: &Stat) {
        self.user += stat.cutime as u64;
        self.system += stat.cstime as u64;
        self.faults += stat.cmajflt;
    }
}

/// A sum over members that come and go.
#[derive(Default)]
struct Growing {
    last: u64,
    /// What vanished with members that no parent accounted for.
    vanished: u64,
}

impl Growing {
    /// The sum now, never less than before. A smaller one that is sure means that something vanished for good.
    fn add(&mut self, now: u64, sure: bool) -> u64 {
        if sure {
            self.vanished += self.last.saturating_sub(now);
            self.last = now;
        } else {
            self.last = self.last.max(now);
        }
        self.value()
    }

    fn value(&self) -> u64 {
        self.last + self.vanished
    }
}

/// Bytes that a process and its reaped children moved from and to storage.
fn storage(pid: Pid) -> Option<u64> {
    let io = Io::from_file(format!("/proc/{pid}/io")).ok()?;
    Some(io.read_bytes + io.write_bytes)
}

/// Context switches of a thread, those that it asked for and others.
fn switches(status: &Status) -> u64 {
    let kinds = [
        status.voluntary_ctxt_switches,
        status.nonvoluntary_ctxt_switches,
    ];
    kinds.into_iter().flatten().sum()
}

/// So often a sum is made before one with a gap is taken.
const TRIES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_never_shrinks_and_keeps_what_vanished() {
        let mut sum = Growing::default();
        assert_eq!(sum.add(10, true), 10);
        assert_eq!(sum.add(4, false), 10, "a gap is no loss");
        assert_eq!(sum.add(12, true), 12);
        assert_eq!(sum.add(7, true), 12, "five vanished");
        assert_eq!(sum.add(9, true), 14);
    }
}
