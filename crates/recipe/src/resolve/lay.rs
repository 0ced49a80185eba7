//! Places an image on a canvas.

use super::Image;
use crate::{Canvas, Colour, Step};

impl Image<'_> {
    /// Places the image on a canvas of size `(w, h)`, with its upper left corner at `(x, y)`. Parts beyond the canvas
    /// are cropped first, so that they are never scaled.
    pub(crate) fn lay(&mut self, (w, h): (u32, u32), (x, y): (i64, i64), colour: Colour) {
        let across = visible(x, self.width, w);
        let down = visible(y, self.height, h);
        let (x, y) = match (across, down) {
            (Some((left, width)), Some((top, height))) => {
                self.cut(left, top, width, height);
                (x.max(0) as u32, y.max(0) as u32)
            }
            // No part of the image is visible, so its exact position makes no difference.
            _ => (w, 0),
        };
        let covers = (x, y) == (0, 0) && (self.width, self.height) == (w, h);
        let is_visible = !covers || self.alpha;
        if !is_visible {
            return;
        }
        let invisible = covers && colour.a == 0;
        if !invisible {
            let place = |at: u32| i32::try_from(at).unwrap_or(i32::MAX);
            self.push(Step::Canvas(Canvas {
                w,
                h,
                colour,
                at: Some((place(x), place(y))),
            }));
        }
        self.alpha = colour.a < u8::MAX;
        self.carry(|point| (point.0 + f64::from(x), point.1 + f64::from(y)));
        (self.width, self.height) = (w, h);
    }
}

/// Returns the start and length, in px of the image, of the range along one axis that lies on a canvas. `length` and
/// `canvas` are the sides of image and canvas in px; the image begins at px `at` of the canvas. Returns `None` if no
/// part lies on the canvas.
fn visible(at: i64, length: u32, canvas: u32) -> Option<(u32, u32)> {
    let start = at.saturating_neg().clamp(0, length.into());
    let end = i64::from(canvas).saturating_sub(at).clamp(0, length.into());
    // Both lie within 0..=length, so they fit into a u32.
    (start < end).then_some((start as u32, (end - start) as u32))
}
