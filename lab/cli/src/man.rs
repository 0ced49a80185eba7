//! `andon-lab man`: writes a manual page for each command, from the same text as `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use andon_terminal::write_manual;
use clap::CommandFactory;

/// Write manual pages, one for each command
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// Folder to write the pages to; created if it does not exist
    folder: PathBuf,
}

const AFTER: &str = "\
Examples:
  andon-lab man ~/.local/share/man/man1
  andon-lab man /tmp/andon && man /tmp/andon/andon-lab-run.1";

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    write_manual(crate::Cli::command(), &args.folder, &[])?;
    Ok(ExitCode::SUCCESS)
}
