//! How decoding and encoding print themselves in a plan. Stages print their own lines.

use super::search::Search;
use crate::codec::{Codec, Encode, Scale, Scales};
use crate::color;
use crate::frame::Traits;

/// `decode jpeg 1/2 chroma 1/4 ycbcr420`: what is full, and chroma's scale when it is luma's, goes
/// without saying.
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

/// `encode jpeg q80 progressive`: what is the format's default goes without saying.
pub(super) fn encode(codec: &dyn Codec, how: &Encode, search: Option<Search>) -> String {
    let mut line = format!("encode {}", codec.name());
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

/// `1/4`, or `3/8` where there is no shorter way.
pub(crate) fn fraction(scale: Scale) -> String {
    match scale.0 {
        8 => "1/1".to_owned(),
        n if 8 % n.max(1) == 0 => format!("1/{}", 8 / n.max(1)),
        6 => "3/4".to_owned(),
        n => format!("{n}/8"),
    }
}

/// Says what is unknown, which word was probably meant, and which are known.
pub(super) fn unknown_word(what: &str, word: &str, known: &[impl AsRef<str>]) -> String {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let list = known.join(", ");
    match andon_recipe::nearest(word, known) {
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
