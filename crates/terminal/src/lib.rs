//! Shared parts of the command-line programs `andon` and `andon-lab`: output, Ctrl-C, manual pages and shell
//! completions.

#![forbid(unsafe_code)]

pub mod interrupt;
mod manual;
mod print;

use clap::Command;
use clap_complete::Shell;
pub use manual::write_manual;
pub use print::print;

/// Returns the script with which a shell completes the commands and options of `program`.
#[must_use]
pub fn completions(program: &mut Command, shell: Shell) -> Vec<u8> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, program, name, &mut script);
    script
}
