//! Resampling: a region of a picture brought to a size, plane by plane.
//!
//! The planner builds [`Resample`] with the region in pixels of the stored picture and the scales at
//! which the decoder handed the planes over, so that one stage undoes the decoder's rounding, cuts the
//! region out, thins chroma and scales, all in one pass over each plane.

use std::fmt;

use crate::codec::{Scales, Traits};
use crate::error::Result;
use crate::frame::{Frame, Subsampling};
use crate::plan::Cost;
use crate::stage::{Context, Stage};

/// What a resampler weighs neighbours with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Windowed sinc over three lobes: photographs.
    #[default]
    Lanczos3,
    /// Soft cubic without visible ringing: palettes, alpha, enlarging.
    Mitchell,
    /// Sharper cubic.
    CatmullRom,
    /// Linear interpolation; a triangle when shrinking.
    Bilinear,
    /// The mean of what an output sample covers.
    Box,
}

/// A rectangle with fractions, in px of the stored picture at full resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegionF {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// A region of the picture brought to a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Resample {
    /// Size of the stored picture, in px at full resolution.
    pub source: (u32, u32),
    /// The part of it to use. Pixels outside are as good as not there.
    pub from: RegionF,
    /// The scales at which the incoming planes were decoded.
    pub scales: Scales,
    /// Thinning of the stored picture's chroma; `NONE` for pictures without.
    pub stored: Subsampling,
    /// The size it is brought to, in px.
    pub to: (u32, u32),
    /// Thinning of the result's chroma; `None` keeps the incoming frame's.
    pub chroma: Option<Subsampling>,
    /// The kernel.
    pub kernel: Kernel,
}

impl Stage for Resample {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        let _ = (frame, context);
        todo!()
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let _ = (width, height, traits);
        Cost::default()
    }
}

impl fmt::Display for Resample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}

/// A part of an unscaled frame, in whole px. It must lie inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop {
    /// Left edge in px.
    pub x: u32,
    /// Top edge in px.
    pub y: u32,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
}

impl Stage for Crop {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        let _ = (frame, context);
        todo!()
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let _ = (width, height, traits);
        Cost::default()
    }
}

impl fmt::Display for Crop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = f;
        todo!()
    }
}
