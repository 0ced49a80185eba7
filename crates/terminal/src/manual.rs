//! Generates manual pages from the same text as `--help`.

use std::path::Path;

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// Writes a manual page for a program and one for each of its commands into `folder`, which is created if it does not
/// exist. Commands in `others` are left out, because another program provides their pages.
///
/// # Errors
/// If the folder cannot be created, or a page cannot be written.
pub fn write_manual(program: Command, folder: &Path, others: &[&str]) -> anyhow::Result<()> {
    let name = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("{name} cannot be created"))?;
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let source = program.render_version();
    write_pages(&program, source.trim(), folder, others)
        .with_context(|| format!("cannot write manual pages to {name}"))
}

/// Writes the manual page of a command, and those of its subcommands.
fn write_pages(
    command: &Command,
    source: &str,
    folder: &Path,
    others: &[&str],
) -> std::io::Result<()> {
    let man = Man::new(command.clone()).source(source).manual("Andon");
    std::fs::write(folder.join(man.get_filename()), page(command, &man)?)?;
    let mut below = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && !others.contains(&command.get_name()));
    below.try_for_each(|command| write_pages(command, source, folder, &[]))
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
    let texts = [command.get_before_help(), command.get_after_help()];
    let texts: Vec<String> = texts
        .into_iter()
        .flatten()
        .map(|text| text.to_string().trim_end().to_owned())
        .collect();
    epilogue(&texts.join("\n\n")).to_writer(&mut page)?;
    Ok(page)
}

/// Formats the text that `--help` shows before and after the usage and options, as sections of a manual page. The
/// examples become the section EXAMPLES, with their line breaks, and all other paragraphs the section NOTES.
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
