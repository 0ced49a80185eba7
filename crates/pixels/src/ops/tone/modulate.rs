//! `modulate:BRIGHTNESS:SATURATION:HUE`: lightness, chroma and hue of CIE LCh, as in sharp and libvips.

use andon_recipe::{Arg, Word};

use super::{Map, Tone};
use crate::color::lab;

const BRIGHTNESS: Arg = Arg::number("brightness", 0.0, 1000.0)
    .help("lightness is multiplied by it; 1: nothing changes");

/// Changes lightness, chroma and hue.
pub(in crate::ops) const MODULATE: Tone = Tone {
    word: &Word {
        name: "modulate",
        args: &[
            BRIGHTNESS,
            Arg {
                name: "saturation",
                help: "chroma is multiplied by it; 1: nothing changes",
                default: Some("1"),
                ..BRIGHTNESS
            },
            Arg::number("hue", -360.0, 360.0)
                .unit("degrees")
                .default("0")
                .help("how far hues are turned"),
        ],
        help: "changes lightness, chroma and hue of CIE LCh",
        example: "modulate:1.1:0.8:20",
    },
    map: |args| {
        let (brightness, saturation) = (args.number(0)? as f32, args.number(1)?);
        let degrees = args.number(2)?.rem_euclid(360.0);
        if (brightness, saturation, degrees) == (1.0, 1.0, 0.0) {
            return Ok(None);
        }
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (sin, cos) = ((sin * saturation) as f32, (cos * saturation) as f32);
        let map = move |pixel| {
            let [lightness, a, b] = lab::of_rgb(pixel);
            lab::to_rgb([lightness * brightness, a * cos - b * sin, a * sin + b * cos])
        };
        Ok(Some(Map::Pixel {
            colours: false,
            map: Box::new(map),
        }))
    },
};
