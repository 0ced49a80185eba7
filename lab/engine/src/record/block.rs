//! A block: a period of load on one server with one measured window in it, by default from the server's start to its
//! end. Blocks are the unit of all statistics.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ClientCost, LoadResult, ServerCost, SystemLoad, Tick};

/// The record of one block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Position of the block in the run, from 0.
    pub index: u32,
    /// Number of the block's pair. The blocks of a pair ran next to each other and are compared only with each other.
    pub pair: u32,
    /// Whether the block measures the baseline, a variant, or the baseline once more (A/A test).
    pub arm: Arm,
    /// Index of the block's variant in the run's header. A block of the A/A arm has the index of the baseline.
    pub variant: u32,
    /// How many times the block's pair had been tried and discarded before.
    pub attempt: u32,
    /// The phases of the block with their times.
    pub phases: Vec<Phase>,
    /// Length and result of the warm-up.
    pub warmup: Warmup,
    /// What the client measured.
    pub load: LoadResult,
    /// Resources that the client used.
    pub client: ClientCost,
    /// Resources that the server's process tree used.
    pub server: ServerCost,
    /// Load of the whole machine.
    pub system: SystemLoad,
    /// Samples of the machine and the server over the whole block.
    pub timeline: Vec<Tick>,
    /// Noise measurements, which show how much other work on the machine disturbed the block.
    pub noise: Noise,
    /// Other processes that used the CPU in the measured window, the busiest first. Only names with at least a
    /// hundredth of all CPU time are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<ForeignProcess>,
    /// Readings of the variant's assertions, in the order of the scenario.
    #[serde(alias = "witnesses")]
    pub assertions: Vec<Reading>,
    /// Why the block does not count: a noise measurement exceeded a limit declared before the run. A block is never
    /// discarded because of its result.
    pub discarded: Option<String>,
    /// Why the block has no valid measured window, e.g. because the server did not start, died, or was not the one that
    /// was started.
    pub failure: Option<String>,
}

impl Block {
    /// Creates a block without any measurements.
    #[must_use]
    pub fn new(index: u32, pair: u32, arm: Arm, variant: u32) -> Self {
        Self {
            index,
            pair,
            arm,
            variant,
            attempt: 0,
            phases: Vec::new(),
            warmup: Warmup::default(),
            load: LoadResult::default(),
            client: ClientCost::default(),
            server: ServerCost::default(),
            system: SystemLoad::default(),
            timeline: Vec::new(),
            noise: Noise::default(),
            foreign: Vec::new(),
            assertions: Vec::new(),
            discarded: None,
            failure: None,
        }
    }

    /// Returns whether the block takes part in the statistics: it was neither discarded nor failed.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.discarded.is_none() && self.failure.is_none()
    }

    /// Returns the server's CPU seconds per good reply, or `None` without good replies.
    #[must_use]
    pub fn cpu_per_request(&self) -> Option<f64> {
        (self.load.completed > 0).then(|| self.server.cpu_seconds() / self.load.completed as f64)
    }

    /// Returns the good replies per second, or `None` without a measured window.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        (self.load.seconds > 0.0).then(|| self.load.completed as f64 / self.load.seconds)
    }
}

/// Whether a block measures the baseline, a variant, or the baseline once more (A/A test).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// The first variant, with which the others are compared.
    Baseline,
    /// A variant other than the baseline.
    Variant,
    /// The baseline once more as if it were a variant (A/A test), which shows the noise floor.
    Again,
}

/// A phase of a block and its time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// The kind of phase.
    pub kind: PhaseKind,
    /// Start of the phase, in seconds since the run began.
    pub from: f64,
    /// End of the phase, in seconds since the run began.
    pub to: f64,
}

/// The kinds of phases, in the order in which a block goes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// The server starts, until it is ready and known to be the one that was started.
    Start,
    /// Connections are opened one after another.
    Ramp,
    /// Load that is not recorded, until it is steady.
    Warmup,
    /// The measured window.
    Measure,
    /// The server is stopped and its processes are reaped.
    Stop,
}

/// Length and result of a warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// Length of warm-up in seconds.
    pub seconds: f64,
    /// Whether the load was steady when warm-up ended.
    pub steady: bool,
}

/// Noise measurements: how much other work on the machine disturbed the measured window, and how exact its clocks and
/// samples are. The CPU probe is timed before and after the block. Shares are 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// CPU time taken by other virtual machines, as a share of all CPUs.
    pub steal: f64,
    /// CPU time used neither by the server's process tree nor by this process, as a share of all CPUs.
    pub foreign: f64,
    /// Times that the CPU probe, a fixed piece of work, took before and after the block.
    pub probe: Probe,
    /// Share of timed samples that were taken more than half a sampling interval late.
    pub late_samples: f64,
    /// Seconds by which the wall clock was set during the window: how much more it advanced than the monotonic clock.
    pub clock_step: f64,
    /// Shortest step of the clock that measures latencies, in seconds.
    pub clock_resolution: f64,
}

/// Processes of one name that belong neither to the server nor to the laboratory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignProcess {
    /// Short name of the processes, as `ps` and `top` show it.
    pub name: String,
    /// The number of processes of this name.
    pub count: u32,
    /// CPU time that the processes used together, as a share of all CPUs, 0 to 1.
    pub share: f64,
}

impl ForeignProcess {
    /// Returns at most `most` of these processes, the busiest first. Those with less than a hundredth of all CPU time
    /// are left out.
    #[must_use]
    pub fn busiest(mut all: Vec<Self>, most: usize) -> Vec<Self> {
        all.retain(|it| it.share >= 0.01);
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        all.truncate(most);
        all
    }
}

/// Formats the processes as `rustc 61 %` or `python3 (4) 12 %`.
impl fmt::Display for ForeignProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.count > 1 {
            write!(f, " ({})", self.count)?;
        }
        write!(f, " {:.0} %", self.share * 100.0)
    }
}

/// Times of a fixed piece of work that runs on every CPU at once, before and after the block. They show the effect of
/// turbo, heat and other load in one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Time that the fixed work took before the block, in seconds.
    pub before: f64,
    /// Time that the fixed work took after the block, in seconds.
    pub after: f64,
}

/// The observed value of a scenario's assertion, and whether the assertion holds, in one block or in the separate pass
/// that counts system calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The assertion, as in the scenario: `threads_peak <= 3`.
    #[serde(alias = "witness")]
    pub assertion: String,
    /// The observed value, e.g. `5` or `libgomp.so.1 not mapped`.
    pub seen: String,
    /// Whether the assertion holds. `None` in a block if it is about system calls, as a separate pass counts them.
    pub holds: Option<bool>,
}
