//! `gray`: luma alone.

use andon_recipe::Word;

use super::{Map, Tone};

/// Takes the colour out of a picture.
pub(in crate::ops) const GRAY: Tone = Tone {
    word: &Word {
        name: "gray",
        args: &[],
        help: "makes the image gray: luma of Rec. 601",
        example: "gray",
    },
    map: |_| Ok(Some(Map::Chroma(0.0))),
};
