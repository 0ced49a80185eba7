//! The laboratory: a "hyperfine for servers".
//!
//! It starts a server in several variants, applies the same load to each, records what the machine did meanwhile,
//! checks that the replies are equivalent, and says in one line per comparison which is faster, by how much and how
//! sure, or that the result is inconclusive. It speaks HTTP only: Andon is one server among others.
//!
//! From top to bottom:
//!
//! **Scenario** (the experiment to run) — `experiment` → **Run** (the measurements, in files) — `analysis` →
//! **Analysis** (the conclusions) — `report` → text, HTML, CSV…
//!
//! - [`scenario`] reads a TOML file; [`variant`] expands its matrix.
//! - [`launch`] starts a server in its own work directory, waits until it is ready and checks that it is the one that
//!   was started, and reaps its process tree.
//! - [`load`] is the client: one worker loop, paced by a `Pacer`, ended by a `Stop`.
//! - [`past`] turns access logs and saved runs into requests that the client can replay.
//! - [`sample`] reads /proc during the load; [`syscalls`] counts system calls and instructions in separate passes.
//! - [`bodies`] judges whether replies are equivalent; [`assertion`] whether a switch took effect.
//! - [`experiment`] combines them, block by block; [`record`] defines the files that it writes.
//! - [`stats`] is pure; [`analysis`] applies it to a run: verdicts, noise floor, self-checks.
//! - [`between`] compares two saved runs, which were not interleaved.
//! - [`report`] prints an analysis in the tables that users of ab, JMeter, sar and strace know.
//!
//! # Where to begin
//!
//! | to … | open |
//! |---|---|
//! | change what an experiment does, block by block | `lab/engine/src/experiment.rs`, `experiment/` |
//! | change a verdict, or add a self-check | `lab/engine/src/analysis/`, `analysis/self_checks/` |
//! | change how two saved runs are compared | `lab/engine/src/between.rs`; baselines are kept by `lab/cli/src/baseline.rs` |
//! | change what `andon-lab tune` tries | `lab/cli/src/tune/trial.rs` |
//! | add a report's format | a file in `lab/engine/src/report/`, its line in `ALL` |

#![forbid(unsafe_code)]

pub mod analysis;
pub mod assertion;
pub mod between;
pub mod bodies;
pub mod experiment;
pub mod launch;
pub mod load;
pub mod past;
mod proc;
pub mod record;
pub mod report;
pub mod sample;
pub mod scenario;
pub mod stats;
pub mod syscalls;
pub mod variant;
