//! Samples, and what a window of them says.

use super::foreign::{self, Scan};
use crate::record::{ForeignProcess, Noise, Probe, ServerCost, SystemLoad, Tick};

/// Everything read at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// Seconds since the run began.
    pub(super) at: f64,
    /// How late it was; `None`: it was not taken by the clock.
    pub(super) late: Option<f64>,
    pub(super) totals: Totals,
    pub(super) runnable: u32,
    pub(super) blocked: u32,
    pub(super) load_1: f64,
    pub(super) has_pressure: bool,
    pub(super) threads: u32,
    pub(super) processes: u32,
    /// Bytes.
    pub(super) rss: u64,
}

/// Defines counters that only grow, and arithmetic on all of them at once.
macro_rules! totals {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Counters that only grow; times in seconds, summed over all CPUs.
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct Totals {
            $($(#[$doc])* pub(super) $field: f64,)*
        }

        impl Totals {
            /// This and a later one's, a share of the way from this to that.
            fn towards(&self, later: &Self, share: f64) -> Self {
                Self { $($field: self.$field + (later.$field - self.$field) * share,)* }
            }

            /// What was added since then. The kernel takes a little of some counters back now and then (idle and
            /// waiting for disks, times of other processors): that is nothing used, and never less.
            fn since(&self, earlier: &Self) -> Self {
                let used = Self { $($field: (self.$field - earlier.$field).max(0.0),)* };
                // A clock may be set back.
                Self { wall: self.wall - earlier.wall, ..used }
            }
        }
    };
}

totals! {
    /// All CPUs, all states.
    all,
    user,
    system,
    iowait,
    steal,
    idle,
    switches,
    forks,
    pressure,
    retransmits,
    /// The wall clock.
    wall,
    /// CPU of this process, client included.
    own,
    /// CPU of the client's threads.
    client,
    server_user,
    server_system,
    server_wait,
    server_switches,
    server_faults,
    /// Bytes.
    server_storage,
}

/// All samples of a block.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    every: f64,
    samples: Vec<Sample>,
    scans: Vec<Scan>,
}

impl Samples {
    pub(super) fn new(every: f64) -> Self {
        Self {
            every,
            samples: Vec::new(),
            scans: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// What the server's tree used from one time to another (seconds since the run began).
    #[must_use]
    pub fn server(&self, from: f64, to: f64) -> ServerCost {
        let used = self.used(from, to);
        let most = |of: fn(&Sample) -> u64| self.within(from, to).map(of).max().unwrap_or(0);
        ServerCost {
            user_seconds: used.server_user,
            system_seconds: used.server_system,
            run_queue_seconds: used.server_wait,
            threads_peak: most(|sample| sample.threads.into()) as u32,
            processes_peak: most(|sample| sample.processes.into()) as u32,
            rss_peak: most(|sample| sample.rss),
            context_switches: used.server_switches.round() as u64,
            major_faults: used.server_faults.round() as u64,
            storage_bytes: used.server_storage.round() as u64,
        }
    }

    /// What the machine did.
    #[must_use]
    pub fn system(&self, from: f64, to: f64) -> SystemLoad {
        let used = self.used(from, to);
        let share = |part: f64| ratio(part, used.all);
        let mean = |of: fn(&Sample) -> u32| {
            let (count, sum) = self
                .within(from, to)
                .fold((0.0, 0.0), |(count, sum), sample| {
                    (count + 1.0, sum + f64::from(of(sample)))
                });
            ratio(sum, count)
        };
        let last = self.within(from, to).last();
        let seconds = to - from;
        SystemLoad {
            user: share(used.user),
            system: share(used.system),
            iowait: share(used.iowait),
            steal: share(used.steal),
            idle: share(used.idle),
            runnable: mean(|sample| sample.runnable),
            blocked: mean(|sample| sample.blocked),
            load_1: last.map_or(0.0, |sample| sample.load_1),
            context_switches: ratio(used.switches, seconds),
            forks: ratio(used.forks, seconds),
            pressure: (last.is_some_and(|sample| sample.has_pressure))
                .then(|| ratio(used.pressure, seconds)),
            retransmits: used.retransmits.round() as u64,
        }
    }

    /// Signals of disturbance; the probe was taken around the block.
    #[must_use]
    pub fn noise(&self, from: f64, to: f64, probe: Probe) -> Noise {
        let used = self.used(from, to);
        let busy = used.user + used.system;
        let known = used.server_user + used.server_system + used.own;
        let timed: Vec<f64> = self
            .within(from, to)
            .filter_map(|sample| sample.late)
            .collect();
        let late = timed
            .iter()
            .filter(|late| **late > self.every / 2.0)
            .count();
        Noise {
            steal: share(used.steal, used.all),
            foreign: share(busy - known, used.all),
            probe,
            late_samples: ratio(late as f64, timed.len() as f64),
            clock_step: used.wall - (to - from),
            clock_resolution: super::system::clock_resolution(),
        }
    }

    pub(super) fn scan(&mut self, scan: Scan) {
        self.scans.push(scan);
    }

    /// Who else used the CPU, the busiest first.
    #[must_use]
    pub fn foreign(&self, from: f64, to: f64) -> Vec<ForeignProcess> {
        let inside = |scan: &&Scan| scan.at >= from && scan.at <= to;
        let scans: Vec<&Scan> = self.scans.iter().filter(inside).collect();
        foreign::between(&scans, self.used(from, to).all)
    }

    /// CPU seconds of the client's threads.
    #[must_use]
    pub fn client_cpu(&self, from: f64, to: f64) -> f64 {
        self.used(from, to).client
    }

    /// The timeline.
    #[must_use]
    pub fn ticks(&self) -> Vec<Tick> {
        let pairs = self
            .samples
            .windows(2)
            .filter(|pair| pair[1].at > pair[0].at);
        pairs.map(|pair| tick(&pair[0], &pair[1])).collect()
    }

    fn within(&self, from: f64, to: f64) -> impl Iterator<Item = &Sample> {
        (self.samples.iter()).filter(move |sample| sample.at >= from && sample.at <= to)
    }

    fn used(&self, from: f64, to: f64) -> Totals {
        self.totals_at(to).since(&self.totals_at(from))
    }

    /// Between two samples counters are taken to grow evenly; before the first and after the last not at all.
    fn totals_at(&self, at: f64) -> Totals {
        let next = self.samples.partition_point(|sample| sample.at <= at);
        match (
            next.checked_sub(1).map(|last| &self.samples[last]),
            self.samples.get(next),
        ) {
            (Some(before), Some(after)) => {
                let share = ratio(at - before.at, after.at - before.at);
                before.totals.towards(&after.totals, share)
            }
            (Some(only), None) | (None, Some(only)) => only.totals,
            (None, None) => Totals::default(),
        }
    }
}

fn tick(before: &Sample, after: &Sample) -> Tick {
    let used = after.totals.since(&before.totals);
    let share = |part: f64| ratio(part, used.all);
    let seconds = after.at - before.at;
    Tick {
        at: after.at,
        user: share(used.user),
        system: share(used.system),
        iowait: share(used.iowait),
        steal: share(used.steal),
        runnable: after.runnable,
        load_1: after.load_1,
        server_cpus: ratio(used.server_user + used.server_system, seconds),
        server_rss: after.rss,
        server_threads: after.threads,
        client_cpus: ratio(used.client, seconds),
        late: after.late.unwrap_or(0.0),
    }
}

/// Of a block of some milliseconds the kernel's clock ticks, 10 ms each, can count more than there was.
fn share(part: f64, whole: f64) -> f64 {
    ratio(part, whole).clamp(0.0, 1.0)
}

/// 0 where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
