//! thumbor's arithmetic, in its order of operations: floats as in Python, with halves rounded to even.

use super::round::hundredths;
use super::{Image, ThumborRules};
use crate::thumbor::filters::Filter;
use crate::thumbor::path::{Align, FitIn, Side};

impl ThumborRules {
    pub(super) fn lay_out_thumbor(&self, image: &mut Image, inner: Option<[f64; 4]>) {
        let mut requested = self.parts.size.unwrap_or_default();
        let limited = |side: Side, most: u32| match side {
            Side::Px(px) if most > 0 => Side::Px(px.min(most)),
            side => side,
        };
        requested = (
            limited(requested.0, self.defaults.most.0),
            limited(requested.1, self.defaults.most.1),
        );
        if self.has(&Filter::NoUpscale) {
            let at_most = |side: Side, image_side: u32| match side {
                Side::Free => Side::Free,
                Side::Original => Side::Px(image_side),
                Side::Px(px) => Side::Px(px.min(image_side)),
            };
            requested = (
                at_most(requested.0, image.width),
                at_most(requested.1, image.height),
            );
        }
        let crop_edges = self.crop(image, inner);
        let focus = self.focus(image, crop_edges);
        let target = target(image, requested);
        match self.parts.fit {
            Some(fit) => image.fit_in(fit, requested, target),
            None => {
                image.set_requested_size(requested);
                if !self.has(&Filter::Stretch) {
                    image.crop_to_ratio(target, focus);
                }
                if target != image.size() {
                    image.scale(target.0, target.1);
                }
            }
        }
    }

    /// Cuts off the border, then crops to the edges in the URL, which are in px of the image with its border. Returns
    /// the edges of the crop in the image without its border; `None` if there is no crop.
    fn crop(&self, image: &mut Image, inner: Option<[f64; 4]>) -> Option<[f64; 4]> {
        let mut offset = (0.0, 0.0);
        if let Some(inner) = inner {
            offset = (inner[0], inner[1]);
            image.cut(inner);
        }
        let crop = self
            .parts
            .crop
            .filter(|crop| crop.iter().any(|edge| *edge > 0.0))?;
        let (width, height) = image.size();
        let across = |edge: f64| (edge - offset.0).clamp(0.0, width);
        let down = |edge: f64| (edge - offset.1).clamp(0.0, height);
        let edges = [
            across(crop[0]),
            down(crop[1]),
            across(crop[2]),
            down(crop[3]),
        ];
        if edges[0] >= edges[2] || edges[1] >= edges[3] {
            return None;
        }
        image.cut(edges);
        Some(edges)
    }

    /// Returns the point to keep in view: the centre of the focal regions, weighted by their areas, or the position of
    /// the alignment. `None`: the most salient place.
    fn focus(&self, image: &Image, crop_edges: Option<[f64; 4]>) -> Option<(f64, f64)> {
        let (mut x, mut y, mut total) = (0_i128, 0_i128, 0_i128);
        for filter in self.filters.iter() {
            let Filter::Focal(area) = filter else {
                continue;
            };
            let [left, top, right, bottom] = area.map(|edge| edge as i128);
            let mut point = (
                left + (right - left).div_euclid(2),
                top + (bottom - top).div_euclid(2),
            );
            if let Some(edges) = crop_edges {
                let [left, top, right, bottom] = edges.map(|edge| edge as i128);
                let is_inside =
                    (left..=right).contains(&point.0) && (top..=bottom).contains(&point.1);
                if !is_inside {
                    continue;
                }
                point = (point.0 - left, point.1 - top);
            }
            let weight = (right - left) * (bottom - top);
            (x, y) = (x + point.0 * weight, y + point.1 * weight);
            total += weight;
        }
        if total != 0 {
            // Python rounds quotients down, whatever their signs. A region that ends before it begins has a negative
            // weight.
            let part = |sum: i128| (sum * total.signum()).div_euclid(total.abs()) as f64;
            return Some((part(x), part(y)));
        }
        if self.parts.smart {
            return None;
        }
        let aligned = |align: Option<Align>, side: f64| match align.unwrap_or_default() {
            Align::Start => 0.0,
            Align::Middle => (side * 0.5).floor(),
            Align::End => side,
        };
        let (width, height) = image.size();
        Some((
            aligned(self.parts.across, width),
            aligned(self.parts.down, height),
        ))
    }
}

/// Returns the requested size in px, for the image after cropping.
fn target(image: &Image, requested: (Side, Side)) -> (f64, f64) {
    let (width, height) = image.size();
    let px_of = |side: Side, image_side: f64| match side {
        Side::Free => None,
        Side::Original => Some(image_side),
        Side::Px(px) => Some(f64::from(px)),
    };
    match (px_of(requested.0, width), px_of(requested.1, height)) {
        (None, None) => (width, height),
        (Some(w), Some(h)) => (w, h),
        (Some(w), None) => (w, (w * height / width).round_ties_even()),
        (None, Some(h)) => ((h * width / height).round_ties_even(), h),
    }
}

impl Image {
    /// Crops to the aspect ratio of the requested size, unless both ratios are equal when rounded to two decimals.
    fn crop_to_ratio(&mut self, (tw, th): (f64, f64), focus: Option<(f64, f64)>) {
        let (width, height) = self.size();
        let (some_w, some_h) = (tw.max(1.0), th.max(1.0));
        if hundredths(width / height) == hundredths(some_w / some_h) {
            return;
        }
        let (w, h) = if tw / width > th / height {
            (width, (width * th / some_w).round_ties_even())
        } else {
            ((tw * height / some_h).ceil(), height)
        };
        let (w, h) = (w.clamp(1.0, width), h.clamp(1.0, height));
        let Some(focus) = focus else {
            return self.cut_salient((w as u32, h as u32));
        };
        let start = |focus: f64, part: f64, whole: f64| {
            let start = (focus - part / 2.0).max(0.0).min(whole - part);
            start.round_ties_even()
        };
        let (left, top) = (start(focus.0, w, width), start(focus.1, h, height));
        self.cut([left, top, left + w, top + h]);
    }

    /// Stores the requested size as that of the background of `fill`.
    fn set_requested_size(&mut self, requested: (Side, Side)) {
        let ground = |side: Side, image_side: u32| match side {
            Side::Px(px) => px,
            Side::Original => image_side,
            Side::Free => 0,
        };
        self.requested_size = (
            ground(requested.0, self.width),
            ground(requested.1, self.height),
        );
    }

    fn fit_in(&mut self, fit: FitIn, mut requested: (Side, Side), target: (f64, f64)) {
        let (width, height) = self.size();
        let (mut tw, mut th) = target;
        if fit.adaptive && ((width < height && tw > th) || (width > height && tw < th)) {
            (tw, th) = (th, tw);
            // `orig` is swapped as well, and then stands for the other side of the image.
            requested = (requested.1, requested.0);
        }
        self.set_requested_size(requested);
        if !fit.full && tw >= width && th >= height {
            return;
        }
        let (some_w, some_h) = (tw.max(1.0), th.max(1.0));
        let sign = if fit.full { -1.0 } else { 1.0 };
        let (w, h) = if width / some_w * sign >= height / some_h * sign {
            (tw, (height * tw / width + 1e-5).round_ties_even())
        } else {
            ((width * th / height + 1e-5).round_ties_even(), th)
        };
        self.scale(w, h);
        self.requested_size = (
            self.requested_size.0.max(self.width),
            self.requested_size.1.max(self.height),
        );
    }

    /// Enlarges the image to fit the requested size, if both of its sides are smaller.
    pub(super) fn upscale(&mut self) {
        let (width, height) = self.size();
        let (tw, th) = (
            f64::from(self.requested_size.0),
            f64::from(self.requested_size.1),
        );
        if width >= tw || height >= th {
            return;
        }
        if width / tw >= height / th {
            self.scale(tw, height * tw / width);
        } else {
            self.scale(width * th / height, th);
        }
    }

    pub(super) fn proportion_thumbor(&mut self, factor: f64) {
        let (width, height) = self.size();
        let (w, h) = (width * factor, height * factor);
        if factor <= 1.0 && w >= 1.0 && h >= 1.0 {
            self.scale(w, h);
        }
    }
}
