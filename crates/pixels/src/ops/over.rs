//! `over:NAME:X:Y`: a picture from a file, unscaled, on top.

use std::fmt;

use andon_recipe::{Arg, Effect, Word};

use super::lay::lay;
use crate::color::remodelled;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Model, Subsampling, Traits};
use crate::samples::{Planes, by_depth};
use crate::stage::{Context, Op, Stage, wrong};

/// Lays an icon over a picture.
pub(super) struct Over;

const PLACE: Arg = Arg::whole("x", i32::MIN as i64, i32::MAX as i64)
    .unit("px")
    .default("0")
    .help("left edge of the overlay on the image");

const WORD: Word = Word {
    name: Effect::OVER,
    args: &[
        Arg::text("name", "icon.png").help("a file in the folder of materials"),
        PLACE,
        Arg {
            name: "y",
            help: "top edge of the overlay on the image",
            ..PLACE
        },
    ],
    help: "lays another image over this one, unscaled",
    example: "over:icon.png:10:-4",
};

impl Op for Over {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [_, x, y] = WORD.read(&effect.args)?;
            let place = |text: Option<&str>| PLACE.read_whole(text.unwrap_or("0"));
            Ok(Laid {
                effect: effect.clone(),
                x: place(x)?,
                y: place(y)?,
            })
        };
        let laid = read().map_err(|error| wrong(effect, &error))?;
        Ok(Some(Box::new(laid)))
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
