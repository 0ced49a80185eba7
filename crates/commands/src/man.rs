//! `andon man`: a manual page for each command, from the same text as `--help`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// Write manual pages, one for each command
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The folder to write them to; created where it does not exist
    folder: PathBuf,
}

const AFTER: &str = "\
Examples:
  andon man ~/.local/share/man/man1
  andon man /tmp/andon && man /tmp/andon/andon-serve.1";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let folder = args.folder.display();
    std::fs::create_dir_all(&args.folder).with_context(|| format!("{folder} cannot be created"))?;
    let mut andon = crate::Cli::command().disable_help_subcommand(true);
    andon.build();
    write_pages(&andon, &args.folder)
        .with_context(|| format!("cannot write manual pages to {folder}"))
}

/// That of a command, and those of the commands below it.
fn write_pages(command: &Command, folder: &Path) -> std::io::Result<()> {
    let man = Man::new(command.clone())
        .source(concat!("andon ", env!("CARGO_PKG_VERSION")))
        .manual("Andon");
    std::fs::write(folder.join(man.get_filename()), page(command, &man)?)?;
    let mut below = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    below.try_for_each(|command| write_pages(command, folder))
}

fn page(command: &Command, man: &Man) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let below = command.get_after_help().map(ToString::to_string);
    epilogue(&below.unwrap_or_default()).to_writer(&mut page)?;
    Ok(page)
}

/// What `--help` shows below the options: examples, whose lines stay as they are, then sentences.
fn epilogue(text: &str) -> Roff {
    let mut roff = Roff::new();
    let (mut sentences, mut examples) = (Vec::new(), None);
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        match paragraph.strip_prefix("Examples:\n") {
            Some(lines) => examples = Some(lines),
            None => sentences.push(paragraph),
        }
    }
    if !sentences.is_empty() {
        roff.control("SH", ["NOTES"]);
        for paragraph in sentences {
            roff.control("PP", []).text([roman(paragraph)]);
        }
    }
    if let Some(lines) = examples {
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line.trim_start())]);
        }
        roff.control("fi", []);
    }
    roff
}
