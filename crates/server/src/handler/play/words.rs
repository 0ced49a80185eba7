//! The words that recipes consist of, such as `fit`, with their arguments. The playground's page makes its controls
//! from them.

use andon_pixels::{Codec, ops};
use andon_recipe::args::Kind;
use andon_recipe::{Arg, Recipe, Word};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

/// Maximum number of arguments that a word of a recipe has.
const MOST_ARGS: usize = 32;

/// Returns the words of recipes and the formats that can be written, as JSON.
pub(super) fn declared(codecs: &[&dyn Codec]) -> Value {
    let words: Vec<Value> = words().filter_map(word).collect();
    let formats: Vec<Value> = codecs.iter().filter_map(|codec| format(*codec)).collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "words": words, "formats": formats })
}

/// Splits a recipe's canonical text into pieces: for each, the index of its word among the words that [`declared`]
/// returns, and its decoded arguments. Words without a group (see [`group`]) are left out.
pub(super) fn pieces(recipe: &Recipe) -> Vec<Value> {
    let text = recipe.to_string();
    let grouped_words: Vec<&Word> = words().filter(|word| group(word).is_some()).collect();
    let piece = |text: &str| {
        grouped_words
            .iter()
            .enumerate()
            .find_map(|(index, word)| Some(json!({ "word": index, "values": values(word, text)? })))
    };
    text.split(',').filter_map(piece).collect()
}

fn words() -> impl Iterator<Item = &'static Word> {
    andon_recipe::words().chain(ops::ALL.iter().map(|op| op.word()))
}

fn is_effect(word: &Word) -> bool {
    ops::ALL.iter().any(|op| op.word().name == word.name)
}

/// Returns the group of controls that a word of recipes belongs to: `effect`, `step` or `output`. Returns `None` for a
/// word that has no control, such as the one for an unchanged source.
fn group(word: &Word) -> Option<&'static str> {
    let recipe: Recipe = word.example.parse().ok()?;
    if is_effect(word) {
        return Some("effect");
    }
    match recipe.steps.is_empty() {
        _ if recipe == Recipe::default() || recipe.is_original() => None,
        true => Some("output"),
        false => Some("step"),
    }
}

fn word(word: &'static Word) -> Option<Value> {
    let group = group(word)?;
    let example = word
        .example
        .split(',')
        .find_map(|piece| values(word, piece))?;
    Some(json!({
        "name": word.name,
        "group": group,
        "form": word.to_string(),
        "help": word.help,
        "args": word.args.iter().map(arg).collect::<Vec<_>>(),
        "example": example,
    }))
}

/// Returns the decoded arguments of a piece of a recipe, or `None` if the piece is not one of this word. Missing
/// arguments are empty.
fn values(word: &Word, piece: &str) -> Option<Vec<String>> {
    let mut parts = piece.split(':');
    if parts.next() != Some(word.name) {
        return None;
    }
    let decode = |part: &str| match is_effect(word) {
        true => percent_decode_str(part).decode_utf8_lossy().into_owned(),
        false => part.to_owned(),
    };
    let parts: Vec<String> = parts.map(decode).collect();
    let read = word.read::<MOST_ARGS>(&parts).ok()?;
    let texts = read.iter().take(word.args.len());
    Some(
        texts
            .map(|text| text.unwrap_or_default().to_owned())
            .collect(),
    )
}

fn arg(arg: &Arg) -> Value {
    let (kind, range, choices): (_, Option<[f64; 2]>, &[&str]) = match arg.kind {
        Kind::Flag => ("flag", None, &[]),
        Kind::Whole { least, most } => ("whole", Some([least as f64, most as f64]), &[]),
        Kind::Number { least, most } => ("number", Some([least, most]), &[]),
        Kind::Length(_) => ("length", None, &[]),
        Kind::Side => ("side", None, &[]),
        Kind::Colour => ("colour", None, &[]),
        Kind::Choice(words) => ("choice", None, words),
        Kind::Text(_) => ("text", None, &[]),
    };
    json!({
        "name": arg.name,
        "kind": kind,
        "range": range,
        "choices": choices,
        "unit": arg.unit,
        "default": arg.default,
        "mark": arg.mark,
        "help": arg.help,
        "says": arg.to_string(),
    })
}

/// Describes a format and its options as JSON, if the format can be written.
fn format(codec: &dyn Codec) -> Option<Value> {
    let options: Vec<Value> = (codec.encoder()?)
        .options()
        .iter()
        .map(|option| {
            json!({
                "name": option.name,
                "help": option.help,
                "args": option.args.iter().map(arg).collect::<Vec<_>>(),
            })
        })
        .collect();
    let media_type = codec.format().media_type;
    Some(json!({ "name": codec.name(), "media_type": media_type, "options": options }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_but_those_that_stand_alone_is_declared_with_its_example() {
        let all = declared(andon_codecs::ALL);
        let names: Vec<&str> = all["words"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word["name"].as_str().unwrap())
            .collect();
        let expected: Vec<&str> = words()
            .map(|word| word.name)
            .filter(|name| !["same", "original"].contains(name))
            .collect();
        assert_eq!(names, expected);
        for (name, group) in [("fit", "step"), ("as", "output"), ("blur", "effect")] {
            let place = names.iter().position(|known| *known == name).unwrap();
            assert_eq!(all["words"][place]["group"], group, "{name}");
        }
    }

    #[test]
    fn every_example_comes_apart_into_its_words_and_arguments() {
        let all = declared(andon_codecs::ALL);
        for word in words().filter(|word| group(word).is_some()) {
            let recipe: Recipe = word.example.parse().unwrap();
            let pieces = pieces(&recipe);
            let said = recipe.to_string().split(',').count();
            assert_eq!(pieces.len(), said, "{}", word.example);
            let name = |piece: &Value| {
                let index = piece["word"].as_u64().unwrap() as usize;
                all["words"][index]["name"].clone()
            };
            assert!(pieces.iter().any(|piece| name(piece) == word.name));
        }
        assert!(pieces(&Recipe::default()).is_empty());
        let escaped: Recipe = "over:a%2Cb.png:10:-4".parse().unwrap();
        assert_eq!(pieces(&escaped)[0]["values"][0], "a,b.png");
    }
}
