//! imgproxy's computation of sizes. It rounds in two ways: sizes half away from zero, positions and padding half to
//! even.

use andon_recipe::Orientation;

use super::gravity::Gravity;
use super::options::{Crop, Options, Resizing};
use super::round::{away, even};

pub(super) type Size = (i64, i64);

/// Sizes and positions of all parts of a result, in whole px.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// The part of the upright source that is kept: left, top, width, height.
    pub(super) crop: (i64, i64, i64, i64),
    /// The size to which the crop is scaled.
    pub(super) scaled_size: Size,
    /// The part of the scaled image that is kept: left, top, width, height.
    pub(super) kept_part: (i64, i64, i64, i64),
    /// Canvases on which the image is placed, one after the other: the size of each, and the position of the image on
    /// it.
    pub(super) grounds: Vec<(Size, Size)>,
    /// The size to which the result is scaled down at the end, if it exceeds the maximum of its format.
    pub(super) last: Option<Size>,
    /// Device pixel ratio, reduced where the source has too few pixels for it.
    pub(super) dpr: f64,
}

impl Layout {
    /// Computes the layout for a source of the size `stored`, which will be turned as `turns` says. `vector` says
    /// whether it is a vector graphic, and `most` is the maximum side of results in their format, in px.
    pub(super) fn new(
        options: &Options,
        stored: (u32, u32),
        turns: Orientation,
        vector: bool,
        most: Option<u32>,
    ) -> Self {
        let whole = to_i64(turns.size(stored.0, stored.1));
        let crop_size = crop_size_of(&options.crop, whole);
        let base = least(crop_size, whole);
        let crop = crop(options, to_i64(stored), base, turns);
        let mut scale = Scale::new(options, base, vector);
        let mut sizes = Sizes::new(options, base, &scale);
        let side = i64::from(options.limits.side);
        let longest = sizes.longest(options, scale.dpr);
        if side > 0 && longest > side {
            let factor = side as f64 / longest as f64;
            scale.x = (scale.x * factor).max(1.0 / base.0 as f64);
            scale.y = (scale.y * factor).max(1.0 / base.1 as f64);
            scale.dpr *= factor;
            sizes = Sizes::new(options, base, &scale);
        }
        let Sizes {
            scaled_size,
            result,
            target,
            ratio,
        } = sizes;
        let kept_size = least(result, scaled_size);
        let (x, y) = options
            .gravity
            .place(scaled_size, kept_size, scale.dpr, false);
        let mut layout = Self {
            crop,
            scaled_size,
            kept_part: (x, y, kept_size.0, kept_size.1),
            grounds: Vec::new(),
            last: None,
            dpr: scale.dpr,
        };
        if options.extend.on {
            layout.extend(target, &options.extend.gravity);
        }
        if let Some(ratio) = ratio {
            layout.extend(ratio, &options.extend_ratio.gravity);
        }
        let [top, right, bottom, left] = options.padding.map(|px| even(f64::from(px) * scale.dpr));
        let (width, height) = layout.size();
        let padded_size = (width + left + right, height + top + bottom);
        if padded_size != (width, height) {
            layout.grounds.push((padded_size, (left, top)));
        }
        if let Some(most) = most {
            let longest = padded_size.0.max(padded_size.1);
            let factor = f64::from(most) / longest as f64;
            let scale_down = |px: i64| away(px as f64 * factor).max(1);
            layout.last =
                (factor < 1.0).then(|| (scale_down(padded_size.0), scale_down(padded_size.1)));
        }
        layout
    }

    /// Returns the size of the result, in px.
    pub(super) fn size(&self) -> Size {
        let ground = self.grounds.last().map(|(size, _)| *size);
        self.last
            .or(ground)
            .unwrap_or((self.kept_part.2, self.kept_part.3))
    }

    fn extend(&mut self, (width, height): Size, gravity: &Gravity) {
        let size = self.size();
        if width > size.0 || height > size.1 {
            let or_own = |side: i64, image_side: i64| if side > 0 { side } else { image_side };
            let ground = (or_own(width, size.0), or_own(height, size.1));
            let place = gravity.place(ground, size, self.dpr, false);
            self.grounds.push((ground, place));
        }
    }
}

/// Scale factors of both sides, and the device pixel ratio, reduced where the source has too few pixels for them.
struct Scale {
    x: f64,
    y: f64,
    dpr: f64,
}

impl Scale {
    fn new(options: &Options, base: Size, vector: bool) -> Self {
        let (bw, bh) = (base.0 as f64, base.1 as f64);
        let or_base = |side: u32, base: f64| if side == 0 { base } else { f64::from(side) };
        let (dw, dh) = (or_base(options.width, bw), or_base(options.height, bh));
        // The factor by which each side shrinks.
        let (mut sx, mut sy) = (bw / dw, bh / dh);
        if (sx, sy) != (1.0, 1.0) {
            let resizing = match options.resizing {
                Resizing::Auto if (bw >= bh) == (dw >= dh) => Resizing::Fill,
                Resizing::Auto => Resizing::Fit,
                other => other,
            };
            (sx, sy) = match resizing {
                Resizing::Force => (sx, sy),
                _ if options.width == 0 => (sy, sy),
                _ if options.height == 0 => (sx, sx),
                Resizing::Fit => (sx.max(sy), sx.max(sy)),
                _ => (sx.min(sy), sx.min(sy)),
            };
        }
        sx /= options.zoom.0;
        sy /= options.zoom.1;
        let mut dpr = options.dpr;
        if !options.enlarge && !vector {
            let grows = sx.min(sy);
            if grows < 1.0 {
                sx /= grows;
                sy /= grows;
                if !options.extend.on {
                    dpr /= grows;
                }
            }
            dpr = dpr.min(sx).min(sy);
        }
        if options.min_width > 0 {
            let shrink = bw / f64::from(options.min_width);
            if shrink < sx {
                sy /= sx / shrink;
                sx = shrink;
            }
        }
        if options.min_height > 0 {
            let shrink = bh / f64::from(options.min_height);
            if shrink < sy {
                sx /= sy / shrink;
                sy = shrink;
            }
        }
        Self {
            x: 1.0 / (sx / dpr).min(bw),
            y: 1.0 / (sy / dpr).min(bh),
            dpr,
        }
    }
}

struct Sizes {
    scaled_size: Size,
    /// The box in device px; 0: that side has no limit.
    target: Size,
    /// The size in px to which the scaled image is cropped; 0: the side is not cropped.
    result: Size,
    /// The size in px to which the result is extended to the requested aspect ratio; `None` if it has that ratio
    /// already.
    ratio: Option<Size>,
}

impl Sizes {
    fn new(options: &Options, base: Size, scale: &Scale) -> Self {
        let target = (
            away(f64::from(options.width) * scale.dpr * options.zoom.0),
            away(f64::from(options.height) * scale.dpr * options.zoom.1),
        );
        let scaled_size = (
            away(base.0 as f64 * scale.x).max(1),
            away(base.1 as f64 * scale.y).max(1),
        );
        let follows = |side: i64, box_side: i64, other_side: i64| {
            away(side as f64 * (other_side as f64 / box_side as f64))
        };
        // One side of the box in proportion to the other.
        let height = |width: i64| follows(width, target.0, target.1);
        let width = |height: i64| follows(height, target.1, target.0);
        let mut result = target;
        if options.resizing == Resizing::FillDown && !options.enlarge {
            let needs = needs(target, scaled_size);
            if needs.0 > needs.1 && needs.0 > 1.0 {
                result = (scaled_size.0, height(scaled_size.0));
            } else if needs.1 > needs.0 && needs.1 > 1.0 {
                result = (width(scaled_size.1), scaled_size.1);
            }
        }
        let mut ratio = None;
        if options.extend_ratio.on && target.0 > 0 && target.1 > 0 {
            let out = least(result, scaled_size);
            let needs = needs(target, out);
            if needs.1 > needs.0 {
                ratio = Some((out.0, height(out.0)));
            } else if needs.0 > needs.1 {
                ratio = Some((width(out.1), out.1));
            }
        }
        Self {
            scaled_size,
            target,
            result,
            ratio,
        }
    }

    /// Returns the longest side of the result in px, with added bars and padding.
    fn longest(&self, options: &Options, dpr: f64) -> i64 {
        let (mut width, mut height) = least(self.result, self.scaled_size);
        let ground = match options.extend.on {
            true => self.target,
            false => self.ratio.unwrap_or_default(),
        };
        (width, height) = (width.max(ground.0), height.max(ground.1));
        let [top, right, bottom, left] = options.padding.map(|px| even(f64::from(px) * dpr));
        (width + left + right).max(height + top + bottom)
    }
}

/// Returns the factors by which both sides of `of` would have to grow to reach `target`.
fn needs(target: Size, of: Size) -> (f64, f64) {
    (target.0 as f64 / of.0 as f64, target.1 as f64 / of.1 as f64)
}

/// Returns the size in px of the requested crop; 0: the whole side.
fn crop_size_of(crop: &Crop, whole: Size) -> Size {
    let side = |length: f64, whole: i64| match length {
        0.0 => 0,
        px if px >= 1.0 => px as i64,
        share => away(whole as f64 * share).max(1),
    };
    let (width, height) = (side(crop.width, whole.0), side(crop.height, whole.1));
    if crop.ratio == 0.0 {
        return (width, height);
    }
    let (width, height) = least((width, height), whole);
    let (ratio_width, ratio_height) = (height as f64 * crop.ratio, width as f64 / crop.ratio);
    let is_wide = width as f64 > ratio_width;
    let (width, height) = match is_wide == crop.grows {
        // Either the height follows from the width, or the width from the height.
        true => (width as f64, ratio_height),
        false => (ratio_width, height as f64),
    };
    let factor = (whole.0 as f64 / width)
        .min(whole.1 as f64 / height)
        .min(1.0);
    (away(width * factor).max(1), away(height * factor).max(1))
}

/// Returns left, top, width and height of the crop in the upright image, in px. Its position is computed in the stored
/// image, as imgproxy does, where rounding may give another result.
fn crop(options: &Options, stored: Size, size: Size, turns: Orientation) -> (i64, i64, i64, i64) {
    let gravity = options.crop_gravity();
    let inner = match turns.quarters % 2 {
        0 => size,
        _ => (size.1, size.0),
    };
    let (x, y) = gravity.stored_axes(turns).place(stored, inner, 1.0, false);
    let part = [x, y, x + inner.0, y + inner.1].map(|at| at as f64);
    let [left, top, ..] = turns.part(part, (stored.0 as f64, stored.1 as f64));
    (left as i64, top as i64, size.0, size.1)
}

/// Returns the smaller length for each side. A 0 in `size` means no limit.
fn least(size: Size, whole: Size) -> Size {
    let side = |size: i64, whole: i64| match size {
        0 => whole,
        size => size.min(whole),
    };
    (side(size.0, whole.0), side(size.1, whole.1))
}

fn to_i64(size: (u32, u32)) -> Size {
    (i64::from(size.0), i64::from(size.1))
}
