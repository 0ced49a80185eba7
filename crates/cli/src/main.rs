//! `andon`: resize, crop, composite and convert images, by URL or in a batch.
//!
//! This package contains nothing but the entry point, because link-time optimisation applies the `opt-level` of this
//! package to the whole program, while the code of the commands is compiled for size.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    andon_commands::main()
}
