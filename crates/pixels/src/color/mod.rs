//! Colour models.

use std::fmt;

use andon_recipe::Colour;

use crate::codec::Traits;
use crate::error::Result;
use crate::frame::{Depth, Frame, Model};
use crate::plan::Cost;
use crate::stage::{Context, Stage};

/// Brings a frame to another model, range, thinning or depth; adds or drops alpha.
#[derive(Clone, Debug, PartialEq)]
pub struct Convert {
    /// What comes out. Alpha that is dropped is not flattened: hidden colours show.
    pub to: Traits,
    /// The ICC profile of the incoming CMYK frame. Absent, or not readable: the naive formula.
    pub icc: Option<Vec<u8>>,
}

impl Stage for Convert {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        let _ = (frame, context);
        todo!()
    }

    fn after(&self, _: Traits) -> Traits {
        self.to
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let _ = (width, height, traits);
        Cost::default()
    }
}

impl fmt::Display for Convert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}

/// The short name of a frame's traits, as plans print it: `ycbcr420`, `rgba`, `gray16`,
/// `ycbcr420-limited`.
pub fn name(traits: Traits) -> String {
    let _ = traits;
    todo!()
}

/// A colour's samples in a model, in the units of `depth`; alpha aside, unused entries are 0.
#[must_use]
pub fn sample(colour: Colour, model: Model, depth: Depth) -> [u16; 4] {
    let _ = (colour, model, depth);
    todo!()
}
