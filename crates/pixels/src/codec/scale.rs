//! The scales at which images can be decoded.

use crate::frame::Subsampling;

/// A decoding scale in eighths. `Scale(1)`, `Scale(2)`, `Scale(4)` and `Scale(8)` are an eighth, a quarter, a half and
/// the full size. Codecs may offer any other scale; those of more than 8 are larger than the image and are for formats
/// that are drawn at any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scale(pub u8);

impl Scale {
    /// Full size.
    pub const FULL: Self = Self(8);
    /// Half of each side.
    pub const HALF: Self = Self(4);
    /// A quarter of each side.
    pub const QUARTER: Self = Self(2);
    /// An eighth of each side.
    pub const EIGHTH: Self = Self(1);

    /// Returns a length in px at this scale, rounded up.
    #[must_use]
    pub fn of(self, length: u32) -> u32 {
        ((u64::from(length) * u64::from(self.0)).div_ceil(8)) as u32
    }

    /// Returns the scale as a factor: 0.125 to 1, and more than 1 for vector images.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 8.0
    }
}

/// The scales of one decode. The chroma scale is relative to the stored size of the chroma planes: with both at `HALF`,
/// a 4:2:0 image stays 4:2:0; luma at `HALF` and chroma at `QUARTER` turn 4:4:4 into 4:2:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scales {
    /// Scale of luma and of every full-size plane.
    pub luma: Scale,
    /// Scale of planes that are, or can be, subsampled (Cb, Cr); never above `luma`.
    pub chroma: Scale,
}

impl Scales {
    /// All planes at full size.
    pub const FULL: Self = Self::both(Scale::FULL);

    /// Creates scales with the same scale for all planes.
    #[must_use]
    pub const fn both(scale: Scale) -> Self {
        Self {
            luma: scale,
            chroma: scale,
        }
    }

    /// Returns the subsampling of a frame decoded at these scales from an image with subsampling `stored`.
    #[must_use]
    pub fn subsampling(self, stored: Subsampling) -> Subsampling {
        let ratio = self.luma.0 / self.chroma.0;
        Subsampling {
            h: stored.h * ratio,
            v: stored.v * ratio,
        }
    }
}
