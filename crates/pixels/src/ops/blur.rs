//! `blur:RxS`: a Gaussian blur.

use super::gaussian::{Filter, Gaussian};
use super::geometry::Geometry;
use crate::error::Result;
use crate::stage::{Op, Stage};

/// Softens a picture.
pub(super) struct Blur;

impl Op for Blur {
    fn name(&self) -> &'static str {
        "blur"
    }

    fn help(&self) -> &'static str {
        "RADIUSxSIGMA in px: blurs; radius 0 lets sigma decide"
    }

    fn example(&self) -> &'static str {
        "blur:0x1.5"
    }

    fn parse(&self, args: &[String]) -> Result<Option<Box<dyn Stage>>> {
        let effect = super::effect(self, args);
        let geometry = Geometry::parse(&effect, 0)?;
        Ok(geometry.map(|geometry| {
            Box::new(Filter {
                effect,
                gaussian: Gaussian::rows_and_columns(&geometry),
                gain: -1.0,
                threshold: 0.0,
            }) as Box<dyn Stage>
        }))
    }
}
