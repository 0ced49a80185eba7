//! `andon-lab report`: prints a saved run in another format.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::judged_run::{JudgedRun, colour, format};
use andon_terminal::print;

/// Print a run in a format: text, html, md, json, csv, jtl, hdr, prom, ab, jmeter, sar, strace
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The run's folder
    run: PathBuf,
    /// Report format: text, md, html, json, csv…
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    format: String,
    /// Write the report to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let format = format(&args.format)?;
    let bytes = JudgedRun::read(&args.run)?.print(format, args.output.is_none() && colour())?;
    match &args.output {
        Some(path) => std::fs::write(path, bytes).with_context(|| path.display().to_string())?,
        None => print(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}

const AFTER: &str = "\
Examples:
  andon-lab report runs/sendfile
  andon-lab report runs/sendfile --as html -o sendfile.html
  andon-lab report runs/sendfile --as csv";
