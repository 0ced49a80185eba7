//! Grounds to lay a picture on.

use std::fmt;

use andon_recipe::Colour;

use crate::codec::Traits;
use crate::error::Result;
use crate::frame::Frame;
use crate::plan::Cost;
use crate::stage::{Context, Stage};

/// Lays the picture on an opaque ground. What hangs over is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnCanvas {
    /// Width of the ground in px.
    pub width: u32,
    /// Height of the ground in px.
    pub height: u32,
    /// Left edge of the picture on it.
    pub x: i64,
    /// Top edge of the picture on it.
    pub y: i64,
    /// The ground's colour; its alpha is ignored.
    pub colour: Colour,
}

/// Nothing but transparent black, in the incoming frame's model: the result of a region that lies
/// wholly outside the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blank {
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
}

macro_rules! stub {
    ($($stage:ty)*) => {$(
        impl Stage for $stage {
            fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
                let _ = (frame, context);
                todo!()
            }
            fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
                let _ = (width, height, traits);
                Cost::default()
            }
        }
        impl fmt::Display for $stage {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let _ = f;
                todo!()
            }
        }
    )*};
}
stub!(OnCanvas Blank);
