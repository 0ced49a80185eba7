//! `colorize:OPACITY:COLOUR`: lays one colour over the whole image.

use andon_recipe::{Arg, Word};

use super::{Affine, Map, Tone};

/// Lays a colour over an image.
pub(in crate::ops) const COLORIZE: Tone = Tone {
    word: &Word {
        name: "colorize",
        args: &[
            Arg::number("opacity", 0.0, 100.0)
                .unit("per cent")
                .help("of the colour; 0: nothing changes"),
            Arg::colour("colour").help("what is laid over; its alpha has no effect"),
        ],
        help: "lays a colour over the image; transparent parts stay transparent",
        example: "colorize:40:3060a0",
    },
    map: |args| {
        let opacity = (args.number(0)? / 100.0) as f32;
        let colour = Affine::scaled(0.0, args.colour(1)?);
        Ok(Map::affine(colour.mixed(opacity, Affine::IDENTITY)))
    },
};
