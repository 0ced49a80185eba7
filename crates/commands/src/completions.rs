//! `andon completions`: what a shell needs to complete our words.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::print::print;

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const AFTER: &str = "\
Examples:
  andon completions bash > ~/.local/share/bash-completion/completions/andon
  andon completions fish > ~/.config/fish/completions/andon.fish";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "andon", &mut script);
    print(&script)
}
