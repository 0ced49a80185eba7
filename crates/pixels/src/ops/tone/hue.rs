//! `hue:DEGREES`: rotates colours around the axis of grays.
//!
//! A rotation of red, green and blue about the line on which they are equal turns red into green at 120 degrees. The
//! change that this makes to luma is undone.

use andon_recipe::{Arg, Word};

use super::{Affine, LUMA, Map, Tone};

/// Rotates the hues of an image.
pub(in crate::ops) const HUE: Tone = Tone {
    word: &Word {
        name: "hue",
        args: &[Arg::number("degrees", -360.0, 360.0)
            .help("how far; 120 makes red green, green blue and blue red")],
        help: "turns all hues; luma stays",
        example: "hue:90",
    },
    map: |args| {
        let degrees = args.number(0)?.rem_euclid(360.0);
        Ok(if degrees == 0.0 {
            None
        } else {
            Map::affine(turned(degrees))
        })
    },
};

fn turned(degrees: f64) -> Affine {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let (same, skew) = ((1.0 - cos) / 3.0, sin / 3.0_f64.sqrt());
    let next = |from: usize, to: usize| (to + 3 - from) % 3;
    let turn = |to: usize, from: usize| match next(from, to) {
        0 => cos + same,
        1 => same + skew,
        _ => same - skew,
    };
    let luma = LUMA.map(f64::from);
    let shift = |from: usize| luma[from] - (0..3).map(|to| luma[to] * turn(to, from)).sum::<f64>();
    Affine([0, 1, 2].map(|to| {
        let [r, g, b] = [0, 1, 2].map(|from| (turn(to, from) + shift(from)) as f32);
        [r, g, b, 0.0]
    }))
}
