//! `duotone:DARK:LIGHT`: maps luma to a gradient from one colour to another.

use andon_recipe::{Arg, Word};

use super::{Affine, Map, Tone};

/// Makes an image of two colours and the shades between them.
pub(in crate::ops) const DUOTONE: Tone = Tone {
    word: &Word {
        name: "duotone",
        args: &[
            Arg::colour("dark").help("what black becomes"),
            Arg::colour("light").help("what white becomes"),
        ],
        help: "makes an image of two colours and what lies between them, along luma",
        example: "duotone:102040:ffe0a0",
    },
    map: |args| Ok(Map::affine(Affine::ramp(args.colour(0)?, args.colour(1)?))),
};
