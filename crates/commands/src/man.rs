//! `andon man`: writes a manual page for each command, from the same text as `--help`.

use std::path::PathBuf;

use andon_terminal::write_manual;
use clap::CommandFactory;

/// Write manual pages, one for each command
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The folder to write the pages to; created where it does not exist
    folder: PathBuf,
}

const AFTER: &str = "\
Examples:
  andon man ~/.local/share/man/man1
  andon man /tmp/andon && man /tmp/andon/andon-serve.1";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    // The laboratory comes with its own page, andon-lab.1.
    write_manual(crate::Cli::command(), &args.folder, &["lab"])
}
