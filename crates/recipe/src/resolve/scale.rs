//! Scales an image.

use super::Image;
use crate::{Length, Step};

impl Image<'_> {
    /// Converts the sides of a box to px.
    ///
    /// # Errors
    /// The reason, if a side rounds to less than 1 px.
    pub(crate) fn boxed(&self, w: Length, h: Length) -> Result<(f64, f64), String> {
        let w = w.scaled(self.width.into(), self.dpr);
        let h = h.scaled(self.height.into(), self.dpr);
        if w.round() < 1.0 || h.round() < 1.0 {
            return Err(format!(
                "a result of {w}x{h} px has no pixels; width and height must be at least 1"
            ));
        }
        Ok((w, h))
    }

    /// Scales the image to a size in px.
    pub(crate) fn scale(&mut self, w: u32, h: u32) {
        self.scaled = true;
        if (w, h) != (self.width, self.height) {
            self.push(Step::exact(w, h));
            self.resized(w, h);
        }
    }

    /// Updates the state after a step that has scaled the image to this size in px.
    pub(crate) fn resized(&mut self, w: u32, h: u32) {
        let ratio = (
            f64::from(w) / f64::from(self.width),
            f64::from(h) / f64::from(self.height),
        );
        self.carry(|(x, y)| (x * ratio.0, y * ratio.1));
        (self.width, self.height) = (w, h);
    }
}

/// Rounds a side to whole px, at least 1. A side longer than that of any image saturates, and exceeds a limit later.
pub(crate) fn side(length: f64) -> u32 {
    (length.round() as u32).max(1)
}
