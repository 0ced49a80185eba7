//! `sharpen:RxS`: ImageMagick's sharpening kernel.
//!
//! That kernel is a square Gaussian made negative, whose middle is twice the sum of all weights, brought
//! to sum 1. With S the sum and m the middle weight it equals the picture plus S/(S+m) times its
//! difference from its own blur, which needs no square of taps.

use super::gaussian::{Filter, Gaussian};
use super::geometry::Geometry;
use crate::error::Result;
use crate::stage::{Op, Stage};

/// Sharpens a picture.
pub(super) struct Sharpen;

impl Op for Sharpen {
    fn name(&self) -> &'static str {
        "sharpen"
    }

    fn help(&self) -> &'static str {
        "RADIUSxSIGMA in px: sharpens; radius 0 lets sigma decide"
    }

    fn example(&self) -> &'static str {
        "sharpen:0x0.8"
    }

    fn parse(&self, args: &[String]) -> Result<Option<Box<dyn Stage>>> {
        let effect = super::effect(self, args);
        let geometry = Geometry::parse(&effect, 0)?;
        Ok(geometry.map(|geometry| {
            let gaussian = Gaussian::square(&geometry);
            Box::new(Filter {
                effect,
                gaussian,
                gain: (1.0 / (1.0 + gaussian.middle())) as f32,
                threshold: 0.0,
            }) as Box<dyn Stage>
        }))
    }
}
