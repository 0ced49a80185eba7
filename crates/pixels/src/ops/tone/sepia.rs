//! `sepia:STRENGTH`: the brown of old prints, by the matrix of the W3C's filter effects.

use andon_recipe::{Arg, Word};

use super::{Affine, Map, Tone};

const BROWN: Affine = Affine([
    [0.393, 0.769, 0.189, 0.0],
    [0.349, 0.686, 0.168, 0.0],
    [0.272, 0.534, 0.131, 0.0],
]);

/// Gives an image the brown tint of old prints.
pub(in crate::ops) const SEPIA: Tone = Tone {
    word: &Word {
        name: "sepia",
        args: &[Arg::number("strength", 0.0, 100.0)
            .unit("per cent")
            .default("100")
            .help("0: nothing changes")],
        help: "makes the image brown, as CSS does",
        example: "sepia:80",
    },
    map: |args| {
        let share = (args.number(0)? / 100.0) as f32;
        Ok(Map::affine(BROWN.mixed(share, Affine::IDENTITY)))
    },
};
