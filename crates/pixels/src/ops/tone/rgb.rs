//! `rgb:R:G:B`: adds a separate amount to each of red, green and blue.

use andon_recipe::{Arg, Word};

use super::{Affine, Map, Tone};

const RED: Arg = Arg::number("red", -255.0, 255.0)
    .unit("levels of 255")
    .help("added to red");

/// Shifts the colour balance of an image.
pub(in crate::ops) const RGB: Tone = Tone {
    word: &Word {
        name: "rgb",
        args: &[
            RED,
            Arg {
                name: "green",
                help: "added to green",
                ..RED
            },
            Arg {
                name: "blue",
                help: "added to blue",
                ..RED
            },
        ],
        help: "adds to red, green and blue",
        example: "rgb:20:-10:0",
    },
    map: |args| {
        let plus = [args.number(0)?, args.number(1)?, args.number(2)?];
        let plus = plus.map(|levels| (levels / 255.0) as f32);
        Ok(Map::affine(Affine::scaled(1.0, plus)))
    },
};
