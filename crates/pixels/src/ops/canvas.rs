//! Canvases to place an image on.

use std::fmt;

use andon_recipe::Colour;

use super::lay::lay;
use crate::color;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Traits};
use crate::samples::{Planes, Sample, by_depth, bytes, count};
use crate::stage::{Context, Stage};

/// Places the image on a canvas of one colour. Parts of the image beyond the canvas are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnCanvas {
    /// Width of the canvas in px.
    pub width: u32,
    /// Height of the canvas in px.
    pub height: u32,
    /// Left edge of the image on the canvas, in px.
    pub x: i64,
    /// Top edge of the image on the canvas, in px.
    pub y: i64,
    /// Colour of the canvas.
    pub colour: Colour,
}

impl Stage for OnCanvas {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let size = (frame.width, frame.height);
        if (self.x, self.y) == (0, 0) && size == (self.width, self.height) && frame.alpha.is_none()
        {
            return Ok(frame);
        }
        let colour = color::sample(self.colour, frame.model, frame.depth());
        by_depth!(frame, image => {
            let mut ground = image.filled_like(self.width, self.height, colour);
            ground.alpha = self.opacity(&ground);
            lay(&mut ground, &image, self.x, self.y);
            ground.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            alpha: self.colour.a < u8::MAX,
            ..traits
        }
    }

    fn size_after(&self, _: u32, _: u32) -> (u32, u32) {
        (self.width, self.height)
    }

    fn adds_colour(&self) -> bool {
        color::is_colourful(self.colour)
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let canvas_bytes =
            count(self.width, self.height, traits.model, false) * bytes(traits.depth);
        let image_samples = count(width, height, traits.model, traits.alpha);
        // At an odd position chroma samples have to be averaged.
        let picos = if traits.alpha || self.colour.a < u8::MAX || (self.x | self.y) & 1 != 0 {
            PICOS_BLENDED
        } else {
            PICOS_COPIED
        };
        Cost {
            nanos: (canvas_bytes * PICOS_COPIED + image_samples * picos) / 1000,
            scratch: 0,
        }
    }
}

impl OnCanvas {
    /// Returns the alpha plane of the canvas, unless the canvas is opaque.
    fn opacity<T: Sample>(&self, _: &Planes<T>) -> Option<Grid<T>> {
        let alpha = T::of(u16::from(self.colour.a) * T::UNIT);
        (alpha != T::MAX).then(|| Grid::filled(self.width, self.height, alpha))
    }
}

/// Picoseconds per sample that is filled or copied, measured on one core.
const PICOS_COPIED: u64 = 250;

/// Picoseconds per sample that is blended by opacity, measured on one core.
const PICOS_BLENDED: u64 = 3_500;

impl fmt::Display for OnCanvas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            width,
            height,
            x,
            y,
            colour,
        } = self;
        write!(f, "canvas {width}x{height} at {x},{y} {colour}")
    }
}

/// An image of transparent black in the incoming frame's model, for a region to be shown that lies wholly outside the
/// image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blank {
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
}

impl Blank {
    fn planes<T: Sample>(self, like: &Planes<T>, black: [u16; 4]) -> Planes<T> {
        let mut planes = like.filled_like(self.width, self.height, black);
        planes.alpha = Some(Grid::filled(self.width, self.height, T::default()));
        planes
    }
}

impl Stage for Blank {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let black = Colour {
            r: 0,
            g: 0,
            b: 0,
            a: 0,
        };
        let black = color::sample(black, frame.model, frame.depth());
        by_depth!(frame, like => self.planes(&like, black).frame())
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            alpha: true,
            ..traits
        }
    }

    fn size_after(&self, _: u32, _: u32) -> (u32, u32) {
        (self.width, self.height)
    }

    fn cost(&self, _: u32, _: u32, traits: Traits) -> Cost {
        let filled = count(self.width, self.height, traits.model, true) * bytes(traits.depth);
        Cost {
            nanos: filled * PICOS_COPIED / 1000,
            scratch: 0,
        }
    }
}

impl fmt::Display for Blank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blank {}x{}", self.width, self.height)
    }
}
