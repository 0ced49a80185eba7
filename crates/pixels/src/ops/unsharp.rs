//! `unsharp:RxS+A+T`: an unsharp mask with ImageMagick's threshold.
//!
//! The threshold is asked of each plane by itself. ImageMagick asks it of red, green and blue; on a
//! YCbCr picture that is approximated by luma, which carries most of an edge, and by either chroma plane.

use super::gaussian::{Filter, Gaussian};
use super::geometry::Geometry;
use crate::error::Result;
use crate::stage::{Op, Stage};

/// Sharpens what differs from its neighbourhood.
pub(super) struct Unsharp;

impl Op for Unsharp {
    fn name(&self) -> &'static str {
        "unsharp"
    }

    fn help(&self) -> &'static str {
        "RADIUSxSIGMA[+AMOUNT[+THRESHOLD]]: unsharp mask; amount 1, threshold 0.05 of full scale"
    }

    fn example(&self) -> &'static str {
        "unsharp:0x1+0.7+0.02"
    }

    fn parse(&self, args: &[String]) -> Result<Option<Box<dyn Stage>>> {
        let effect = super::effect(self, args);
        let geometry = Geometry::parse(&effect, 2)?;
        Ok(geometry.map(|geometry| {
            let number =
                |index: usize, default| geometry.more.get(index).map_or(default, |&n| n as f32);
            Box::new(Filter {
                effect,
                gaussian: Gaussian::rows_and_columns(&geometry),
                gain: number(0, 1.0),
                threshold: number(1, 0.05),
            }) as Box<dyn Stage>
        }))
    }
}
