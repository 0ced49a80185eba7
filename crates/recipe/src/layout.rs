//! Where everything lies once the picture's size is known: pure arithmetic.
//!
//! The rules are ngx_small_light's, in its order of floating-point operations, because a URL that was
//! served for years must keep its size to the pixel: sides are truncated, never rounded.

/// A rectangle of whole pixels inside a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width.
    pub w: u32,
    /// Height.
    pub h: u32,
}

/// One scaling: a region brought to a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaling {
    /// The region, clipped to the picture. `None`: it lies wholly outside, the result is blank
    /// (transparent black).
    pub from: Option<Rect>,
    /// The width it is brought to, at least 1.
    pub width: u32,
    /// The height, at least 1.
    pub height: u32,
}

/// The canvas and where the picture lies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanvasLayout {
    /// Canvas width.
    pub width: u32,
    /// Canvas height.
    pub height: u32,
    /// Left edge of the picture on the canvas; may be negative.
    pub x: i64,
    /// Top edge.
    pub y: i64,
    /// The ground's colour.
    pub colour: crate::Colour,
}

/// A recipe's geometry for one picture. Sizes are those of the upright, turned picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// The answer is the source's own bytes; nothing else of the layout acts.
    pub original: bool,
    /// Size of the picture that lengths were measured on (upright, turned).
    pub source: (u32, u32),
    /// The size that was asked for, fractions kept: where the canvas is centred and the border drawn
    /// even if no scaling took place.
    pub asked: (f64, f64),
    /// Scaling and cropping, if any takes place.
    pub scaling: Option<Scaling>,
    /// The canvas, if any.
    pub canvas: Option<CanvasLayout>,
    /// Final width.
    pub width: u32,
    /// Final height.
    pub height: u32,
}

/// Why a recipe has no layout for a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum LayoutError {
    /// A side of the result truncates to nothing.
    EmptySide {
        /// Width before truncation.
        width: f64,
        /// Height before truncation.
        height: f64,
    },
}

impl crate::Recipe {
    /// Lays the recipe out for a picture of `width` × `height` px (upright and turned already).
    ///
    /// # Errors
    /// [`LayoutError::EmptySide`] when the result would have no pixels.
    pub fn layout(&self, width: u32, height: u32) -> Result<Layout, LayoutError> {
        let _ = (width, height);
        todo!()
    }
}
