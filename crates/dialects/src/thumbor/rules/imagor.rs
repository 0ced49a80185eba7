//! imagor's arithmetic: integers are divided as in Go, and sides rounded as in libvips, half away from zero.

use super::{Image, ThumborRules};
use crate::thumbor::filters::Filter;
use crate::thumbor::path::{Align, FitIn, Side};

/// Which part of a scaled image is kept when it is cropped.
enum Keep {
    /// The part around this point, in px of the image before it was scaled.
    Point((f64, f64)),
    /// The most salient part.
    Salient,
    Aligned((Align, Align)),
}

impl ThumborRules {
    pub(super) fn lay_out_imagor(&self, image: &mut Image, inner: Option<[f64; 4]>) {
        let source = image.size();
        let corner = image.crop_edges(self.parts.crop, inner);
        let fit = self.parts.fit;
        let full = fit.is_some_and(|fit| fit.full);
        // The last of these filters counts.
        let grows = self.filters.iter().rev().find_map(|filter| match filter {
            Filter::Upscale => Some(true),
            Filter::NoUpscale => Some(false),
            _ => None,
        });
        let grows = grows.unwrap_or(fit.is_none() || full);
        let requested = self.parts.size.unwrap_or_default();
        let (w, h) = image.box_size(requested, fit, grows, self.defaults.most);
        image.requested_size = (w, h);
        let (width, height) = (image.width, image.height);
        let smaller = w < width || h < height;
        // If only one side is requested, imagor rounds the other one, and does not truncate it.
        let one = match requested {
            (Side::Px(w), Side::Free) => Some((w, u32::MAX)),
            (Side::Free, Side::Px(h)) => Some((u32::MAX, h)),
            _ => None,
        };
        let prevents_thumbnail = |filter: &Filter| {
            use Filter::{Focal, MaxBytes, Orient, Rotate};
            matches!(filter, Focal(_) | MaxBytes(_) | Orient(_) | Rotate(_))
        };
        let plain = self.parts.crop.is_none()
            && self.parts.trim.is_none()
            && !self.parts.flip.1
            && !self.filters.iter().any(prevents_thumbnail);
        if fit.is_some() {
            if grows || smaller {
                image.fit_inside(one.filter(|_| plain && !full).unwrap_or((w, h)));
            }
        } else if self.parts.stretch || self.has(&Filter::Stretch) {
            if grows || (w < width && h < height) {
                image.scale(w.into(), h.into());
            }
        } else if let Some(bounds) = one.filter(|_| plain) {
            if grows || bounds.0 < width || bounds.1 < height {
                image.fit_inside(bounds);
            }
        } else if grows || smaller {
            let focus = self.focus_imagor(source, corner);
            let align = (
                self.parts.across.unwrap_or_default(),
                self.parts.down.unwrap_or_default(),
            );
            // An image that is smaller than the box on one side is only cropped on the other one.
            let enlarges = grows || !plain;
            let keep = match focus {
                Some(point) => Keep::Point(point),
                None if self.parts.smart => Keep::Salient,
                None => Keep::Aligned(align),
            };
            image.cover((w, h), enlarges, keep);
        }
    }

    /// Lays out a plain colour in the requested size, or as a square if only one side is given.
    pub(super) fn lay_out_plain(&self, image: &mut Image) {
        let requested = self.parts.size.unwrap_or_default();
        let most = self.defaults.most;
        let (w, h) = (requested.0.px().min(most.0), requested.1.px().min(most.1));
        let or = |side: u32, other: u32| if side == 0 { other.max(1) } else { side };
        image.scale(or(w, h).into(), or(h, w).into());
        image.requested_size = (image.width, image.height);
    }

    /// Returns the centre of the focal regions, weighted by their areas, in px from the corner of the crop; `None` if
    /// there are no regions.
    fn focus_imagor(&self, source: (f64, f64), corner: (f64, f64)) -> Option<(f64, f64)> {
        let mut areas = Vec::new();
        for filter in self.filters.iter() {
            let Filter::Focal([left, top, right, bottom]) = *filter else {
                continue;
            };
            let point = right.is_infinite();
            let shares = left < 1.0 && top < 1.0 && (point || (right <= 1.0 && bottom <= 1.0));
            let unit = if shares { source } else { (1.0, 1.0) };
            let (left, top) = (left * unit.0, top * unit.1);
            let (right, bottom) = match point {
                true => (left + 1.0, top + 1.0),
                false => (right * unit.0, bottom * unit.1),
            };
            if right > left && bottom > top {
                areas.push([left, top, right, bottom]);
            }
        }
        let weight = |[left, top, right, bottom]: [f64; 4]| (right - left) * (bottom - top);
        let total: f64 = areas.iter().map(|area| weight(*area)).sum();
        (total > 0.0).then(|| {
            areas.iter().fold((-corner.0, -corner.1), |(x, y), area| {
                let part = weight(*area) / total;
                (
                    x + (area[0] + area[2]) / 2.0 * part,
                    y + (area[1] + area[3]) / 2.0 * part,
                )
            })
        })
    }
}

impl Image {
    /// Crops to the edges and cuts off the border in one step, and returns the upper left corner of the rest. As in
    /// imagor, a crop never includes the last column and row.
    fn crop_edges(&mut self, crop: Option<[f64; 4]>, inner: Option<[f64; 4]>) -> (f64, f64) {
        let (width, height) = self.size();
        let mut edges = None;
        if let Some(crop) = crop.filter(|crop| crop.iter().any(|edge| *edge > 0.0)) {
            let [left, top, right, bottom] = in_px(crop, crop, (width, height));
            let end = |edge: f64, last: f64| if edge == 0.0 { last } else { edge.min(last) };
            edges = Some([
                left,
                top,
                end(right, width - 1.0),
                end(bottom, height - 1.0),
            ]);
        }
        if let Some(inner) = inner {
            edges = Some(match edges {
                None => inner,
                Some(crop) => [
                    crop[0].max(inner[0]),
                    crop[1].max(inner[1]),
                    crop[2].min(inner[2]),
                    crop[3].min(inner[3]),
                ],
            });
        }
        match edges {
            Some([left, top, right, bottom]) if right > left && bottom > top => {
                // Corner and size are truncated to whole px separately.
                let (x, y) = (left.floor(), top.floor());
                let (w, h) = ((right - left).floor(), (bottom - top).floor());
                self.cut([x, y, x + w, y + h]);
                (left, top)
            }
            _ => (0.0, 0.0),
        }
    }

    /// Returns the requested box in whole px. A missing side follows from the other one.
    fn box_size(
        &self,
        requested: (Side, Side),
        fit: Option<FitIn>,
        grows: bool,
        most: (u32, u32),
    ) -> (u32, u32) {
        let (mut w, mut h) = (requested.0.px().min(most.0), requested.1.px().min(most.1));
        let (width, height) = (self.width, self.height);
        let landscape = width > height;
        if fit.is_some_and(|fit| fit.adaptive) && w > 0 && h > 0 && landscape != (w > h) {
            (w, h) = (h, w);
        }
        let other = |one: u32, side: u32, image_side: u32| {
            // The sides are u32, so that the product fits into u64.
            let other = (u64::from(side) * u64::from(one) / u64::from(image_side.max(1))) as u32;
            let other = if grows { other } else { other.min(side) };
            other.max(1)
        };
        match (w, h) {
            (0, 0) => (w, h) = (width, height),
            (0, _) => w = other(h, width, height),
            (_, 0) => h = other(w, height, width),
            _ => {}
        }
        if fit.is_some_and(|fit| fit.full) {
            let ratio = f64::from(width) / f64::from(height);
            if ratio < f64::from(w) / f64::from(h) {
                h = (f64::from(w) / ratio).ceil() as u32;
            } else {
                w = (f64::from(h) * ratio).ceil() as u32;
            }
        }
        (w, h)
    }

    /// Scales the image to fit inside a box, as libvips' thumbnail does.
    fn fit_inside(&mut self, (w, h): (u32, u32)) {
        let (width, height) = self.size();
        self.shrink((width / f64::from(w)).max(height / f64::from(h)));
    }

    fn shrink(&mut self, by: f64) {
        let (width, height) = self.size();
        let side = |side: f64| (side / by).round().max(1.0);
        self.scale(side(width), side(height));
    }

    /// Scales the image to cover a box, as libvips' thumbnail does, and crops it to the box.
    fn cover(&mut self, (w, h): (u32, u32), enlarges: bool, keep: Keep) {
        let size_before = self.size();
        let factor = (size_before.0 / f64::from(w)).min(size_before.1 / f64::from(h));
        self.shrink(if enlarges { factor } else { factor.max(1.0) });
        let (w, h) = (w.min(self.width), h.min(self.height));
        let (left, top) = match keep {
            Keep::Salient => return self.cut_salient((w, h)),
            Keep::Point((x, y)) => {
                let start = |focus: f64, size_before: f64, now: u32, part: u32| {
                    let start = f64::from(now) * (focus / size_before) - f64::from(part) / 2.0;
                    start.clamp(0.0, f64::from(now - part)).floor()
                };
                (
                    start(x, size_before.0, self.width, w),
                    start(y, size_before.1, self.height, h),
                )
            }
            Keep::Aligned(align) => {
                let start = |align: Align, now: u32, part: u32| match align {
                    Align::Start => 0.0,
                    Align::Middle => f64::from((now - part) / 2),
                    Align::End => f64::from(now - part),
                };
                (
                    start(align.0, self.width, w),
                    start(align.1, self.height, h),
                )
            }
        };
        self.cut([left, top, left + f64::from(w), top + f64::from(h)]);
    }

    pub(super) fn proportion_imagor(&mut self, factor: f64) {
        if factor <= 0.0 {
            return;
        }
        let factor = if factor > 1.0 {
            factor.min(100.0) / 100.0
        } else {
            factor
        };
        let (width, height) = self.size();
        // `as` truncates, as Go does.
        let (w, h) = ((width * factor) as u32, (height * factor) as u32);
        if w > 0 && h > 0 {
            self.fit_inside((w, h));
        }
    }

    /// Applies the filter `crop`. `arguments` are those of the filter, which decide whether the edges are px or shares
    /// of the sides.
    pub(super) fn crop_imagor(&mut self, edges: [f64; 4], arguments: [f64; 4]) {
        let edges = in_px(edges, arguments, self.size());
        self.cut(edges);
    }
}

/// Converts edges to px. If the first two `arguments` are below 1 and the last two at most 1, the edges are shares of
/// the sides, and are rounded half away from zero.
fn in_px(edges: [f64; 4], arguments: [f64; 4], (width, height): (f64, f64)) -> [f64; 4] {
    let [left, top, right, bottom] = edges.map(|edge| edge.max(0.0));
    match arguments[0] < 1.0 && arguments[1] < 1.0 && arguments[2] <= 1.0 && arguments[3] <= 1.0 {
        true => [
            (left * width).round(),
            (top * height).round(),
            (right * width).round(),
            (bottom * height).round(),
        ],
        false => [left, top, right, bottom],
    }
}
