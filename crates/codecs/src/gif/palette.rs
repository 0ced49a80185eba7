//! The palette of a frame: at most 256 colours, one of them transparent if any pixel is.

use andon_pixels::{Grid, Interrupt, Result};

use crate::indexed::{exact_palette, fit_palette};

/// An image as a palette and indices.
#[derive(Debug)]
pub(super) struct Indexed {
    /// Red, green and blue of each index.
    pub(super) palette: Vec<u8>,
    /// The index of transparent pixels, if there are any. It is the last of the palette.
    pub(super) transparent: Option<u8>,
    /// One index per pixel.
    pub(super) indices: Vec<u8>,
}

/// An image as planes of equal size.
#[derive(Clone, Copy)]
pub(super) struct RgbaPlanes<'a> {
    /// Red, green and blue planes.
    pub(super) rgb: [&'a Grid<u8>; 3],
    /// Opacity plane. A value below half counts as transparent.
    pub(super) alpha: Option<&'a Grid<u8>>,
}

impl RgbaPlanes<'_> {
    /// Fits a palette to the image and gives every pixel an index.
    pub(super) fn index(self, interrupt: &dyn Interrupt) -> Result<Indexed> {
        let clear = self
            .alpha
            .is_some_and(|alpha| alpha.samples().iter().any(|&a| a < OPAQUE));
        let most = if clear { 255 } else { 256 };
        let (width, height) = (self.rgb[0].width() as usize, self.rgb[0].height() as usize);
        let colour = |at| self.colour(at);
        let indexed = match exact_palette(width * height, most, colour) {
            Some(indices) => indices,
            None => fit_palette((width, height), most, colour, interrupt)?,
        };
        let transparent = clear.then_some(indexed.palette.len() as u8);
        let mut palette = indexed.palette.concat();
        if clear {
            palette.extend([0, 0, 0]);
        }
        Ok(Indexed {
            palette,
            transparent,
            indices: indexed.indices,
        })
    }

    /// Returns the colour of a pixel, or `None` if it is transparent.
    fn colour(self, at: usize) -> Option<[u8; 3]> {
        let clear = self.alpha.is_some_and(|alpha| alpha.samples()[at] < OPAQUE);
        (!clear).then(|| self.rgb.map(|plane| plane.samples()[at]))
    }
}

/// Minimum opacity that counts as opaque.
pub(super) const OPAQUE: u8 = 128;
