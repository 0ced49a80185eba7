//! What was asked, of whom, where.

use serde::{Deserialize, Serialize};

use super::Machine;
use crate::scenario::Scenario;
use crate::variant::Variant;

/// The version of the files that this code writes and reads.
pub const SCHEMA: u32 = 1;

/// What a run was made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To compare variants, by blocks that are repeated in turns.
    #[default]
    Comparison,
    /// To see what one server does under a load (`bench`, `replay`): nothing is repeated, and no verdict drawn.
    Observation,
}

impl Purpose {
    fn is_comparison(&self) -> bool {
        *self == Self::Comparison
    }
}

/// The head of a run, written before its first block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The program that wrote it, e.g. `andon 0.1.0`.
    pub program: String,
    /// The purpose of the run: an experiment, a load test, a replay.
    #[serde(default, skip_serializing_if = "Purpose::is_comparison")]
    pub purpose: Purpose,
    /// When it began, UTC, RFC 3339 to the second.
    pub started: String,
    /// The experiment as it was read, defaults filled in.
    pub scenario: Scenario,
    /// The variants it was expanded to; the first is the baseline.
    pub variants: Vec<Variant>,
    /// The machine of the run.
    pub machine: Machine,
    /// BLAKE3 of each variant's program file in hex, in the order of `variants`; empty where it could not be read.
    pub programs: Vec<String>,
}
