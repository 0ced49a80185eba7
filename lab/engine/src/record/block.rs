//! One block: a server's life from start to end, with one measured window in it. The unit of all statistics.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ClientCost, LoadResult, ServerCost, SystemLoad, Tick};

/// One block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Its place in the order of the run, from 0.
    pub index: u32,
    /// Blocks of one pair ran next to each other and are compared with each other only.
    pub pair: u32,
    /// Its part in the pair.
    pub arm: Arm,
    /// Index of its variant in the header; for an A/A arm the baseline's.
    pub variant: u32,
    /// Its pair was tried so many times before, and discarded.
    pub attempt: u32,
    /// The phases of the block with their times.
    pub phases: Vec<Phase>,
    /// How warm-up went.
    pub warmup: Warmup,
    /// What the client saw.
    pub load: LoadResult,
    /// What the client cost.
    pub client: ClientCost,
    /// What the server's tree cost.
    pub server: ServerCost,
    /// What the machine did.
    pub system: SystemLoad,
    /// Samples over the whole block.
    pub timeline: Vec<Tick>,
    /// Signals of disturbance.
    pub noise: Noise,
    /// Who else used the CPU in the measured window, the busiest first; those with a hundredth of it or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<ForeignProcess>,
    /// What each of the variant's assertions read, in the order of the scenario.
    #[serde(alias = "witnesses")]
    pub assertions: Vec<Reading>,
    /// Why this block does not count, by a signal declared beforehand. Never by its result.
    pub discarded: Option<String>,
    /// Why there is no measured window: the server did not start, died, or was not ours.
    pub failure: Option<String>,
}

impl Block {
    /// A block of which nothing is known yet.
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

    /// Does it take part in the statistics?
    #[must_use]
    pub fn counts(&self) -> bool {
        self.discarded.is_none() && self.failure.is_none()
    }

    /// Seconds of server CPU per good reply; `None` without replies.
    #[must_use]
    pub fn cpu_per_request(&self) -> Option<f64> {
        (self.load.completed > 0).then(|| self.server.cpu_seconds() / self.load.completed as f64)
    }

    /// Good replies per second; `None` without a window.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        (self.load.seconds > 0.0).then(|| self.load.completed as f64 / self.load.seconds)
    }
}

/// A block's part in its pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// The first variant, which the others are compared with.
    Baseline,
    /// Another variant.
    Variant,
    /// The baseline once more, as if it were a variant: shows the noise floor.
    Again,
}

/// Something the block did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// The kind of phase.
    pub kind: PhaseKind,
    /// From, in seconds since the run began.
    pub from: f64,
    /// To.
    pub to: f64,
}

/// What a block does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Starting the server until it is ready and ours.
    Start,
    /// Connections are opened one after the other.
    Ramp,
    /// Load without record, until it is steady.
    Warmup,
    /// The window that counts.
    Measure,
    /// Stopping and reaping.
    Stop,
}

/// How warm-up went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// Its length in seconds.
    pub seconds: f64,
    /// Had the rate settled when it ended?
    pub steady: bool,
}

/// Signals of disturbance in the measured window (the probes: around it). Shares are 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Stolen by other machines, share of all CPUs.
    pub steal: f64,
    /// CPU used by neither the server's tree nor this process, share of all CPUs.
    pub foreign: f64,
    /// The fixed piece of work, timed before and after.
    pub probe: Probe,
    /// Share of samples that came more than half an interval late.
    pub late_samples: f64,
    /// Wall clock against monotonic clock: seconds by which it was set meanwhile.
    pub clock_step: f64,
    /// Shortest step of the clock that latencies are taken with, in seconds.
    pub clock_resolution: f64,
}

/// Processes of one name that belong neither to the server nor to the laboratory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignProcess {
    /// Their short name, as `ps` and `top` show it.
    pub name: String,
    /// The number of processes of this name.
    pub count: u32,
    /// Their share of all CPUs, 0 to 1.
    pub share: f64,
}

impl ForeignProcess {
    /// So many of them, the busiest first; those with less than a hundredth of all CPUs are left out.
    #[must_use]
    pub fn busiest(mut all: Vec<Self>, most: usize) -> Vec<Self> {
        all.retain(|it| it.share >= 0.01);
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        all.truncate(most);
        all
    }
}

/// `rustc 61 %`, `python3 (4) 12 %`.
impl fmt::Display for ForeignProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.count > 1 {
            write!(f, " ({})", self.count)?;
        }
        write!(f, " {:.0} %", self.share * 100.0)
    }
}

/// A fixed piece of work on every CPU at once, before and after the block: turbo, heat and neighbours in one
/// number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Seconds it took before.
    pub before: f64,
    /// Seconds it took after.
    pub after: f64,
}

/// What an assertion read in this block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The assertion, as in the scenario: `threads_peak <= 3`.
    #[serde(alias = "witness")]
    pub assertion: String,
    /// What was seen: `5`, `libgomp.so.1 not mapped`.
    pub seen: String,
    /// Does it hold? `None`: it is read in a pass of its own (system calls).
    pub holds: Option<bool>,
}
