//! `gray:OF`: reduces an image to its luma or to the luminance of its light.

use andon_recipe::{Arg, Word};

use super::{Map, Tone};
use crate::color::lab;

const OF: Arg = Arg::choice("of", &["luma", "light"]).default("luma").help(
    "luma: the weighted mean of the numbers, by Rec. 601; light: that of the light, by Rec. 709",
);

/// Removes the colour from an image.
pub(in crate::ops) const GRAY: Tone = Tone {
    word: &Word {
        name: "gray",
        args: &[OF],
        help: "makes the image gray",
        example: "gray",
    },
    map: |args| {
        Ok(Some(match args.text(0) {
            "light" => Map::Pixel {
                colours: false,
                map: Box::new(|pixel| [lab::gray(pixel); 3]),
            },
            _ => Map::Chroma(0.0),
        }))
    },
};
