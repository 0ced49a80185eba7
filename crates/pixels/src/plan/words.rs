//! How decoding and encoding print themselves in a plan. Stages print their own lines.

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
pub(super) fn encode(codec: &dyn Codec, how: &Encode) -> String {
    let mut line = format!("encode {}", codec.name());
    if let Some(quality) = how.quality {
        line += &format!(" q{quality}");
    }
    if how.progressive {
        line += " progressive";
    }
    if let Some(effort) = how.effort {
        line += &format!(" effort{effort}");
    }
    line
}

/// `1/4`, or `3/8` where there is no shorter way.
fn fraction(scale: Scale) -> String {
    match scale.0 {
        8 => "1/1".to_owned(),
        n if 8 % n.max(1) == 0 => format!("1/{}", 8 / n.max(1)),
        6 => "3/4".to_owned(),
        n => format!("{n}/8"),
    }
}

/// Says that a word is unknown, which are known, and which was probably meant.
pub(super) fn unknown_word(
    kind: &str,
    word: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> String {
    let list = known.clone().collect::<Vec<_>>().join(", ");
    let nearest = known
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .min();
    match nearest {
        Some((distance, candidate)) if distance <= 2 => {
            format!("there is no such {kind}; did you mean `{candidate}`? Known are {list}")
        }
        _ => format!("there is no such {kind}; known are {list}"),
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
