//! Combines crops, scalings, turns and mirrorings into one view of the image before them.

use andon_recipe::Orientation;

use crate::codec::{Info, Scale};
use crate::resize::RegionF;

/// A sequence of geometric steps as one step: a part of the incoming image, scaled to a size, then turned.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    /// The part that is shown, in px of the incoming image before it is turned; `None` if no part of it is shown.
    pub(super) from: Option<RegionF>,
    /// The part of the image that was scaled, out of which `from` may have been cut afterwards.
    pub(super) within: RegionF,
    /// The size in px that the shown part of the image is brought to, before it is turned.
    pub(super) to: (u32, u32),
    /// The turn that follows cropping and scaling.
    pub(super) orientation: Orientation,
    /// Whether the shown part of the image was brought to another size.
    pub(super) is_scaled: bool,
    /// Whether the image was cropped after scaling.
    pub(super) is_cut_scaled: bool,
}

impl View {
    /// Returns a view of all of an image of this size, unchanged.
    pub(super) fn whole((width, height): (u32, u32)) -> Self {
        let whole = RegionF {
            x: 0.0,
            y: 0.0,
            w: width.into(),
            h: height.into(),
        };
        Self {
            from: Some(whole),
            within: whole,
            to: (width, height),
            orientation: Orientation::default(),
            is_scaled: false,
            is_cut_scaled: false,
        }
    }

    /// Returns a view of this size that shows nothing of the incoming image.
    pub(super) fn blank(size: (u32, u32)) -> Self {
        Self {
            from: None,
            ..Self::whole(size)
        }
    }

    /// Returns the size of the view's result in px, after the turn.
    pub(super) fn size(&self) -> (u32, u32) {
        self.orientation.size(self.to.0, self.to.1)
    }

    /// Crops the view's result to `part`, which must lie inside it.
    pub(super) fn crop(&mut self, part: RegionF) {
        let (width, height) = self.size();
        let part = unturned(
            part,
            (f64::from(width), f64::from(height)),
            self.orientation,
        );
        if let Some(from) = &mut self.from {
            let per_px = (from.w / f64::from(self.to.0), from.h / f64::from(self.to.1));
            *from = RegionF {
                x: from.x + part.x * per_px.0,
                y: from.y + part.y * per_px.1,
                w: part.w * per_px.0,
                h: part.h * per_px.1,
            };
            if !self.is_scaled {
                self.within = *from;
            }
        }
        // Crops after scaling consist of whole px.
        self.to = (part.w as u32, part.h as u32);
        self.is_cut_scaled |= self.is_scaled;
    }

    /// Scales the view's result to a size in px.
    pub(super) fn scale(&mut self, (width, height): (u32, u32)) {
        self.to = self.orientation.size(width, height);
        self.is_scaled = true;
    }

    /// Turns the view's result.
    pub(super) fn turn(&mut self, orientation: Orientation) {
        self.orientation = self.orientation.followed_by(orientation);
    }

    /// Returns what is shown of the stored image. `measured` is the decoding scale in whose px this view's lengths are
    /// given.
    pub(super) fn stored(&self, info: &Info, measured: Scale) -> Stored {
        Stored {
            from: self.from.map(|from| unscaled(from, info, measured)),
            within: unscaled(self.within, info, measured),
            to: self.to,
        }
    }
}

/// The part of the stored image that is shown, and the size that it is scaled to, before any turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stored {
    /// The part that is shown, in px of the stored image at full size; `None` if no part of it is shown.
    pub(super) from: Option<RegionF>,
    /// The part of the image that was scaled, out of which `from` may have been cut afterwards.
    pub(super) within: RegionF,
    /// The size in px that the shown part of the image is brought to, before any turn.
    pub(super) to: (u32, u32),
}

impl Stored {
    /// Returns a view of a whole image of this size, unchanged.
    pub(super) fn whole(size: (u32, u32)) -> Self {
        let View {
            from, within, to, ..
        } = View::whole(size);
        Self { from, within, to }
    }

    /// Whether the result is smaller on both sides than the part of the stored image that it shows.
    pub(super) fn shrinks(&self) -> bool {
        self.from
            .is_some_and(|from| f64::from(self.to.0) < from.w && f64::from(self.to.1) < from.h)
    }

    /// Whether the result has more pixels than the part of the stored image that it shows.
    pub(super) fn grows(&self) -> bool {
        self.from
            .is_some_and(|from| f64::from(self.to.0) * f64::from(self.to.1) > from.w * from.h)
    }
}

/// Maps a region of the turned image, which has this `size`, to the image before the turn.
fn unturned(region: RegionF, size: (f64, f64), orientation: Orientation) -> RegionF {
    let (mut region, mut size) = (region, size);
    for _ in 0..orientation.quarters {
        // A clockwise quarter turn moved (x, y) to (height - y, x).
        region = RegionF {
            x: region.y,
            y: size.0 - region.x - region.w,
            w: region.h,
            h: region.w,
        };
        size = (size.1, size.0);
    }
    if orientation.mirror {
        region.x = size.0 - region.x - region.w;
    }
    region
}

/// Maps a region of the image decoded at `scale` to the image at full size. The last column and row of the decoded
/// image may stand for fewer px than the others, so the region is clipped.
fn unscaled(region: RegionF, info: &Info, scale: Scale) -> RegionF {
    let factor = 1.0 / scale.factor();
    let (width, height) = (f64::from(info.width), f64::from(info.height));
    let x = (region.x * factor).clamp(0.0, width);
    let y = (region.y * factor).clamp(0.0, height);
    RegionF {
        x,
        y,
        w: (region.w * factor).min(width - x),
        h: (region.h * factor).min(height - y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: RegionF = RegionF {
        x: 10.0,
        y: 20.0,
        w: 30.0,
        h: 40.0,
    };

    fn orientation(exif: u16) -> Orientation {
        Orientation::from_exif(exif)
    }

    #[test]
    fn an_upright_region_stays() {
        assert_eq!(unturned(REGION, (100.0, 200.0), orientation(1)), REGION);
    }

    #[test]
    fn a_region_of_a_mirrored_image_lies_on_the_other_side() {
        let stored = unturned(REGION, (100.0, 200.0), orientation(2));
        assert_eq!(
            (stored.x, stored.y, stored.w, stored.h),
            (60.0, 20.0, 30.0, 40.0)
        );
    }

    #[test]
    fn a_clockwise_quarter_is_undone() {
        // The upright image is 100×200, so the stored one is 200×100; its left edge became the top.
        let stored = unturned(REGION, (100.0, 200.0), orientation(6));
        assert_eq!(
            (stored.x, stored.y, stored.w, stored.h),
            (20.0, 60.0, 40.0, 30.0)
        );
    }

    #[test]
    fn every_orientation_maps_the_corner_pixel_where_it_was_stored() {
        // The upright image's top left pixel, for a stored image of 3×2.
        let corner = RegionF {
            x: 0.0,
            y: 0.0,
            w: 1.0,
            h: 1.0,
        };
        let expected = [
            (1, (0.0, 0.0)),
            (2, (2.0, 0.0)),
            (3, (2.0, 1.0)),
            (4, (0.0, 1.0)),
            (5, (0.0, 0.0)),
            (6, (0.0, 1.0)),
            (7, (2.0, 1.0)),
            (8, (2.0, 0.0)),
        ];
        for (exif, place) in expected {
            let (w, h) = orientation(exif).size(3, 2);
            let stored = unturned(corner, (f64::from(w), f64::from(h)), orientation(exif));
            assert_eq!((stored.x, stored.y), place, "orientation {exif}");
        }
    }
}
