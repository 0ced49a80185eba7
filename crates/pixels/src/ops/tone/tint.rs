//! `tint:COLOUR`: keeps the lightness of an image and gives it the hue and chroma of one colour, measured in CIELAB.

use andon_recipe::{Arg, Word};

use super::{Map, Tone};
use crate::color::lab;

/// Gives an image the hue and chroma of one colour.
pub(in crate::ops) const TINT: Tone = Tone {
    word: &Word {
        name: "tint",
        args: &[Arg::colour("colour").help("the hue and chroma that everything takes")],
        help: "gives everything one hue and chroma (a and b of CIELAB); lightness stays",
        example: "tint:b06010",
    },
    map: |args| {
        let [_, a, b] = lab::of_rgb(args.colour(0)?);
        let map = move |pixel| {
            let [lightness, ..] = lab::of_rgb(pixel);
            lab::to_rgb([lightness, a, b])
        };
        Ok(Some(Map::Pixel {
            colours: a.abs().max(b.abs()) > 0.01,
            map: Box::new(map),
        }))
    },
};
