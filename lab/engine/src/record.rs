//! The record of a run: everything that reports and verdicts are made from, and nothing derived from it.
//!
//! A run is a folder. `run.json` holds the [`Header`], `blocks.jsonl` one [`Block`] per line (each is appended and
//! synced when it ends, so that a crash loses at most the block in progress), `passes.jsonl` one [`Pass`] per line,
//! `bodies/` one file per distinct body, named by its hash, and `judged.jsonl` what was found about the bodies after
//! the run. Times are seconds since the run began unless a name says otherwise.
//!
//! To save space, a run can be kept without `bodies/` and with `blocks.jsonl.gz` instead of `blocks.jsonl`. It can
//! still be read and judged as before.

mod block;
mod folder;
mod header;
mod latencies;
mod load;
mod machine;
mod pass;
mod saved_bodies;

pub use block::{Arm, Block, ForeignProcess, Noise, Phase, PhaseKind, Probe, Reading, Warmup};
pub use folder::{Folder, FolderError, Kind};
pub use header::{Header, Purpose, SCHEMA};
pub use latencies::Latencies;
pub use load::{
    Bin, BodySeen, ClientCost, ConnectionUse, Failures, LoadResult, Point, Reply, UrlResult,
};
pub use machine::{Machine, ServerCost, SystemLoad, Tick};
pub use pass::{Pass, SyscallRow};
pub use saved_bodies::{Decoded, Findings, Likeness, SavedBodies};

/// A whole run in memory.
#[derive(Clone, Debug)]
pub struct Run {
    /// The experiment, its variants and the machine it ran on.
    pub header: Header,
    /// All blocks that ended, in the order in which they ran, including discarded and failed ones.
    pub blocks: Vec<Block>,
    /// Counting passes, which count system calls or instructions outside the timed blocks.
    pub passes: Vec<Pass>,
}
