//! Flattening: compositing an image on a background of its own size, so that it becomes opaque.

use std::fmt;

use andon_recipe::Colour;

use super::lay::lay;
use crate::color;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Traits};
use crate::samples::{by_depth, count};
use crate::stage::{Context, Stage};

/// Composites an image on a background colour, so that it becomes opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flattened {
    /// The background colour; its alpha is ignored.
    pub colour: Colour,
}

impl Stage for Flattened {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        if frame.alpha.is_none() {
            return Ok(frame);
        }
        let colour = color::sample(self.colour, frame.model, frame.depth());
        by_depth!(frame, image => {
            let mut ground = image.filled_like(image.width, image.height, colour);
            lay(&mut ground, &image, 0, 0);
            ground.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            alpha: false,
            ..traits
        }
    }

    fn adds_colour(&self) -> bool {
        color::is_colourful(self.colour)
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        Cost {
            nanos: count(width, height, traits.model, true) * PICOS_BLENDED / 1000,
            scratch: 0,
        }
    }
}

/// Picoseconds per sample that is composited, measured on one core.
const PICOS_BLENDED: u64 = 1_500;

impl fmt::Display for Flattened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Colour { r, g, b, .. } = self.colour;
        write!(f, "flatten {r:02x}{g:02x}{b:02x}")
    }
}
