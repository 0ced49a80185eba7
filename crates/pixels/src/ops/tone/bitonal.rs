//! `bitonal`: black and white, no grays.

use andon_recipe::Word;

use super::{Map, Tone};

/// Makes every pixel black or white.
pub(in crate::ops) const BITONAL: Tone = Tone {
    word: &Word {
        name: "bitonal",
        args: &[],
        help: "makes the image black where its luma is less than half, white elsewhere",
        example: "bitonal",
    },
    map: |_| Ok(Some(Map::Threshold(127.5 / 255.0))),
};
