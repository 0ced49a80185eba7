//! Samples of the machine, the server and the client during a block, and the metrics derived from a window of them.

use super::foreign::{self, Scan};
use crate::record::{ForeignProcess, Noise, Probe, ServerCost, SystemLoad, Tick};

/// All values of the machine, the server and the client that were read at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// Seconds since the run began.
    pub(super) at: f64,
    /// Seconds by which the sample was taken late. `None` if it had no scheduled time: the first, the last, and those
    /// at the edges of a window ([`Sampler::mark`](super::Sampler::mark)).
    pub(super) late: Option<f64>,
    pub(super) totals: Totals,
    pub(super) runnable: u32,
    pub(super) blocked: u32,
    pub(super) load_1: f64,
    pub(super) has_pressure: bool,
    pub(super) threads: u32,
    pub(super) processes: u32,
    /// Resident memory of the server's process tree, in bytes.
    pub(super) rss: u64,
}

/// Defines the struct `Totals` of counters that only grow, with arithmetic on all of them at once.
macro_rules! totals {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Counters of the machine, the server and the client that only grow; times in seconds, summed over all CPUs.
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct Totals {
            $($(#[$doc])* pub(super) $field: f64,)*
        }

        impl Totals {
            /// Interpolates between these totals and later ones: `share` 0 gives `self`, 1 gives `later`.
            fn towards(&self, later: &Self, share: f64) -> Self {
                Self { $($field: self.$field + (later.$field - self.$field) * share,)* }
            }

            /// Returns what was added since `earlier`. Some counters are now and then corrected slightly downwards by
            /// the kernel (idle and I/O wait, times of other processors). Such a difference counts as zero, never as
            /// negative.
            fn since(&self, earlier: &Self) -> Self {
                let difference = Self { $($field: (self.$field - earlier.$field).max(0.0),)* };
                // The wall clock may be set back, so its difference may be negative.
                Self { wall: self.wall - earlier.wall, ..difference }
            }
        }
    };
}

totals! {
    /// CPU seconds of all CPUs in all states.
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
    /// Wall clock time in seconds since the Unix epoch.
    wall,
    /// CPU seconds of this process, the client included.
    own,
    /// CPU seconds of the client's threads.
    client,
    server_user,
    server_system,
    server_wait,
    server_switches,
    server_faults,
    /// Bytes that the server's process tree moved from and to storage.
    server_storage,
}

/// All samples of the machine, the server and the client that were taken during a block.
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

    /// Returns what the server's process tree used between two times, in seconds since the run began.
    #[must_use]
    pub fn server(&self, from: f64, to: f64) -> ServerCost {
        let usage = self.usage(from, to);
        let most = |of: fn(&Sample) -> u64| self.within(from, to).map(of).max().unwrap_or(0);
        ServerCost {
            user_seconds: usage.server_user,
            system_seconds: usage.server_system,
            run_queue_seconds: usage.server_wait,
            threads_peak: most(|sample| sample.threads.into()) as u32,
            processes_peak: most(|sample| sample.processes.into()) as u32,
            rss_peak: most(|sample| sample.rss),
            context_switches: usage.server_switches.round() as u64,
            major_faults: usage.server_faults.round() as u64,
            storage_bytes: usage.server_storage.round() as u64,
        }
    }

    /// Returns what the machine did between two times, in seconds since the run began.
    #[must_use]
    pub fn system(&self, from: f64, to: f64) -> SystemLoad {
        let usage = self.usage(from, to);
        let share = |part: f64| ratio(part, usage.all);
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
            user: share(usage.user),
            system: share(usage.system),
            iowait: share(usage.iowait),
            steal: share(usage.steal),
            idle: share(usage.idle),
            runnable: mean(|sample| sample.runnable),
            blocked: mean(|sample| sample.blocked),
            load_1: last.map_or(0.0, |sample| sample.load_1),
            context_switches: ratio(usage.switches, seconds),
            forks: ratio(usage.forks, seconds),
            pressure: (last.is_some_and(|sample| sample.has_pressure))
                .then(|| ratio(usage.pressure, seconds)),
            retransmits: usage.retransmits.round() as u64,
        }
    }

    /// Returns the noise measurements between two times, in seconds since the run began. `probe` holds the CPU probes
    /// taken before and after the block.
    #[must_use]
    pub fn noise(&self, from: f64, to: f64, probe: Probe) -> Noise {
        let usage = self.usage(from, to);
        let busy = usage.user + usage.system;
        let explained = usage.server_user + usage.server_system + usage.own;
        let timed: Vec<f64> = self
            .within(from, to)
            .filter_map(|sample| sample.late)
            .collect();
        let late = timed
            .iter()
            .filter(|late| **late > self.every / 2.0)
            .count();
        Noise {
            steal: share(usage.steal, usage.all),
            foreign: share(busy - explained, usage.all),
            probe,
            late_samples: ratio(late as f64, timed.len() as f64),
            clock_step: usage.wall - (to - from),
            clock_resolution: super::system::clock_resolution(),
        }
    }

    pub(super) fn scan(&mut self, scan: Scan) {
        self.scans.push(scan);
    }

    /// Returns the processes, neither the server's nor the laboratory's, that used the CPU between two times (seconds
    /// since the run began), the busiest first.
    #[must_use]
    pub fn foreign(&self, from: f64, to: f64) -> Vec<ForeignProcess> {
        let inside = |scan: &&Scan| scan.at >= from && scan.at <= to;
        let scans: Vec<&Scan> = self.scans.iter().filter(inside).collect();
        foreign::between(&scans, self.usage(from, to).all)
    }

    /// Returns the CPU seconds that the client's threads used between two times, in seconds since the run began.
    #[must_use]
    pub fn client_cpu(&self, from: f64, to: f64) -> f64 {
        self.usage(from, to).client
    }

    /// Returns the timeline, one tick per interval between two samples.
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

    fn usage(&self, from: f64, to: f64) -> Totals {
        self.totals_at(to).since(&self.totals_at(from))
    }

    /// Returns the counters at a time in seconds since the run began. Between two samples they are interpolated
    /// linearly. Before the first and after the last sample they stay constant.
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
    let usage = after.totals.since(&before.totals);
    let share = |part: f64| ratio(part, usage.all);
    let seconds = after.at - before.at;
    Tick {
        at: after.at,
        user: share(usage.user),
        system: share(usage.system),
        iowait: share(usage.iowait),
        steal: share(usage.steal),
        runnable: after.runnable,
        load_1: after.load_1,
        server_cpus: ratio(usage.server_user + usage.server_system, seconds),
        server_rss: after.rss,
        server_threads: after.threads,
        client_cpus: ratio(usage.client, seconds),
        late: after.late.unwrap_or(0.0),
    }
}

/// Returns `part / whole` limited to 0 to 1. In a block of a few milliseconds, the kernel's clock ticks of 10 ms can
/// add up to more than the whole time.
fn share(part: f64, whole: f64) -> f64 {
    ratio(part, whole).clamp(0.0, 1.0)
}

/// Returns `part / whole`, or 0 if `whole` is not positive.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
