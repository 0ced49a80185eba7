//! `andon-lab diff`: compares two saved runs, and allows for the fact that they were not interleaved.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use andon_lab::between::{Between, between};
use andon_lab::experiment::Error;
use andon_lab::record::{Folder, Run};
use andon_lab::report::between::title;
use andon_lab::scenario::Share;
use anyhow::bail;

use super::{INVALID, UNDECIDED};
use andon_terminal::print;

/// Compare two saved runs: differences of set-up, figures with intervals, verdicts
///
/// Runs made at different times were not interleaved, so that any change of the machine in between looks like an
/// effect. Intervals are therefore widened by the change of the machine's speed that its CPU calibration shows.
/// Variants are also compared by their ratio to a baseline that both runs measured. Runs with different requests, or of
/// different machines, get no verdict. A comparison interleaved in one run is always better.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The older run's folder
    old: PathBuf,
    /// The newer run's folder
    new: PathBuf,
    /// Bound within which two runs count as the same [default: the newer run's]
    #[arg(long, value_name = "SHARE", value_parser = Share::parse)]
    same_within: Option<Share>,
    /// Exit with 2 if a comparison stays undecided
    #[arg(long)]
    strict: bool,
    /// Report format: text, md or json
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    format: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (old, new, between) = compare(&args.old, &args.new, args.same_within)?;
    let bytes = match args.format.as_str() {
        "text" => text(&old, &new, &between),
        "md" => markdown(&old, &new, &between),
        "json" => serde_json::to_string_pretty(&between)? + "\n",
        other => bail!("there is no format `{other}` here; there are text, md, json"),
    };
    print(bytes.as_bytes())?;
    let any = |word: &str| between.primary().any(|it| it.verdict.word() == word);
    Ok(ExitCode::from(
        if any("INVALID") || between.figures.is_empty() {
            INVALID
        } else if args.strict && any("UNDECIDED") {
            UNDECIDED
        } else {
            0
        },
    ))
}

/// Reads two saved runs and compares them, using the saved responses of both.
pub(super) fn compare(
    old: &Path,
    new: &Path,
    within: Option<Share>,
) -> anyhow::Result<(Run, Run, Between)> {
    let (old_folder, old) = Folder::read(old).map_err(Error::from)?;
    let (new_folder, new) = Folder::read(new).map_err(Error::from)?;
    let saved_bodies = old_folder.saved_bodies().map_err(Error::from)?;
    let saved_bodies = saved_bodies.and(new_folder.saved_bodies().map_err(Error::from)?);
    let between = between(&old, &new, &saved_bodies, within);
    Ok((old, new, between))
}

fn text(old: &Run, new: &Run, between: &Between) -> String {
    let mut text = format!("old  {}\nnew  {}\n\n", title(old), title(new));
    for line in between.caveats() {
        text += &format!("{line}\n");
    }
    for table in between.tables() {
        text += &format!("\n{}", table.text());
    }
    text
}

fn markdown(old: &Run, new: &Run, between: &Between) -> String {
    let mut text = format!("- old: {}\n- new: {}\n", title(old), title(new));
    for line in between.caveats() {
        text += &format!("- {line}\n");
    }
    for table in between.tables() {
        text += &format!("\n{}", table.markdown());
    }
    text
}

const AFTER: &str = "\
Examples:
  andon-lab diff runs/monday runs/today
  andon-lab diff runs/monday runs/today --as md >> pull-request.md
  andon-lab diff runs/monday runs/today --same-within 5% --strict

Exit codes: 0 compared, 2 undecided (--strict), 3 the runs cannot be compared, 4 not understood.";
