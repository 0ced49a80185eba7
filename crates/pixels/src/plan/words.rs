//! Prints decoding and encoding as steps of a plan. Stages print themselves.

use andon_recipe::{Effect, Recipe};

use super::search::Search;
use crate::codec::{Codec, Encode, Info, Scale, Scales};

use crate::color;
use crate::formats::Formats;
use crate::frame::Traits;
use crate::ops::text;
use crate::window::{RegionF, Window};

/// Returns the line of a decoding step, such as `decode jpeg 1/2 chroma 1/4 ycbcr420`. Full scale is omitted, and so is
/// chroma's scale where it equals luma's.
pub(super) fn decode(codec: &dyn Codec, scales: Scales, traits: Traits) -> String {
    let mut line = format!("decode {}", codec.name());
    if scales.luma != Scale::FULL {
        line += &format!(" {}", fraction(scales.luma));
    }
    if scales.chroma != scales.luma {
        line += &format!(" chroma {}", fraction(scales.chroma));
    }
    line + " " + &color::name(traits)
}

/// Returns the line of a drawing step, such as `draw svg 400x300 rgba`, followed by the part that is drawn if it is not
/// the whole image.
pub(super) fn draw(codec: &dyn Codec, info: &Info, window: &Window, traits: Traits) -> String {
    let (width, height) = window.to;
    let mut line = format!(
        "draw {} {width}x{height} {}",
        codec.name(),
        color::name(traits)
    );
    if !window.is_whole((info.width, info.height)) {
        let RegionF { x, y, w, h } = window.from;
        line += &format!(" from {x},{y} {w}x{h}");
    }
    line
}

/// Returns the line of an encoding step, such as `encode jpeg q80 progressive`. The format's defaults are omitted.
pub(super) fn encode(format: &str, how: &Encode, search: Option<Search>) -> String {
    let mut line = format!("encode {format}");
    if let Some(search) = search {
        let piece = search.piece().replace(':', "");
        line += &format!(" {piece} {} tries", search.tries());
    } else if let Some(quality) = how.quality {
        line += &format!(" q{quality}");
    }
    if how.lossless {
        line += " lossless";
    }
    if let Some(depth) = how.depth {
        line += &format!(" depth{}", depth.bits());
    }
    if how.progressive {
        line += " progressive";
    }
    if let Some(effort) = how.effort {
        line += &format!(" effort{effort}");
    }
    for (name, value) in &how.options {
        line += &format!(" {name}{}{value}", if value.is_empty() { "" } else { ":" });
    }
    line
}

/// Returns a scale as a fraction in lowest terms, such as `1/4` or `3/8`.
pub(crate) fn fraction(scale: Scale) -> String {
    match scale.0 {
        8 => "1/1".to_owned(),
        n if 8 % n.max(1) == 0 => format!("1/{}", 8 / n.max(1)),
        6 => "3/4".to_owned(),
        n => format!("{n}/8"),
    }
}

/// Returns a note on the letters in the recipe's texts that no font has and that are therefore not drawn; `None` if
/// there are none.
pub(super) fn undrawn_texts(formats: &Formats, recipe: &Recipe) -> Option<String> {
    let texts = recipe
        .effects()
        .filter(|effect| effect.name == Effect::TEXT)
        .filter_map(|effect| effect.args.first());
    let mut drawings = formats.codecs.iter().filter_map(|codec| codec.drawings());
    let drawings = drawings.next()?;
    let mut missing: Vec<char> = texts
        .flat_map(|text| drawings.undrawn_letters(text))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    undrawn(Effect::TEXT, &missing)
}

/// Returns a note on the font families that the recipe's texts name and that are not installed; `None` if all are.
pub(super) fn unknown_families(formats: &Formats, recipe: &Recipe) -> Option<String> {
    let texts = recipe
        .effects()
        .filter(|effect| effect.name == Effect::TEXT);
    let mut drawings = formats.codecs.iter().filter_map(|codec| codec.drawings());
    let drawings = drawings.next()?;
    let fonts = texts.filter_map(text::font);
    let mut unknown: Vec<String> = fonts
        .flat_map(|font| drawings.unknown_families(font))
        .map(|family| format!("{family:?}"))
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    (!unknown.is_empty()).then(|| {
        format!(
            "text: no font here is of the family {}; the default family is used",
            unknown.join(", ")
        )
    })
}

/// Returns a note on the letters that no font has and that are therefore not drawn; `None` if there are none. `whose`
/// is the word or format that the text belongs to.
pub(crate) fn undrawn(whose: &str, missing: &[char]) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let codes = missing
        .iter()
        .take(MOST_TOLD)
        .map(|letter| format!("U+{:04X}", u32::from(*letter)));
    let mut list: Vec<String> = codes.collect();
    if missing.len() > MOST_TOLD {
        list.push(format!("{} more", missing.len() - MOST_TOLD));
    }
    Some(format!(
        "{whose}: no font here has {}; [fonts] of a configuration (--config FILE) names further fonts",
        list.join(", ")
    ))
}

/// The most missing letters that a note names.
const MOST_TOLD: usize = 3;

/// Returns an error message about a word that is no step of a recipe. It suggests the equivalent step if the word is
/// one that other programs use, or else a similar word, or else the command that lists all steps.
pub(super) fn unknown_step(word: &str, words: &[&str]) -> String {
    let what = "there is no such step";
    let near = || andon_recipe::nearest(word, words.iter().copied());
    match andon_recipe::instead_of(word).or_else(near) {
        Some(instead) => format!("{what}; did you mean `{instead}`?"),
        None => format!("{what}; `andon reference` lists them"),
    }
}

/// Returns an error message that names the unknown word, a similar word if there is one, and all known words.
pub(super) fn unknown_word(what: &str, word: &str, words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let list = words.join(", ");
    match andon_recipe::nearest(word, words) {
        Some(near) => format!("{what}; did you mean `{near}`? Known are {list}"),
        None => format!("{what}; known are {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms() {
        let texts: Vec<String> = (1..=8).map(|n| fraction(Scale(n))).collect();
        assert_eq!(
            texts,
            ["1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8", "1/1"]
        );
    }
}
