//! Output settings: the recipe's, checked against the options that the result's format supports.

use andon_recipe::{Output, ParseError, Word, options};

use super::words::unknown_word;
use crate::codec::Codec;
use crate::error::{Error, Result};

/// Returns the output settings for the target. If the recipe names the format (`named`), an option that the format does
/// not support is an error. Otherwise such options are left out.
pub(super) fn settled(output: &Output, target: &dyn Codec, named: bool) -> Result<Output> {
    let mut output = output.clone();
    let words = supported_words(target);
    if !named {
        output.leave_out_unknown(words);
    }
    for (word, value) in output.shared() {
        let piece = || setting_text(word.name, &value);
        let option_name = match word.name {
            // These options search for a quality, so the format needs one.
            name if [options::MAX.name, options::SCORE.name].contains(&name) => {
                options::QUALITY.name
            }
            name => name,
        };
        let option = words.iter().find(|option| option.name == option_name);
        let option = option.ok_or_else(|| unknown(target, &piece()))?;
        if option_name == word.name {
            let check = option.check(&value);
            check.map_err(|error| unfit(target, &piece(), &error))?;
        }
    }
    for (name, value) in &output.options {
        let piece = || format!("with:{}", setting_text(name, value));
        let option = words.iter().find(|option| option.name == name);
        let option = option.ok_or_else(|| unknown(target, &format!("with:{name}")))?;
        let check = option.check(value);
        check.map_err(|error| unfit(target, &piece(), &error))?;
    }
    Ok(output)
}

/// Returns `name:value` as in a recipe, or `name` if the value is empty.
pub(super) fn setting_text(name: &str, value: &str) -> String {
    match value {
        "" => name.to_owned(),
        value => format!("{name}:{value}"),
    }
}

pub(super) fn refusal(piece: &str, why: impl Into<String>) -> Error {
    Error::Recipe {
        piece: piece.to_owned(),
        why: why.into(),
    }
}

/// Returns the encoding options of a format; none if it is only read.
fn supported_words(target: &dyn Codec) -> &'static [&'static Word] {
    target.encoder().map_or(&[], |encoder| encoder.options())
}

fn unknown(target: &dyn Codec, piece: &str) -> Error {
    let shared = |name: &str| options::ALL.iter().any(|word| word.name == name);
    let mut names = Vec::new();
    for name in supported_words(target).iter().map(|option| option.name) {
        match shared(name) {
            true => names.push(name.to_owned()),
            false => names.push(format!("with:{name}")),
        }
        if name == options::QUALITY.name {
            names.extend([&options::MAX, &options::SCORE].map(|word| word.name.to_owned()));
        }
    }
    let what = format!("{} has no such option", target.name());
    if names.is_empty() {
        return refusal(piece, what);
    }
    refusal(piece, unknown_word(&what, piece, &names))
}

fn unfit(target: &dyn Codec, piece: &str, error: &ParseError) -> Error {
    refusal(
        piece,
        format!("{} takes another value: {}", target.name(), error.expected),
    )
}
