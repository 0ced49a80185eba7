//! Computes the sizes and positions of all parts of a result once the image's size is known.
//!
//! The rules are those of ngx_small_light, with its order of floating-point operations, because a URL that was served
//! for years must keep its size to the pixel: sides are truncated, never rounded.

use andon_recipe::{Colour, Length, ResolveError};

use super::{Fit, Ground, Original, Size, SmallLightRules};

/// One scaling: a region, and the size that it is scaled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Scaling {
    /// The region (x, y, width and height in px), clipped to the image. `None`: it lies wholly outside, and the result
    /// is blank (transparent black).
    pub(in super::super) from: Option<(u32, u32, u32, u32)>,
    /// The width after scaling in px, at least 1.
    pub(in super::super) width: u32,
    /// The height after scaling in px, at least 1.
    pub(in super::super) height: u32,
}

/// The canvas, and where the image lies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct CanvasLayout {
    /// Width of the canvas in px.
    pub(in super::super) width: u32,
    /// Height of the canvas in px.
    pub(in super::super) height: u32,
    /// Left edge of the image on the canvas in px; may be negative.
    pub(in super::super) x: i64,
    /// Top edge of the image on the canvas in px; may be negative.
    pub(in super::super) y: i64,
    /// The colour of the canvas.
    pub(in super::super) colour: Colour,
}

/// The geometry of the rules for one image. Sizes are those of the image after it is turned upright and by `turn`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Layout {
    /// Whether the source's own bytes are sent, and the rest of the layout has no effect.
    pub(in super::super) original: bool,
    /// The requested size in px, with fractions. The image is placed on the canvas, and the border is drawn, as if the
    /// image had this size, even if it is not scaled.
    pub(in super::super) requested_size: (f64, f64),
    /// Scaling and cropping, if any.
    pub(in super::super) scaling: Option<Scaling>,
    /// The canvas, if any.
    pub(in super::super) canvas: Option<CanvasLayout>,
    /// Final width in px.
    pub(in super::super) width: u32,
    /// Final height in px.
    pub(in super::super) height: u32,
}

impl SmallLightRules {
    /// Computes the layout for an image of `width` × `height` px that is upright and turned already.
    ///
    /// The image's offset on a page of its own (PNG oFFs, GIF frame) is ignored: ngx_small_light adds it to the region,
    /// and ImageMagick, which crops on the page, subtracts it again.
    ///
    /// A side of more than `u32::MAX` px becomes `u32::MAX`, for a limit to refuse. A side that follows from the image
    /// and truncates to 0 px becomes 1 px.
    ///
    /// # Errors
    /// [`ResolveError`] if less than 1 px is requested whatever the image, and in strict mode if a side truncates to 0
    /// px.
    pub(in super::super) fn layout(&self, width: u32, height: u32) -> Result<Layout, ResolveError> {
        let (iw, ih) = (f64::from(width), f64::from(height));
        let region = &self.region;
        let sx = region.x.map_or(0.0, |x| x.of(iw));
        let sy = region.y.map_or(0.0, |y| y.of(ih));
        let sw = region.w.map_or(iw, |w| w.of(iw));
        let sh = region.h.map_or(ih, |h| h.of(ih));
        let size_in_px = self.size.in_px((sw, sh), (iw, ih));
        let requested_size @ (dw, dh) = size_in_px.unwrap_or((sw, sh));

        let mut layout = Layout {
            original: match self.original {
                Original::Never => false,
                Original::IfSmaller => size_in_px.is_none() || (sw < dw && sh < dh),
                Original::IfLarger => sw > dw || sh > dh,
            },
            requested_size,
            scaling: None,
            canvas: None,
            width,
            height,
        };
        if layout.original {
            return Ok(layout);
        }

        if self.size.enlarge || dw < sw - sx || dh < sh - sy {
            self.check_sides((sw, sh), requested_size)?;
            // `as` truncates and saturates.
            let (to_w, to_h) = ((dw as u32).max(1), (dh as u32).max(1));
            let across = clip(sx, sw, width);
            let down = clip(sy, sh, height);
            layout.scaling = Some(Scaling {
                from: across.zip(down).map(|((x, w), (y, h))| (x, y, w, h)),
                width: to_w,
                height: to_h,
            });
            (layout.width, layout.height) = (to_w, to_h);
        }
        if let Some(canvas) = &self.canvas {
            layout.canvas = Some(canvas.layout_for((iw, ih), requested_size));
            (layout.width, layout.height) = (canvas.w, canvas.h);
        }
        Ok(layout)
    }

    /// Refuses a requested side of less than 1 px, a region of `sw` × `sh` px without pixels and, in strict mode, a
    /// result of `dw` × `dh` px with a side of less than 1 px.
    fn check_sides(&self, (sw, sh): (f64, f64), (dw, dh): (f64, f64)) -> Result<(), ResolveError> {
        let wrong = |why: String| Err(ResolveError::new(self, why));
        if let Some(length) = self.size.too_short() {
            return wrong(format!(
                "a side of {length} px is too short; ask for 1 px or more"
            ));
        }
        if sw == 0.0 || sh == 0.0 {
            return wrong("a part of the image without pixels; ask for 1 px or more".to_owned());
        }
        if self.strict && (dw < 1.0 || dh < 1.0) {
            return wrong(
                "a side of the result truncates to nothing; ask for a larger one".to_owned(),
            );
        }
        Ok(())
    }
}

impl Ground {
    /// Returns the canvas for an image of `iw` × `ih` px for which a size of `dw` × `dh` px is requested.
    fn layout_for(&self, (iw, ih): (f64, f64), (dw, dh): (f64, f64)) -> CanvasLayout {
        let x = self.x.map(|x| x.of(iw));
        let y = self.y.map(|y| y.of(ih));
        CanvasLayout {
            width: self.w,
            height: self.h,
            x: x.unwrap_or((f64::from(self.w) - dw) * 0.5) as i64,
            y: y.unwrap_or((f64::from(self.h) - dh) * 0.5) as i64,
            colour: self.colour,
        }
    }
}

impl Size {
    /// Returns the length of a requested side that is shorter than 1 px for every image; `None` if there is none.
    fn too_short(&self) -> Option<f64> {
        let px = [self.w, self.h]
            .into_iter()
            .flatten()
            .filter_map(|side| match side {
                Length::Px(px) => Some(px),
                Length::Percent(percent) => (percent == 0.0).then_some(0.0),
            });
        px.into_iter().find(|px| *px < 1.0)
    }

    /// Returns the size requested for a region of `sw` × `sh` px in an image of `iw` × `ih` px, with the aspect ratio
    /// applied; `None` if no side is given.
    fn in_px(&self, (sw, sh): (f64, f64), (iw, ih): (f64, f64)) -> Option<(f64, f64)> {
        let aspect = sw / sh;
        Some(match (self.w.map(|w| w.of(iw)), self.h.map(|h| h.of(ih))) {
            (None, None) => return None,
            (Some(dw), None) => (dw, dw / aspect),
            (None, Some(dh)) => (dh * aspect, dh),
            (Some(dw), Some(dh)) => {
                let taller = sw / dw < sh / dh;
                match self.fit {
                    Fit::Inside if taller => (dh * aspect, dh),
                    Fit::Inside => (dw, dw / aspect),
                    Fit::Cover if taller => (dw, dw / aspect),
                    Fit::Cover => (dh * aspect, dh),
                    Fit::Exact => (dw, dh),
                }
            }
        })
    }
}

/// Returns the part of `start..start + length`, truncated to whole pixels, that lies inside `0..side`, as start and
/// length; `None` if there is none. A length that truncates to 0 means the whole side, as in an ImageMagick geometry.
fn clip(start: f64, length: f64, side: u32) -> Option<(u32, u32)> {
    let (start, length) = match (start as u32, length as u32) {
        (start, 0) => (start, side),
        part => part,
    };
    let inside = start.saturating_add(length).min(side).checked_sub(start)?;
    (inside > 0).then_some((start, inside))
}
