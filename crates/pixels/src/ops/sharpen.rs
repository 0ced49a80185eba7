//! `sharpen:RxS`: ImageMagick's sharpening kernel.
//!
//! That kernel is a negated square Gaussian whose middle weight is replaced by twice the sum of all weights, normalised
//! to sum 1. With S the sum and m the middle weight, it equals the image plus S/(S+m) times its difference from its own
//! blur, so no square kernel has to be applied.

use andon_recipe::{Effect, Word};

use super::gaussian::{Filter, Gaussian, Response};
use super::geometry::{Geometry, RADIUS, SIGMA};
use crate::error::Result;
use crate::stage::{Op, Stage};

/// The `sharpen` effect.
pub(super) struct Sharpen;

const WORD: Word = Word {
    name: "sharpen",
    args: &[RADIUS, SIGMA],
    help: "sharpens the image",
    example: "sharpen:0x0.8",
};

impl Op for Sharpen {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let geometry = Geometry::parse(&WORD, effect)?;
        Ok(geometry.map(|geometry| {
            let gaussian = Gaussian::square(&geometry);
            Box::new(Filter {
                effect: effect.clone(),
                gaussian,
                response: Response::Straight {
                    gain: (1.0 / (1.0 + gaussian.middle())) as f32,
                    threshold: 0.0,
                },
            }) as Box<dyn Stage>
        }))
    }
}
