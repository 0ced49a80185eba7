//! The header of a run: its experiment, its variants and its machine.

use serde::{Deserialize, Serialize};

use super::Machine;
use crate::scenario::Scenario;
use crate::variant::Variant;

/// The version of the file format that this code writes and reads.
pub const SCHEMA: u32 = 1;

/// The purpose of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The run compares variants by blocks that alternate and repeat.
    #[default]
    Comparison,
    /// The run observes one server under a load (`bench`, `replay`). Nothing is repeated and no verdict is given.
    Observation,
}

impl Purpose {
    fn is_comparison(&self) -> bool {
        *self == Self::Comparison
    }
}

/// The header of a run, written before its first block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The [`SCHEMA`] of the program that wrote the run.
    pub schema: u32,
    /// The program that wrote the run, e.g. `andon 0.1.0`.
    pub program: String,
    /// The purpose of the run: a comparison, or the observation of one server.
    #[serde(default, skip_serializing_if = "Purpose::is_comparison")]
    pub purpose: Purpose,
    /// When the run began, in UTC, as RFC 3339 to the second.
    pub started: String,
    /// The experiment as it was read, with defaults filled in.
    pub scenario: Scenario,
    /// The variants that the scenario expands to. The first is the baseline.
    pub variants: Vec<Variant>,
    /// The machine on which the run was made.
    pub machine: Machine,
    /// BLAKE3 hash of each variant's program file in hex, in the order of `variants`. Empty where the file could not be
    /// read.
    pub programs: Vec<String>,
}
