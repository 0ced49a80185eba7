//! From the layout, measured on the upright picture, to the stored one, where resampling happens.

use andon_recipe::{CanvasLayout, Layout};

use crate::codec::{Info, Orientation, Scale};
use crate::resize::RegionF;

/// What is shown of the upright, turned picture and at which size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    /// The part, in px of the picture that lengths were measured on. `None`: nothing of it.
    pub(super) from: Option<RegionF>,
    /// The size it is brought to.
    pub(super) to: (u32, u32),
    /// The ground it is laid on.
    pub(super) canvas: Option<CanvasLayout>,
}

impl Wanted {
    /// What a layout shows.
    pub(super) fn of(layout: &Layout) -> Self {
        let whole = RegionF {
            x: 0.0,
            y: 0.0,
            w: f64::from(layout.source.0),
            h: f64::from(layout.source.1),
        };
        let (from, to) = match layout.scaling {
            None => (Some(whole), layout.source),
            Some(scaling) => (
                scaling.from.map(|rect| RegionF {
                    x: f64::from(rect.x),
                    y: f64::from(rect.y),
                    w: f64::from(rect.w),
                    h: f64::from(rect.h),
                }),
                (scaling.width, scaling.height),
            ),
        };
        Self {
            from,
            to,
            canvas: layout.canvas,
        }
    }

    /// The same on the stored picture, before it is turned; `measured` is the scale at which lengths
    /// were measured.
    pub(super) fn stored(&self, info: &Info, orientation: Orientation, measured: Scale) -> Stored {
        let (width, height) = orientation.size(info.scaled(measured).0, info.scaled(measured).1);
        let from = self.from.map(|region| {
            let region = unturned(region, (f64::from(width), f64::from(height)), orientation);
            unscaled(region, info, measured)
        });
        Stored {
            from,
            to: orientation.size(self.to.0, self.to.1),
        }
    }
}

/// What is shown of the stored picture, before any turning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stored {
    /// The part, in px of the full picture. `None`: nothing of it.
    pub(super) from: Option<RegionF>,
    /// The size it is brought to.
    pub(super) to: (u32, u32),
}

impl Stored {
    /// Is the result smaller than its region on both sides?
    pub(super) fn shrinks(&self) -> bool {
        self.from
            .is_some_and(|from| f64::from(self.to.0) < from.w && f64::from(self.to.1) < from.h)
    }

    /// Does the result have more pixels than its region?
    pub(super) fn grows(&self) -> bool {
        self.from
            .is_some_and(|from| f64::from(self.to.0) * f64::from(self.to.1) > from.w * from.h)
    }
}

/// A region of the turned picture of `size`, on the picture as it was before.
fn unturned(region: RegionF, size: (f64, f64), orientation: Orientation) -> RegionF {
    let (mut region, mut size) = (region, size);
    for _ in 0..orientation.quarters {
        // A clockwise quarter brought (x, y) to (height - y, x).
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

/// A region of the picture at a scale, on the full picture. The last column and row of a scaled picture
/// may stand for fewer than 8/N pixels, hence the clipping.
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
    fn a_region_of_a_mirrored_picture_lies_on_the_other_side() {
        let stored = unturned(REGION, (100.0, 200.0), orientation(2));
        assert_eq!(
            (stored.x, stored.y, stored.w, stored.h),
            (60.0, 20.0, 30.0, 40.0)
        );
    }

    #[test]
    fn a_clockwise_quarter_is_undone() {
        // The upright picture is 100×200, so the stored one is 200×100; its left edge became the top.
        let stored = unturned(REGION, (100.0, 200.0), orientation(6));
        assert_eq!(
            (stored.x, stored.y, stored.w, stored.h),
            (20.0, 60.0, 40.0, 30.0)
        );
    }

    #[test]
    fn every_orientation_maps_the_corner_pixel_where_it_was_stored() {
        // The upright picture's top left pixel, for a stored picture of 3×2.
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
