//! `saturation:FACTOR`: away from gray, or towards it.

use andon_recipe::{Arg, Word};

use super::{Affine, Map, Tone};

/// Makes colours stronger or paler.
pub(in crate::ops) const SATURATION: Tone = Tone {
    word: &Word {
        name: "saturation",
        args: &[Arg::number("factor", 0.0, 1000.0)
            .help("by how much red, green and blue differ from luma is multiplied by it; 0: gray, 1: nothing changes")],
        help: "makes colours stronger or paler; luma stays",
        example: "saturation:1.4",
    },
    map: |args| {
        let factor = args.number(0)? as f32;
        // Stronger colours may leave what chroma planes can hold.
        Ok(if factor < 1.0 {
            Some(Map::Chroma(factor))
        } else {
            let gray = Affine::ramp([0.0; 3], [1.0; 3]);
            Map::affine(Affine::IDENTITY.mixed(factor, gray))
        })
    },
};
