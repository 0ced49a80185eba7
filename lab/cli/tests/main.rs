//! The laboratory's program as its users run it. What needs the processor to itself is a program of its own, in Cargo.toml.

mod common;
mod kept_runs;
mod manual;
