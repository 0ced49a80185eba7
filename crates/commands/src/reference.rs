//! `andon reference`: prints every word of recipes, every option of formats and every `small_light` parameter, from
//! their declarations.

use std::fmt::Write;

use andon_codecs::{ALL, BEHIND_FEATURES};
use andon_dialects::small_light::PARAMETERS;
use andon_pixels::ops;
use andon_recipe::{Arg, Word, instead_of, nearest, options};
use anyhow::bail;

use andon_terminal::print;

/// Print the reference of recipes and of small_light URLs
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// One word only: a step, an effect, an option of a format, or a small_light parameter
    #[arg(value_name = "WORD", conflicts_with_all = ["markdown", "fuzz_dictionary"])]
    word: Option<String>,
    /// Print Markdown; docs/reference.md is this text
    #[arg(long, conflicts_with = "fuzz_dictionary")]
    markdown: bool,
    /// Print a dictionary for libFuzzer: words, parameters and values at the limits of their ranges
    #[arg(long)]
    fuzz_dictionary: bool,
}

const AFTER: &str = "\
Examples:
  andon reference
  andon reference fit
  andon reference --markdown > docs/reference.md
  andon reference --fuzz-dictionary > tools/fuzz/words.dict";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut text = String::new();
    if let Some(word) = &args.word {
        one(&mut text, word)?;
        return print(text.as_bytes());
    }
    match (args.markdown, args.fuzz_dictionary) {
        (_, true) => dictionary(&mut text)?,
        (markdown, _) => reference(&mut text, markdown)?,
    }
    print(text.as_bytes())
}

/// Returns every word that a recipe may contain.
pub(crate) fn words() -> impl Iterator<Item = &'static Word> {
    andon_recipe::words().chain(effects())
}

fn effects() -> impl Iterator<Item = &'static Word> {
    ops::ALL.iter().map(|op| op.word())
}

/// Prints the reference of one word of recipes, or of one parameter of small_light URLs.
fn one(to: &mut String, name: &str) -> anyhow::Result<()> {
    let encoders = ALL.iter().filter_map(|codec| codec.encoder());
    let format_options = encoders.flat_map(|encoder| encoder.options()).copied();
    let all: Vec<&Word> = words()
        .chain(format_options.filter(|word| is_own(word)))
        .collect();
    let name = name.trim_start_matches("with:");
    for word in all.iter().filter(|word| word.name == name) {
        entry(to, word, false, word.example)?;
    }
    for parameter in PARAMETERS.iter().filter(|it| it.name == name) {
        to.push_str("small_light: ");
        declared(to, parameter)?;
    }
    if !to.is_empty() {
        return Ok(());
    }
    let names = all.iter().map(|word| word.name);
    match instead_of(name).or_else(|| nearest(name, names)) {
        Some(instead) => bail!("there is no word `{name}`; did you mean `{instead}`?"),
        None => bail!("there is no word `{name}`; `andon reference` lists them all"),
    }
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
    for word in andon_recipe::words() {
        entry(to, word, markdown, word.example)?;
    }
    writeln!(to, "\n{section}Effects\n")?;
    writeln!(
        to,
        "Steps as any other. Each example is a command that shows what it does to a photo, in out/photo.png.\n"
    )?;
    for word in effects() {
        let overlays = match word.args.first() {
            Some(arg) if arg.name == "name" => "--overlays icons/ ",
            _ => "",
        };
        // Photos have no transparency, so without rounded corners nothing would show the shadow.
        let before = match word.name {
            "shadow" => "round:60,pad:30:30:30:30,",
            _ => "",
        };
        let step = word.example;
        let command =
            format!("andon convert fit:600x600,{before}{step},as:png {overlays}photo.jpg -o out/");
        entry(to, word, markdown, &command)?;
    }
    writeln!(to, "\n{section}Formats\n")?;
    writeln!(
        to,
        "The words for output that each format takes. q, progressive, chroma and effort say nothing to a format that has \
         no use for\nthem, unless it was asked for by name; max goes where q does. Options of a format's own are written \
         `with:NAME:VALUE`.\n"
    )?;
    for codec in ALL {
        let Some(encoder) = codec.encoder() else {
            continue;
        };
        let (shared, format_options): (Vec<&Word>, Vec<&Word>) =
            encoder.options().iter().partition(|word| is_shared(word));
        let mut names: Vec<String> = shared.iter().map(|word| option_text(word)).collect();
        if names.is_empty() {
            names.push("none".to_owned());
        }
        let name = codec.name();
        match markdown {
            true => writeln!(to, "- `as:{name}`: {}", names.join(", "))?,
            false => writeln!(to, "as:{name}\n    {}", names.join(", "))?,
        }
        for word in format_options {
            entry(to, word, markdown, word.example)?;
        }
    }
    let formats = ALL.iter().filter(|codec| codec.encoder().is_none());
    let (behind_features, formats): (Vec<&str>, Vec<&str>) =
        (formats.map(|codec| codec.name())).partition(|name| BEHIND_FEATURES.contains(name));
    writeln!(
        to,
        "\nOnly read: {}; {} in builds with the cargo feature of that name. Where no format is asked for, these and bmp, \
         ico and tiff become PNG or JPEG.",
        formats.join(", "),
        behind_features.join(" and ")
    )?;
    writeln!(to, "\n{section}small_light URLs\n")?;
    writeln!(
        to,
        "`/small_light(dw=250,dh=250,q=95)/path/image.jpg`: options between commas.\n"
    )?;
    PARAMETERS.iter().try_for_each(|parameter| {
        to.push_str(if markdown { "- " } else { "" });
        declared(to, parameter)
    })
}

fn entry(to: &mut String, word: &Word, markdown: bool, example: &str) -> std::fmt::Result {
    let with = if is_own(word) { "with:" } else { "" };
    if markdown {
        write!(to, "- `{with}{word}`: {}. Example: `{example}`", word.help)?;
        match illustration(word) {
            Some((file, recipe)) => {
                writeln!(to, "<br>![`{recipe}`](images/reference/{file}.webp)")?
            }
            None => writeln!(to)?,
        }
    } else {
        writeln!(to, "{with}{word}\n    {}; such as {example}", word.help)?;
    }
    word.args.iter().try_for_each(|arg| argument(to, arg))
}

/// Returns the name of the image in docs/images/reference that shows the effect of a word on a photo, and the recipe
/// that makes the image: the row of [`ILLUSTRATIONS`] with the word's example or, for an effect without a row, the
/// example itself. `None` for any other word without a row.
fn illustration(word: &Word) -> Option<(String, String)> {
    let by_table = ILLUSTRATIONS.iter().find(|it| it.0 == word.example);
    by_table
        .map(|(_, file, recipe)| ((*file).to_owned(), (*recipe).to_owned()))
        .or_else(|| {
            let is_effect = effects().any(|effect| effect.name == word.name);
            let recipe = format!("fit:240x240,{}", word.example);
            is_effect.then(|| (word.name.to_owned(), recipe))
        })
}

/// The example of a word, the file name of the image that shows it, and the recipe of that image.
const ILLUSTRATIONS: &[(&str, &str, &str)] = &[
    (
        "around:10:10:40x30:ffffff",
        "around",
        "fit:240x240,around:30:20:180x100:ffffff",
    ),
    ("turn:90", "turn", "fit:160x160,turn:90"),
    ("flip:h", "flip", "fit:240x240,flip:h"),
    (
        "rotate:12.5:ffffff",
        "rotate",
        "fit:240x240,rotate:12.5:ffffff",
    ),
    (
        "crop:10:10:50%x50%",
        "crop",
        "crop:35%:15%:50%x50%,fit:240x240",
    ),
    (
        "crop:400x300:north",
        "crop-gravity",
        "fit:240x240,crop:120x100:east",
    ),
    ("fit:250x250", "fit", "fit:240x240"),
    ("cover:400x300:north", "cover", "cover:160x160:east"),
    ("exact:400x300", "exact", "exact:120x160"),
    ("focus:30%:40%", "focus", "focus:70%:40%,cover:120x120"),
    (
        "pad:10:20:10:20:ffffff",
        "pad",
        "fit:240x240,pad:10:20:10:20:ff8800",
    ),
    (
        "canvas:300x300:ffffff",
        "canvas",
        "fit:160x160,canvas:240x160:3080c0",
    ),
    (
        "backdrop:blur:40:0:80x60:20",
        "backdrop",
        "fit:160x160,canvas:240x135:00000000,backdrop:blur:40:22:160x90:20",
    ),
    (
        "shadow:3+4x4+00000080",
        "shadow",
        "fit:180x180,round:30,pad:10:30:30:10,shadow:5+8x8+000000c0,flatten:ffffff",
    ),
    (
        "over:icon.png:10:-4",
        "over",
        "fit:240x240,over:lamp.png:10:10",
    ),
    (
        "overlay:icon.png:-10:20:60:64:0:multiply",
        "overlay",
        "fit:240x240,overlay:lamp.png:20:20:60:64:0:multiply",
    ),
];

/// Whether a word is an output option that several formats share.
fn is_shared(word: &Word) -> bool {
    options::ALL.iter().any(|shared| shared.name == word.name)
}

/// Whether a word is an output option that a format defines for itself.
fn is_own(word: &Word) -> bool {
    !words().any(|other| other.name == word.name)
}

/// Returns an output option that several formats share, as one of them accepts it: with its values if this format
/// accepts fewer than the recipe language, or else only its name.
fn option_text(word: &Word) -> String {
    if options::ALL.contains(&word) {
        word.name.to_owned()
    } else {
        word.to_string()
    }
}

fn argument(to: &mut String, arg: &Arg) -> std::fmt::Result {
    to.push_str("    - ");
    declared(to, arg)
}

fn declared(to: &mut String, arg: &Arg) -> std::fmt::Result {
    let named = if arg.mark == '=' { "=" } else { "" };
    write!(to, "{}{named}: {arg}; {}", arg.name, arg.help)?;
    match arg.default {
        None | Some("") => writeln!(to),
        Some(default) => writeln!(to, " (default {default})"),
    }
}

fn dictionary(to: &mut String) -> std::fmt::Result {
    let mut entries = std::collections::BTreeSet::new();
    let encoders = ALL.iter().filter_map(|codec| codec.encoder());
    let format_options = encoders.flat_map(|encoder| encoder.options()).copied();
    for word in words().chain(format_options) {
        entries.insert(word.name.to_owned());
        entries.insert(word.example.to_owned());
        for arg in word.args {
            let name = match arg.mark {
                '=' => format!("{}=", arg.name),
                _ => String::new(),
            };
            entries.extend(arg.samples().iter().map(|text| format!("{name}{text}")));
        }
    }
    for parameter in PARAMETERS {
        let values = parameter.samples().into_iter();
        entries.extend(values.map(|value| format!("{}={value}", parameter.name)));
    }
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
    fn the_fuzzers_dictionary_is_up_to_date() {
        let mut text = String::new();
        dictionary(&mut text).unwrap();
        assert!(
            text == include_str!("../../../tools/fuzz/words.dict"),
            "tools/fuzz/words.dict is out of date: run `andon reference --fuzz-dictionary > tools/fuzz/words.dict`"
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
