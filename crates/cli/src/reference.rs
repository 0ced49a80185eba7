//! `andon reference`: every word of recipes and every small_light parameter, from their declarations.

use std::fmt::Write;

use andon_dialects::small_light::PARAMETERS;
use andon_pixels::ops;
use andon_recipe::{Arg, WORDS, Word};

use crate::print::print;

/// Print the reference of recipes and of small_light URLs
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// As Markdown: docs/reference.md is this text
    #[arg(long, conflicts_with = "fuzz_dictionary")]
    markdown: bool,
    /// As a dictionary for libFuzzer: words, parameters and values on the edges of their ranges
    #[arg(long)]
    fuzz_dictionary: bool,
}

const AFTER: &str = "\
Examples:
  andon reference
  andon reference --markdown > docs/reference.md";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut text = String::new();
    match (args.markdown, args.fuzz_dictionary) {
        (_, true) => dictionary(&mut text)?,
        (markdown, _) => reference(&mut text, markdown)?,
    }
    print(text.as_bytes())
}

/// Every word that a recipe may have.
fn words() -> impl Iterator<Item = &'static Word> {
    WORDS
        .iter()
        .copied()
        .chain(ops::ALL.iter().map(|op| op.word()))
}

fn reference(to: &mut String, markdown: bool) -> std::fmt::Result {
    let (title, section) = if markdown { ("# ", "## ") } else { ("", "") };
    writeln!(to, "{title}Reference\n")?;
    writeln!(to, "Printed by `andon reference`.\n\n{section}Recipes\n")?;
    writeln!(
        to,
        "Words stand between commas, their arguments between colons. Steps act in the order in which they are\n\
         written: `fit:250x250,sharpen:0x1,as:webp,q:80`. Lengths are pixels, or per cent of a side.\n"
    )?;
    for word in words() {
        if markdown {
            writeln!(to, "- `{word}`: {}. Example: `{}`", word.help, word.example)?;
        } else {
            writeln!(to, "{word}\n    {}; such as {}", word.help, word.example)?;
        }
        for arg in word.args {
            argument(to, arg)?;
        }
    }
    writeln!(to, "\n{section}small_light URLs\n")?;
    writeln!(
        to,
        "`/small_light(dw=250,dh=250,q=95)/path/image.jpg`: options between commas.\n"
    )?;
    for parameter in PARAMETERS {
        if markdown {
            writeln!(to, "- `{}`: {}", parameter.name, parameter.help)?;
        } else {
            writeln!(to, "{:<12}{}", parameter.name, parameter.help)?;
        }
    }
    Ok(())
}

fn argument(to: &mut String, arg: &Arg) -> std::fmt::Result {
    write!(to, "    - {}: {arg}; {}", arg.name, arg.help)?;
    match arg.default {
        None | Some("") => writeln!(to),
        Some(default) => writeln!(to, " (default {default})"),
    }
}

fn dictionary(to: &mut String) -> std::fmt::Result {
    let mut entries = std::collections::BTreeSet::new();
    for word in words() {
        entries.insert(word.name.to_owned());
        entries.insert(word.example.to_owned());
        entries.extend(word.args.iter().flat_map(Arg::samples));
    }
    entries.extend(
        PARAMETERS
            .iter()
            .map(|parameter| format!("{}=", parameter.name)),
    );
    for entry in entries {
        writeln!(to, "\"{entry}\"")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_reference_is_up_to_date() {
        let mut text = String::new();
        reference(&mut text, true).unwrap();
        let printed = include_str!("../../../docs/reference.md");
        assert!(
            text == printed,
            "docs/reference.md is out of date: run `andon reference --markdown > docs/reference.md`"
        );
    }

    #[test]
    fn dictionary_entries_hold_nothing_that_must_be_escaped() {
        let mut text = String::new();
        dictionary(&mut text).unwrap();
        for line in text.lines() {
            let entry = line
                .strip_prefix('"')
                .and_then(|line| line.strip_suffix('"'));
            assert!(!entry.expect(line).contains(['"', '\\']), "{line}");
        }
    }
}
