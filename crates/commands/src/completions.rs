//! `andon completions`: prints the script that a shell needs to complete the commands and options of `andon`.

use andon_terminal::{completions, print};
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Shell to generate the script for
    shell: Shell,
}

const AFTER: &str = "\
Examples:
  andon completions bash > ~/.local/share/bash-completion/completions/andon
  andon completions fish > ~/.config/fish/completions/andon.fish";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    print(&completions(&mut crate::Cli::command(), args.shell))
}
