//! Tests the laboratory's program as its users run it. Tests that need the processor to themselves are separate
//! programs in Cargo.toml.

mod common;
mod kept_runs;
mod manual;
