//! Regions with fractional px, and windows onto vector images.

/// A rectangle with fractional coordinates, in px of the stored image at full resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegionF {
    /// X coordinate of the rectangle's left edge, in px of the stored image.
    pub x: f64,
    /// Y coordinate of the rectangle's top edge, in px of the stored image.
    pub y: f64,
    /// Width, in px.
    pub w: f64,
    /// Height, in px.
    pub h: f64,
}

impl RegionF {
    /// Returns the region of a whole image of this size in px.
    pub(crate) fn whole((width, height): (u32, u32)) -> Self {
        Self {
            x: 0.0,
            y: 0.0,
            w: width.into(),
            h: height.into(),
        }
    }

    /// Returns this region on an image whose width and height are multiplied by `across` and `down`.
    pub(crate) fn times(self, (across, down): (f64, f64)) -> Self {
        Self {
            x: self.x * across,
            y: self.y * down,
            w: self.w * across,
            h: self.h * down,
        }
    }
}

/// The part of a vector image to show, and the size to draw it at. The two sides may be scaled differently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The part to draw, in px of the size in the image's header.
    pub from: RegionF,
    /// Size in px to draw the part at.
    pub to: (u32, u32),
}

impl Window {
    /// Returns a window onto a whole image of size `image`, drawn at size `to`.
    #[must_use]
    pub fn whole(image: (u32, u32), to: (u32, u32)) -> Self {
        Self {
            from: RegionF::whole(image),
            to,
        }
    }

    /// Whether the window shows a whole image of size `image`.
    #[must_use]
    pub fn is_whole(&self, image: (u32, u32)) -> bool {
        self.from == RegionF::whole(image)
    }

    /// Returns the width and height in px of a whole image of size `image` at the window's scale.
    #[must_use]
    pub fn of_whole(&self, image: (u32, u32)) -> (f64, f64) {
        let whole = RegionF::whole(image).times(self.scale());
        (nearly_whole(whole.w), nearly_whole(whole.h))
    }

    /// Returns the top left corner of the whole image relative to that of the part, in px at the window's scale.
    #[must_use]
    pub fn offset(&self) -> (f64, f64) {
        let from = self.from.times(self.scale());
        (nearly_whole(-from.x), nearly_whole(-from.y))
    }

    fn scale(&self) -> (f64, f64) {
        let (width, height) = self.to;
        (
            f64::from(width) / self.from.w,
            f64::from(height) / self.from.h,
        )
    }
}

/// Rounds a length that is within rounding errors of whole px. The length results from several divisions and products,
/// each of which rounds.
fn nearly_whole(px: f64) -> f64 {
    let whole = px.round();
    if (px - whole).abs() < 1e-6 { whole } else { px }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_on_whole_px_where_the_whole_has_whole_px() {
        for side in 1..400 {
            let whole = Window::whole((300, 150), (2 * side, side));
            assert_eq!(
                whole.of_whole((300, 150)),
                (f64::from(2 * side), f64::from(side))
            );
            assert_eq!(whole.offset(), (0.0, 0.0));
            let share = 300.0 / f64::from(2 * side);
            let from = RegionF {
                x: share * 7.0,
                y: share * 3.0,
                w: share,
                h: share,
            };
            let part = Window { from, to: (1, 1) };
            assert_eq!(
                part.of_whole((300, 150)),
                (f64::from(2 * side), f64::from(side))
            );
            assert_eq!(part.offset(), (-7.0, -3.0), "{side}");
        }
    }
}
