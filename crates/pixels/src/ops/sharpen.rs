//! `sharpen:RxS`: ImageMagick's sharpening kernel.
//!
//! That kernel is a square Gaussian made negative, whose middle is twice the sum of all weights, brought
//! to sum 1. With S the sum and m the middle weight it equals the image plus S/(S+m) times its
//! difference from its own blur, which needs no square of taps.

use andon_recipe::{Effect, Word};

use super::gaussian::{Filter, Gaussian, Response};
use super::geometry::{Geometry, RADIUS, SIGMA};
use crate::error::Result;
use crate::stage::{Op, Stage};

/// Sharpens an image.
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
