//! `contrast:FACTOR`: moves levels away from mid-gray or towards it.

use andon_recipe::{Arg, Word};

use super::{Affine, Map, Tone};

/// Raises or lowers the contrast of an image.
pub(in crate::ops) const CONTRAST: Tone = Tone {
    word: &Word {
        name: "contrast",
        args: &[Arg::number("factor", 0.0, 1000.0)
            .help("by how much levels differ from 128 is multiplied by it; 1: nothing changes")],
        help: "raises or lowers contrast",
        example: "contrast:1.3",
    },
    map: |args| {
        let factor = args.number(0)?;
        let plus = (1.0 - factor) * 128.0 / 255.0;
        Ok(Map::affine(Affine::scaled(factor as f32, [plus as f32; 3])))
    },
};
