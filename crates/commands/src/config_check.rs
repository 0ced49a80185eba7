//! `andon config check` validates a configuration, and `andon config show` prints all of its keys, including defaults.

use std::path::{Path, PathBuf};

use andon_server::Config;
use andon_server::config::{Overrides, effective};
use anyhow::Context;
use clap::Subcommand;

use crate::import::unfilled;
use crate::read;
use andon_terminal::print;

/// Check or print a configuration, without serving anything
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(CheckArgs),
    Show(ShowArgs),
}

/// Validate a configuration file as the server would
#[derive(clap::Args)]
#[command(after_help = AFTER)]
struct CheckArgs {
    #[command(flatten)]
    named: Named,
}

/// The configuration file that `config check` and `config show` read, as an argument or an option.
#[derive(clap::Args)]
struct Named {
    /// The configuration file; `-` is standard input
    #[arg(default_value = "andon.toml")]
    file: PathBuf,
    /// The configuration file, as an option like that of other commands
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    config: Option<PathBuf>,
}

impl Named {
    fn file(&self) -> &Path {
        self.config.as_deref().unwrap_or(&self.file)
    }
}

/// Print all keys of a configuration file, including defaults, and which clients may use what
#[derive(clap::Args)]
#[command(after_help = AFTER_SHOW)]
struct ShowArgs {
    #[command(flatten)]
    named: Named,
}

const AFTER_SHOW: &str = "\
Examples:
  andon config show andon.toml

Prints an equivalent file with all keys, and above it what answers requests and who may use it. The file is validated as \
by `andon config check`.";

const AFTER: &str = "\
Examples:
  andon config check andon.toml
  andon config show andon.toml
  andon config check /etc/andon/andon.toml && systemctl reload andon

Warnings, and at last \"ok\", go to standard error. Folders, certificates and environment variables that the file names \
are looked at as well: what is good here is what `andon serve` starts with, unless an address is taken. Environment variables \
apply as they do there (ANDON_LISTEN, ANDON_CACHE__MEMORY). An error names \
the line, the key, and the nearest known key. Exit codes: 0 it is good, 1 it is not.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Check(check) => {
            let file = check.named.file();
            check_file(file)?;
            eprintln!("andon: {}: ok", file.display());
            Ok(())
        }
        Command::Show(show) => {
            let (whole, config) = check_file(show.named.file())?;
            let mut out = "# What answers requests, and who may use it:\n".to_owned();
            for door in andon_server::doors(&config)? {
                out += &format!("#   {door}\n");
            }
            print(format!("{out}\n{whole}").as_bytes())
        }
    }
}

/// Validates a file and prints its warnings. Returns an equivalent file with all keys, and the configuration.
fn check_file(file: &Path) -> anyhow::Result<(String, Config)> {
    let name = file.display();
    let text = read::text(file).with_context(|| format!("{name} cannot be read"))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let overrides = Overrides::of_process();
    let result = overrides.parse(&text, folder).and_then(|config| {
        let whole = effective(&overrides.laid_over(&text)?, folder)?;
        andon_server::check(&config, andon_codecs::ALL).map_err(|error| error.located(&text))?;
        Ok((whole, config))
    });
    let (whole, config) = result.map_err(|error| error.in_file(file))?;
    for variable in overrides.names() {
        eprintln!("andon: {name}: the environment variable {variable} applies");
    }
    for warning in warnings(&config, &text, Some(file)) {
        eprintln!("andon: {name}: warning: {warning}");
    }
    Ok((whole, config))
}

/// Returns warnings about a valid configuration: settings that may surprise, and values in its text that still have to
/// be filled in.
pub(crate) fn warnings(config: &Config, text: &str, file: Option<&Path>) -> Vec<String> {
    let overrides = Overrides::of_process();
    let is_set = |variable: &str| overrides.names().any(|name| name == variable);
    let mut all = unfilled(text, is_set);
    all.extend(andon_server::warnings(config, file));
    all
}
