//! `unsharp:RxS+A+T`: an unsharp mask with ImageMagick's threshold.
//!
//! The threshold is applied to each plane by itself, whereas ImageMagick applies it to red, green and blue. For a YCbCr
//! image this is an approximation: luma carries most of an edge, and each chroma plane is compared separately.

use andon_recipe::{Arg, Effect, Word};

use super::gaussian::{Filter, Gaussian, Response};
use super::geometry::{Geometry, RADIUS, SIGMA};
use crate::error::Result;
use crate::stage::{Op, Stage};

/// The `unsharp` effect, which sharpens samples that differ from their neighbourhood.
pub(super) struct Unsharp;

const WORD: Word = Word {
    name: "unsharp",
    args: &[
        RADIUS,
        SIGMA,
        Arg::number("amount", 0.0, 1000.0)
            .after('+')
            .default("1")
            .help("how much of the difference is added"),
        Arg::number("threshold", 0.0, 1000.0)
            .after('+')
            .unit("parts of full scale")
            .default("0.05")
            .help("smaller differences are left alone"),
    ],
    help: "sharpens what differs from its neighbourhood (unsharp mask)",
    example: "unsharp:0x1+0.7+0.02",
};

impl Op for Unsharp {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let geometry = Geometry::parse(&WORD, effect)?;
        Ok(geometry.map(|geometry| {
            let number =
                |number: Option<f64>, default| number.map_or(default, |number| number as f32);
            Box::new(Filter {
                effect: effect.clone(),
                gaussian: Gaussian::rows_and_columns(&geometry),
                response: Response::Straight {
                    gain: number(geometry.amount, 1.0),
                    threshold: number(geometry.threshold, 0.05),
                },
            }) as Box<dyn Stage>
        }))
    }
}
