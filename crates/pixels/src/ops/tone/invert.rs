//! `invert`: the negative of an image.

use andon_recipe::Word;

use super::{Affine, Map, Tone};

/// Makes the negative of an image.
pub(in crate::ops) const INVERT: Tone = Tone {
    word: &Word {
        name: "invert",
        args: &[],
        help: "makes the negative of the image; opacity stays",
        example: "invert",
    },
    map: |_| Ok(Map::affine(Affine::scaled(-1.0, [1.0; 3]))),
};
