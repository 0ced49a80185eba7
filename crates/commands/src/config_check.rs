//! `andon config check`: checks whether a configuration is understood, and prints what it amounts to.

use std::path::{Path, PathBuf};

use andon_server::config::{Overrides, effective};
use anyhow::Context;
use clap::Subcommand;

use crate::read;
use andon_terminal::print;

/// Look at a configuration without serving anything
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// Validate a file as the server would, and print all its keys, defaults included
#[derive(clap::Args)]
#[command(after_help = AFTER)]
struct CheckArgs {
    /// The file; `-` is standard input
    #[arg(default_value = "andon.toml")]
    file: PathBuf,
}

const AFTER: &str = "\
Examples:
  andon config check andon.toml
  andon config check /etc/andon/andon.toml >/dev/null && systemctl reload andon

Prints an equivalent file with all keys, and above it what answers requests and who may use it. Warnings, and at last \"ok\", go \
to standard error. Folders, certificates and environment variables that the file names \
are looked at as well: what is good here is what `andon serve` starts with, unless an address is taken. Environment variables apply as they do there (ANDON_LISTEN, ANDON_CACHE__MEMORY). An error names \
the line, the key, and the nearest known key. Exit codes: 0 it is good, 1 it is not.";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Command::Check(check) = &args.command;
    let name = check.file.display();
    let text = read::text(&check.file).with_context(|| format!("{name} cannot be read"))?;
    let folder = check.file.parent().unwrap_or(Path::new(""));
    let overrides = Overrides::of_process();
    let checked = overrides.parse(&text, folder).and_then(|config| {
        let whole = effective(&overrides.laid_over(&text)?, folder)?;
        andon_server::check(&config, andon_codecs::ALL).map_err(|error| error.located(&text))?;
        Ok((whole, config))
    });
    let (whole, config) = checked.map_err(|error| error.in_file(&check.file))?;
    for variable in overrides.names() {
        eprintln!("andon: {name}: the environment variable {variable} applies");
    }
    for warning in andon_server::warnings(&config) {
        eprintln!("andon: {name}: warning: {warning}");
    }
    let mut out = "# What answers requests, and who may use it:\n".to_owned();
    for door in andon_server::doors(&config)? {
        out += &format!("#   {door}\n");
    }
    print(format!("{out}\n{whole}").as_bytes())?;
    eprintln!("andon: {name}: ok");
    Ok(())
}
