//! What was asked, of whom, where.

use serde::{Deserialize, Serialize};

use super::Machine;
use crate::scenario::Scenario;
use crate::variant::Variant;

/// The version of the files that this code writes and reads.
pub const SCHEMA: u32 = 1;

/// The head of a run, written before its first block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// The program that wrote it, e.g. `andon 0.1.0`.
    pub program: String,
    /// When it began, UTC, RFC 3339 to the second.
    pub started: String,
    /// The experiment as it was read, defaults filled in.
    pub scenario: Scenario,
    /// The variants it was expanded to; the first is the baseline.
    pub variants: Vec<Variant>,
    /// Where.
    pub machine: Machine,
    /// BLAKE3 of each variant's program file in hex, in the order of `variants`; empty where it could not be read.
    pub programs: Vec<String>,
}
