//! `andon`: resize, crop, composite and convert images, by URL or in a batch.
//!
//! A package of its own, and no more than this: link-time optimisation uses this package's `opt-level` for all of the program, and
//! what the commands do is compiled for size.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    andon_commands::main()
}
