//! `andon-lab diff`: compares two saved runs, and says only what can honestly be said about their differences.

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

/// Compare two saved runs: what differs about them, the figures with intervals, verdicts
///
/// Runs made at different times were not interleaved, so that whatever changed on the machine meanwhile looks
/// like an effect. Intervals are therefore widened by what the machine changed by, as its CPU calibration tells;
/// variants are also compared by their ratio to a baseline that both runs measured; and runs that asked for
/// something else, or ran on another machine, get no verdict. Interleaved in one run is always better.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(super) struct Args {
    /// The older run's folder
    old: PathBuf,
    /// The newer run's folder
    new: PathBuf,
    /// Within this, two runs count as the same [default: the newer run's]
    #[arg(long, value_name = "SHARE", value_parser = Share::parse)]
    same_within: Option<Share>,
    /// Exit with 2 if a comparison stays undecided
    #[arg(long)]
    strict: bool,
    /// text, md or json
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

/// Reads two saved runs and compares them, using what was kept of the replies of both.
pub(super) fn compare(
    old: &Path,
    new: &Path,
    within: Option<Share>,
) -> anyhow::Result<(Run, Run, Between)> {
    let (old_folder, old) = Folder::read(old).map_err(Error::from)?;
    let (new_folder, new) = Folder::read(new).map_err(Error::from)?;
    let kept = old_folder.kept().map_err(Error::from)?;
    let kept = kept.and(new_folder.kept().map_err(Error::from)?);
    let between = between(&old, &new, &kept, within);
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
