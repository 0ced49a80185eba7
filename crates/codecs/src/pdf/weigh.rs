//! Measures the work of drawing a page beforehand, because the rasterizer cannot be interrupted.
//!
//! The interpreter calls a [`Device`] for every drawing operation. The interpreter cannot be stopped, so a page over
//! the budget is abandoned by unwinding, with the error as the payload and without a message on standard error.

use std::panic;

use andon_pixels::{Error, Interrupt};
use hayro::hayro_interpret::font::GlyphRun;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};
use hayro::kurbo::{BezPath, Rect, Shape};

use super::NAME;

/// Maximum work for drawing a small page. The unit is one pixel that an operation paints; drawing this much takes some
/// seconds.
const WORK: f64 = 1e9;
/// Maximum work for drawing a large page, as a multiple of the page's pixels. The larger of this limit and [`WORK`]
/// applies.
const WHOLE_PAGES: f64 = 20.0;

/// Fixed work of every drawing operation, in pixels, in addition to that for the pixels that it paints.
const LEAST: f64 = 500.0;

/// Work for each point of an outline, in pixels.
const POINT: f64 = 100.0;

/// Number of drawing operations between two checks of the interrupt.
const OFTEN: u32 = 256;

/// A device that draws nothing, but estimates the work of each drawing operation and subtracts it from a budget.
pub(super) struct Weigh<'a> {
    left: f64,
    canvas: Rect,
    operations: u32,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Weigh<'a> {
    /// Creates a device for a page that is drawn on `canvas`, in pixels.
    pub(super) fn new(canvas: Rect, interrupt: &'a dyn Interrupt) -> Self {
        Self {
            left: WORK.max(canvas.area() * WHOLE_PAGES),
            canvas,
            operations: 0,
            interrupt,
        }
    }

    /// Subtracts the work of one operation, in pixels, and the fixed work [`LEAST`] from the budget. Unwinds out of the
    /// interpreter if the budget is used up, or if interrupted.
    fn spend(&mut self, work: f64) {
        self.left -= LEAST + work;
        self.operations = self.operations.wrapping_add(1);
        if self.left < 0.0 {
            panic::resume_unwind(Box::new(Error::unsupported(
                NAME,
                "more drawing than fits into a request",
            )));
        }
        if self.operations.is_multiple_of(OFTEN) && self.interrupt.interrupted() {
            panic::resume_unwind(Box::new(Error::Interrupted));
        }
    }

    /// Returns the area of the part of `bounds` that is on the page, in pixels.
    fn visible_area(&self, bounds: Rect) -> f64 {
        bounds.intersect(self.canvas).area()
    }
}

impl<'a> Device<'a> for Weigh<'_> {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, _: &DrawMode) {
        let points = path.elements().len() as f64;
        let bounds = props.transform.transform_rect_bbox(path.bounding_box());
        self.spend(points * POINT + self.visible_area(bounds));
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        let points = clip.path.elements().len() as f64;
        self.spend(points * POINT + self.visible_area(clip.path.bounding_box()));
    }

    fn push_transparency_group(&mut self, _: f32, mask: Option<SoftMask<'a>>, _: BlendMode) {
        let layers = if mask.is_some() { 4.0 } else { 2.0 };
        self.spend(layers * self.canvas.area());
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, _: DrawProps<'a>, _: &DrawMode) {
        self.spend(run.glyphs().len() as f64 * LEAST);
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let stored_pixels = f64::from(image.width()) * f64::from(image.height());
        let unit = Rect::new(0.0, 0.0, image.width().into(), image.height().into());
        let shown_pixels = self.visible_area(props.transform.transform_rect_bbox(unit));
        // Stored pixels are decoded, and then resampled.
        self.spend(8.0 * stored_pixels + 4.0 * shown_pixels);
    }

    fn pop_clip(&mut self) {
        self.spend(0.0);
    }

    fn pop_transparency_group(&mut self) {
        self.spend(0.0);
    }
}
