//! What a run wrote down: everything that reports and verdicts are made from, and nothing derived.
//!
//! A run is a folder. `run.json` holds the [`Header`], `blocks.jsonl` one [`Block`] a line (each appended and
//! synced when it ends, so that a crash loses the block in progress at most), `passes.jsonl` one [`Pass`] a
//! line, `bodies/` one file per distinct body, named by its hash, `judged.jsonl` what was found about them when the
//! run had ended. Times are seconds since the run began unless a name says otherwise.
//!
//! A run that is to be small keeps without `bodies/` and with `blocks.jsonl.gz` instead of `blocks.jsonl`: it can
//! be read and judged as before.

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
    /// What was asked, of whom, on which machine.
    pub header: Header,
    /// Every block that ended, in the order in which they ran; discarded and failed ones too.
    pub blocks: Vec<Block>,
    /// Counting passes: outside of the timed blocks.
    pub passes: Vec<Pass>,
}
