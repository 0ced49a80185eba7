//! `over:NAME:X:Y`: a picture from a file, unscaled, on top.

use std::fmt;

use andon_recipe::Effect;

use super::lay::lay;
use crate::color::remodelled;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Model, Subsampling, Traits};
use crate::samples::{Planes, by_depth};
use crate::stage::{Context, Op, Stage};

/// Lays an icon over a picture.
pub(super) struct Over;

impl Op for Over {
    fn name(&self) -> &'static str {
        Effect::OVER
    }

    fn help(&self) -> &'static str {
        "NAME[:X:Y]: lays the material NAME over the picture, its corner at X, Y px (may be negative)"
    }

    fn example(&self) -> &'static str {
        "over:icon.png:10:-4"
    }

    fn parse(&self, args: &[String]) -> Result<Option<Box<dyn Stage>>> {
        let effect = super::effect(self, args);
        let wrong = |why: String| Error::Recipe {
            piece: effect.to_string(),
            why,
        };
        let (x, y) = match args {
            [_] => (0, 0),
            [_, x, y] => {
                let number = |text: &String| {
                    let number = text.parse::<i32>().map(i64::from);
                    number.map_err(|_| wrong(format!("`{text}` is not a whole number of px")))
                };
                (number(x)?, number(y)?)
            }
            _ => return Err(wrong("it takes a name, or a name and x and y".to_owned())),
        };
        Ok(Some(Box::new(Laid { effect, x, y })))
    }
}

/// A material over the picture.
#[derive(Debug)]
struct Laid {
    /// As in the recipe; its first argument is the material's name.
    effect: Effect,
    x: i64,
    y: i64,
}

impl Stage for Laid {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let name = &self.effect.args[0];
        let material = (context.materials)(name)?;
        let Some(icon) = material.frames.into_iter().next() else {
            return Err(Error::Internal(format!("material {name} has no frame")));
        };
        by_depth!(frame, picture => {
            // Not thinned: it may lie at any px.
            let model = match picture.model {
                Model::YCbCr { range, matrix, .. } => Model::YCbCr { sub: Subsampling::NONE, range, matrix },
                model => model,
            };
            let icon = Planes::of(icon);
            let icon = remodelled(icon, model, None, context.interrupt)?;
            lay(&mut picture, &icon, self.x, self.y);
            Ok(picture.frame())
        })
    }

    /// Whether this one does shows only when it is read.
    fn adds_colour(&self) -> bool {
        true
    }

    fn cost(&self, width: u32, height: u32, _: Traits) -> Cost {
        // How large the material is shows only when it is read: an icon, as a rule.
        let pixels = (u64::from(width) * u64::from(height)).min(ICON);
        Cost {
            nanos: pixels * NANOS_PER_PIXEL,
            scratch: pixels * 8,
        }
    }
}

/// Pixels of a large icon.
const ICON: u64 = 256 * 256;

/// Measured on one core: decoded, converted and blended.
const NANOS_PER_PIXEL: u64 = 20;

impl fmt::Display for Laid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}
