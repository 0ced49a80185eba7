//! `andon-lab completions`: prints completion scripts for shells.

use std::process::ExitCode;

use andon_terminal::{completions, print};
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// Shell to generate the script for
    shell: Shell,
}

const AFTER: &str = "\
Examples:
  andon-lab completions bash > ~/.local/share/bash-completion/completions/andon-lab
  andon-lab completions fish > ~/.config/fish/completions/andon-lab.fish";

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    print(&completions(&mut crate::Cli::command(), args.shell))?;
    Ok(ExitCode::SUCCESS)
}
