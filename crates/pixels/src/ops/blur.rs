//! `blur:RxS`: a Gaussian blur.

use andon_recipe::{Effect, Word};

use super::gaussian::{Filter, Gaussian, Response};
use super::geometry::{Geometry, RADIUS, SIGMA};
use crate::error::Result;
use crate::stage::{Op, Stage};

/// Blurs an image.
pub(super) struct Blur;

const WORD: Word = Word {
    name: "blur",
    args: &[RADIUS, SIGMA],
    help: "blurs the image",
    example: "blur:0x1.5",
};

impl Op for Blur {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let geometry = Geometry::parse(&WORD, effect)?;
        Ok(geometry.map(|geometry| {
            Box::new(Filter {
                effect: effect.clone(),
                gaussian: Gaussian::rows_and_columns(&geometry),
                response: Response::BLUR,
            }) as Box<dyn Stage>
        }))
    }
}
