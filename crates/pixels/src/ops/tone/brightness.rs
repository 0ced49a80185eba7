//! `brightness:LEVELS`: adds the same amount to red, green and blue.

use andon_recipe::{Arg, Word};

use super::{Affine, Map, Tone};

/// Makes an image lighter or darker.
pub(in crate::ops) const BRIGHTNESS: Tone = Tone {
    word: &Word {
        name: "brightness",
        args: &[Arg::number("levels", -255.0, 255.0)
            .unit("levels of 255")
            .help("added to red, green and blue")],
        help: "makes the image lighter or darker",
        example: "brightness:30",
    },
    map: |args| {
        let plus = (args.number(0)? / 255.0) as f32;
        Ok(Map::affine(Affine::scaled(1.0, [plus; 3])))
    },
};
