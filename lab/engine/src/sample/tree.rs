//! CPU, faults, storage and memory use of a server's process tree, including children that have ended.
//!
//! CPU, faults and storage are summed as *own + reaped children* over all living members, plus the guard's account of
//! reaped children. (A server that was already running has no guard, and what it reaped itself is in its own account.)
//! When a process ends, its use moves into its parent's account of children, so that nothing is lost or counted twice
//! unless a process ends while the sum is made. In that case the sum is made again. What the kernel does not hand to a
//! parent (the children of one that ignores SIGCHLD vanish unaccounted) is kept at the value last seen.

use std::collections::HashMap;

use procfs::FromRead;

use super::Watched;
use super::samples::Sample;
use super::system::tick;
use crate::proc::{self, Io, Pid, Schedstat, Stat, Status};

/// The process tree of a server, with what it has used so far.
pub(super) struct Tree {
    watched: Watched,
    user: Growing,
    system: Growing,
    faults: Growing,
    storage: Growing,
    /// Run-queue wait in nanoseconds and number of context switches of every thread ever seen, at the values last seen.
    /// The key is process id and thread id.
    threads: HashMap<(Pid, Pid), (u64, u64)>,
    /// The server's processes as last seen.
    members: Vec<Pid>,
}

/// CPU time, major page faults, memory and threads of a server, summed in one pass over the processes of its tree.
#[derive(Default)]
struct Sum {
    user: u64,
    system: u64,
    faults: u64,
    rss_pages: u64,
    threads: u32,
    pids: Vec<Pid>,
    /// Whether no process of the tree ended while the sum was made.
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

    /// Returns the processes known to be the server's, and its guard if it has one.
    pub(super) fn members(&self) -> Vec<Pid> {
        let guard = match &self.watched {
            Watched::Below(guard) => Some(*guard),
            Watched::Running(_) => None,
        };
        self.members.iter().copied().chain(guard).collect()
    }

    /// Reads into `sample` the resources that the process tree has used. With `whole`, also reads the storage bytes and
    /// the values that have to be read thread by thread.
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

    /// Sums up what all processes of the tree have used, parents before their children. If a process ends meanwhile,
    /// its use is thus missed rather than counted twice, and the sum's `whole` is false.
    fn sum(&self) -> Sum {
        let mut sum = Sum {
            whole: true,
            ..Sum::default()
        };
        match &self.watched {
            Watched::Below(guard) => {
                let descendants = proc::descendants(*guard);
                sum.whole = descendants.whole;
                match proc::stat(*guard) {
                    // The guard's own CPU time does not belong to the server.
                    Some(guard) => sum.add_children(&guard),
                    None => sum.whole = false,
                }
                descendants.pids.into_iter().for_each(|pid| sum.add(pid));
            }
            Watched::Running(roots) => {
                for root in roots {
                    let descendants = proc::descendants(*root);
                    sum.whole &= descendants.whole;
                    sum.add(*root);
                    descendants.pids.into_iter().for_each(|pid| sum.add(pid));
                }
            }
        }
        sum
    }

    fn read_threads(&mut self, pids: &[Pid]) {
        for pid in pids {
            for thread in proc::threads(*pid).unwrap_or_default() {
                let folder = format!("/proc/{pid}/task/{thread}");
                let last = self.threads.entry((*pid, thread)).or_default();
                if let Ok(scheduled) = Schedstat::from_file(format!("{folder}/schedstat")) {
                    last.0 = last.0.max(scheduled.run_delay);
                }
                if let Ok(status) = Status::from_file(format!("{folder}/status")) {
                    last.1 = last.1.max(switches(&status));
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

/// A total over the processes of a tree, such as their CPU time. It never decreases, although processes end.
#[derive(Default)]
struct Growing {
    last: u64,
    /// Amount by which the sum fell because processes ended whose use was not added to that of their parents.
    vanished: u64,
}

impl Growing {
    /// Records the present sum over all processes and returns the total, which never decreases. `sure` says that no
    /// process ended while the sum was made. If such a sum is smaller than the last one, the difference belongs to
    /// ended processes whose use no parent was charged for, and is added to `vanished`.
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

/// Returns the bytes that a process and its reaped children moved from and to storage.
fn storage(pid: Pid) -> Option<u64> {
    let io = Io::from_file(format!("/proc/{pid}/io")).ok()?;
    Some(io.read_bytes + io.write_bytes)
}

/// Returns a thread's number of context switches, voluntary and involuntary.
fn switches(status: &Status) -> u64 {
    let kinds = [
        status.voluntary_ctxt_switches,
        status.nonvoluntary_ctxt_switches,
    ];
    kinds.into_iter().flatten().sum()
}

/// Number of attempts at a sum during which no process ends. After that, an incomplete sum is accepted.
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
