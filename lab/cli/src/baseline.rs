//! `andon-lab baseline`: saved runs that later runs are compared with, one per name and machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use andon_lab::experiment::Error;
use andon_lab::record::{Folder, Machine, Run};
use andon_lab::report::between::title;
use anyhow::{Context, bail};

use super::judged_run::{JudgedRun, colour, format};
use andon_terminal::print;

/// Save a run as the baseline of its scenario on this kind of machine; `andon-lab gate` compares later runs with it
///
/// A baseline is a copy of the run's folder, stored under a name (the scenario's, unless you give one) and the machine
/// it was measured on (processor, number of CPUs, memory), because figures of different machines are not comparable.
#[derive(clap::Args)]
#[command(after_help = AFTER, arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Save(Save),
    List(List),
    Show(Show),
}

/// Save a finished run as a baseline
#[derive(clap::Args)]
#[command(after_help = AFTER)]
struct Save {
    /// The run's folder
    run: PathBuf,
    /// Name of the baseline [default: the scenario's]
    name: Option<String>,
    /// Replace an existing baseline of the same name
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    store: Store,
}

/// List all baselines
#[derive(clap::Args)]
#[command(after_help = AFTER)]
struct List {
    #[command(flatten)]
    store: Store,
}

/// Print the baseline with this name for this machine
#[derive(clap::Args)]
#[command(after_help = AFTER)]
struct Show {
    /// Name of the baseline
    name: String,
    /// Print the baseline of another machine, given by its key in the list
    #[arg(long, value_name = "KEY")]
    machine: Option<String>,
    /// Report format: text, md, json…
    #[arg(long = "as", value_name = "FORMAT", default_value = "text")]
    format: String,
    #[command(flatten)]
    store: Store,
}

/// The option for the folder in which baselines are stored.
#[derive(clap::Args)]
pub(super) struct Store {
    /// Folder in which baselines are stored [default: ~/.local/state/andon/baselines]
    #[arg(long = "store", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Save(args) => args.save()?,
        Command::List(args) => args.list()?,
        Command::Show(args) => args.show()?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Save {
    fn save(&self) -> anyhow::Result<()> {
        let (_, run) = Folder::read(&self.run).map_err(Error::from)?;
        let counting = run.blocks.iter().filter(|block| block.counts()).count();
        if counting < 2 {
            bail!(
                "{}: only {counting} of its blocks counts, which nothing can be compared with",
                self.run.display()
            );
        }
        let name = self.name.as_ref().unwrap_or(&run.header.scenario.name);
        let place = self.store.place(name, &run.header.machine.key())?;
        if place.exists() && !self.force {
            bail!(
                "{}: there is a baseline here already; replace it with --force",
                place.display()
            );
        }
        replace(&self.run, &place)?;
        eprintln!("{} is the baseline now: {}", title(&run), place.display());
        Ok(())
    }
}

impl List {
    fn list(&self) -> anyhow::Result<()> {
        let this_machine = Machine::read().key();
        let mut text = String::new();
        for (name, key, folder) in self.store.all()? {
            let mark = if key == this_machine {
                "this machine"
            } else {
                ""
            };
            let description = match Folder::read(&folder) {
                Ok((_, run)) => title(&run),
                Err(error) => error.to_string(),
            };
            text += format!("{name}  {key}  {description}  {mark}").trim_end();
            text.push('\n');
        }
        if text.is_empty() {
            eprintln!("No baselines in {}", self.store.folder()?.display());
        }
        print(text.as_bytes())
    }
}

impl Show {
    fn show(&self) -> anyhow::Result<()> {
        let format = format(&self.format)?;
        let this_machine = Machine::read().key();
        let place = self
            .store
            .place(&self.name, self.machine.as_ref().unwrap_or(&this_machine))?;
        if !place.exists() {
            bail!("{}", self.store.missing_message(&self.name)?);
        }
        print(&JudgedRun::read(&place)?.print(format, colour())?)
    }
}

impl Store {
    /// Returns the folder of the baseline for a run's scenario and machine. `None` if there is no such baseline, if the
    /// scenario has no name, or if the baseline is this run itself.
    pub(super) fn of(&self, run: &Run) -> anyhow::Result<Option<PathBuf>> {
        let name = &run.header.scenario.name;
        if name.is_empty() {
            return Ok(None);
        }
        let place = self.place(name, &run.header.machine.key())?;
        if !place.exists() {
            return Ok(None);
        }
        let (_, saved) = Folder::read(&place).map_err(Error::from)?;
        Ok((saved.header.started != run.header.started).then_some(place))
    }

    /// Returns the folder of the baseline with this name for the machine of `run`.
    pub(super) fn folder_of(&self, name: &str, run: &Run) -> anyhow::Result<PathBuf> {
        let place = self.place(name, &run.header.machine.key())?;
        if !place.exists() {
            bail!("{}", self.missing_message(name)?);
        }
        Ok(place)
    }

    fn missing_message(&self, name: &str) -> anyhow::Result<String> {
        let names: Vec<String> = (self.all()?.into_iter())
            .map(|(name, key, _)| format!("{name} ({key})"))
            .collect();
        Ok(format!(
            "there is no baseline `{name}` for this machine in {}{}",
            self.folder()?.display(),
            if names.is_empty() {
                String::new()
            } else {
                format!("; there are {}", names.join(", "))
            }
        ))
    }

    fn place(&self, name: &str, machine: &str) -> anyhow::Result<PathBuf> {
        let plain =
            |text: &str| !text.starts_with('.') && !text.is_empty() && !text.contains(['/', '\0']);
        if !plain(name) || !plain(machine) {
            bail!(
                "`{name}` cannot be a baseline's name: give one without `/` that begins with a letter"
            );
        }
        Ok(self.folder()?.join(name).join(machine))
    }

    fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let state = match std::env::var_os("XDG_STATE_HOME") {
            Some(state) if !state.is_empty() => PathBuf::from(state),
            _ => {
                let home = std::env::home_dir();
                let home = home.context("there is no home folder: say where with --store")?;
                home.join(".local/state")
            }
        };
        Ok(state.join("andon/baselines"))
    }

    /// Returns the name, machine key and folder of every baseline, sorted.
    fn all(&self) -> anyhow::Result<Vec<(String, String, PathBuf)>> {
        let mut all = Vec::new();
        for (name, folder) in folders(&self.folder()?)? {
            for (machine, folder) in folders(&folder)? {
                all.push((name.clone(), machine, folder));
            }
        }
        all.sort();
        Ok(all)
    }
}

/// Returns the names and paths of the visible folders in `folder`. The list is empty if `folder` does not exist.
fn folders(folder: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| folder.display().to_string()),
    };
    let folders = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_visible = !name.starts_with('.') && entry.path().is_dir();
        is_visible.then(|| (name, entry.path()))
    });
    Ok(folders.collect())
}

/// Replaces the baseline at `place` by a copy of `run`. The copy is complete before the old baseline is removed, so
/// that a copy that fails leaves the old one in place.
fn replace(run: &Path, place: &Path) -> anyhow::Result<()> {
    let parent = place.parent().unwrap_or(place);
    fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    let fresh = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(parent)
        .with_context(|| parent.display().to_string())?;
    copy(run, fresh.path()).with_context(|| run.display().to_string())?;
    if place.exists() {
        fs::remove_dir_all(place).with_context(|| place.display().to_string())?;
    }
    fs::rename(fresh.keep(), place).with_context(|| place.display().to_string())
}

/// Copies the files that a run consists of, compressed or not. Reports are left out because they can be made again.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for name in ["run.json", "blocks.jsonl", "passes.jsonl", "judged.jsonl"] {
        for name in [name.to_owned(), format!("{name}.gz")] {
            let file = from.join(&name);
            if file.exists() {
                fs::copy(file, to.join(name))?;
            }
        }
    }
    let bodies = from.join("bodies");
    if bodies.exists() {
        fs::create_dir(to.join("bodies"))?;
        for body in fs::read_dir(bodies)? {
            let body = body?;
            fs::copy(body.path(), to.join("bodies").join(body.file_name()))?;
        }
    }
    Ok(())
}

const AFTER: &str = "\
Examples:
  andon-lab baseline save runs/monday
  andon-lab baseline save runs/monday release-1.4 --store ci/baselines
  andon-lab baseline list
  andon-lab baseline show release-1.4
  andon-lab gate runs/today --baseline release-1.4 --store ci/baselines";
