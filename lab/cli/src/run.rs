//! `andon-lab run`: runs a whole scenario file.

use std::path::PathBuf;
use std::process::ExitCode;

use andon_lab::experiment::Error;
use andon_lab::scenario::Scenario;

use super::conduct::{self, Options};

/// Run a scenario: start every variant, block by block, and compare them
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The scenario (format: lab/docs/scenario.md)
    scenario: PathBuf,
    /// Only these variants; the first of them becomes the baseline
    #[arg(long, value_name = "NAME,NAME…", value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut scenario = Scenario::read(&args.scenario).map_err(Error::from)?;
    if !args.only.is_empty() {
        scenario.only(&args.only).map_err(Error::from)?;
    }
    conduct::conduct(scenario, &args.options)
}

const AFTER: &str = "\
Examples:
  andon-lab run lab/scenarios/5-sendfile/c-nginx-disk.toml
  andon-lab run s.toml --pairs 10 --budget 5m -o runs/today";
