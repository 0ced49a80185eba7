//! `gamma:G`: raises each level to the power of 1/G.

use andon_recipe::{Arg, Word};

use super::{Map, Tone};

/// Lightens or darkens the tones between black and white.
pub(in crate::ops) const GAMMA: Tone = Tone {
    word: &Word {
        name: "gamma",
        args: &[Arg::number("gamma", 0.01, 100.0)
            .help("levels from 0 to 1 are raised to 1/gamma: more than 1 lightens")],
        help: "lightens or darkens what lies between black and white",
        example: "gamma:1.5",
    },
    map: |args| {
        let power = 1.0 / args.number(0)?;
        let curve = move |level: f64| level.powf(power);
        Ok((power != 1.0).then(|| Map::Curve(Box::new(curve))))
    },
};
