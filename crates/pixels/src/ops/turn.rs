//! Turning a picture upright and by quarters.

use std::fmt;

use crate::codec::{Orientation, Traits};
use crate::error::Result;
use crate::frame::Frame;
use crate::plan::Cost;
use crate::stage::{Context, Stage};

/// Mirrors left to right if asked, then turns clockwise by quarters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    /// How.
    pub orientation: Orientation,
}

impl Stage for Turned {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        let _ = (frame, context);
        todo!()
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let _ = (width, height, traits);
        Cost::default()
    }
}

impl fmt::Display for Turned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}
