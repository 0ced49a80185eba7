//! `saturation:FACTOR:GRAY`: moves colours away from gray or towards it.

use andon_recipe::{Arg, Word};

use super::{Affine, LUMA, Map, Tone};

const GRAY: Arg = Arg::choice("gray", &["luma", "rms"]).default("luma").help(
    "the gray of each colour: its luma, or rms, the root of the mean of the squares with the weights of luma, which is \
     lighter",
);

/// Makes colours stronger or paler.
pub(in crate::ops) const SATURATION: Tone = Tone {
    word: &Word {
        name: "saturation",
        args: &[
            Arg::number("factor", 0.0, 1000.0)
                .help("by how much red, green and blue differ from gray is multiplied by it; 0: gray, 1: nothing changes"),
            GRAY,
        ],
        help: "makes colours stronger or paler; their gray stays",
        example: "saturation:1.4",
    },
    map: |args| {
        let factor = args.number(0)? as f32;
        // Factors above 1 may exceed the range of chroma planes, so they work on RGB.
        Ok(match args.text(1) {
            "rms" => (factor != 1.0).then(|| Map::Pixel {
                colours: false,
                map: Box::new(move |pixel| {
                    let squares = LUMA.iter().zip(pixel).map(|(share, level)| share * level * level);
                    let gray = squares.sum::<f32>().sqrt();
                    pixel.map(|level| gray + factor * (level - gray))
                }),
            }),
            _ if factor < 1.0 => Some(Map::Chroma(factor)),
            _ => {
                let gray = Affine::ramp([0.0; 3], [1.0; 3]);
                Map::affine(Affine::IDENTITY.mixed(factor, gray))
            }
        })
    },
};
