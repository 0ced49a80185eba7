//! Planes, frames, images: what a picture is in memory.

use std::sync::Arc;

use andon_recipe::Chroma;

/// A rectangle of samples in tight rows (stride = width).
///
/// A clone shares the samples and takes its own only when either is written to: results of several
/// sizes begin with one decoded picture, and most of them only read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid<T> {
    width: u32,
    height: u32,
    samples: Arc<Vec<T>>,
}

impl<T: Copy> Grid<T> {
    /// A grid filled with one value.
    #[must_use]
    pub fn filled(width: u32, height: u32, value: T) -> Self {
        Self {
            width,
            height,
            samples: Arc::new(vec![value; width as usize * height as usize]),
        }
    }

    /// So many of them, each with samples of its own from the beginning: clones would copy them when they
    /// are first written to.
    #[must_use]
    pub fn several(count: usize, width: u32, height: u32, value: T) -> Vec<Self> {
        (0..count)
            .map(|_| Self::filled(width, height, value))
            .collect()
    }

    /// A grid around samples that exist already.
    ///
    /// # Panics
    /// When `samples` is not `width × height` long: a bug of the caller, never of a picture.
    #[must_use]
    pub fn from_samples(width: u32, height: u32, samples: Vec<T>) -> Self {
        assert_eq!(
            samples.len(),
            width as usize * height as usize,
            "samples of a {width}×{height} grid"
        );
        Self {
            width,
            height,
            samples: Arc::new(samples),
        }
    }

    /// Width in samples.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in samples.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All samples, row after row.
    #[must_use]
    pub fn samples(&self) -> &[T] {
        &self.samples
    }

    /// All samples, to be written.
    pub fn samples_mut(&mut self) -> &mut [T] {
        Arc::make_mut(&mut self.samples).as_mut_slice()
    }

    /// The samples themselves, the grid given up.
    #[must_use]
    pub fn into_samples(self) -> Vec<T> {
        Arc::unwrap_or_clone(self.samples)
    }

    /// One row.
    #[must_use]
    pub fn row(&self, y: u32) -> &[T] {
        let start = y as usize * self.width as usize;
        &self.samples[start..start + self.width as usize]
    }

    /// One row, to be written.
    pub fn row_mut(&mut self, y: u32) -> &mut [T] {
        let start = y as usize * self.width as usize;
        let end = start + self.width as usize;
        &mut self.samples_mut()[start..end]
    }
}

/// Bits of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 8 bits: 0..=255.
    U8,
    /// 16 bits: 0..=65535.
    U16,
}

/// One plane of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plane {
    /// 8-bit samples.
    U8(Grid<u8>),
    /// 16-bit samples.
    U16(Grid<u16>),
}

impl Plane {
    /// A plane filled with one value; `value` is in the units of `depth`.
    #[must_use]
    pub fn filled(depth: Depth, width: u32, height: u32, value: u16) -> Self {
        match depth {
            Depth::U8 => Self::U8(Grid::filled(width, height, value.min(255) as u8)),
            Depth::U16 => Self::U16(Grid::filled(width, height, value)),
        }
    }

    /// Width in samples.
    #[must_use]
    pub fn width(&self) -> u32 {
        match self {
            Self::U8(grid) => grid.width(),
            Self::U16(grid) => grid.width(),
        }
    }

    /// Height in samples.
    #[must_use]
    pub fn height(&self) -> u32 {
        match self {
            Self::U8(grid) => grid.height(),
            Self::U16(grid) => grid.height(),
        }
    }

    /// Bits of its samples.
    #[must_use]
    pub fn depth(&self) -> Depth {
        match self {
            Self::U8(_) => Depth::U8,
            Self::U16(_) => Depth::U16,
        }
    }

    /// The 8-bit grid, if it is one.
    #[must_use]
    pub fn as_u8(&self) -> Option<&Grid<u8>> {
        match self {
            Self::U8(grid) => Some(grid),
            Self::U16(_) => None,
        }
    }
}

/// How far chroma planes are thinned: one chroma sample spans `h` × `v` luma samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subsampling {
    /// Horizontal: 1, 2 or 4.
    pub h: u8,
    /// Vertical: 1, 2 or 4.
    pub v: u8,
}

impl Subsampling {
    /// 4:4:4: none.
    pub const NONE: Self = Self { h: 1, v: 1 };
    /// 4:2:0: half both ways.
    pub const C420: Self = Self { h: 2, v: 2 };

    /// The chroma plane's size for a luma plane of `width` × `height`: rounded up, as JPEG does.
    #[must_use]
    pub fn chroma_size(self, width: u32, height: u32) -> (u32, u32) {
        (
            width.div_ceil(u32::from(self.h)),
            height.div_ceil(u32::from(self.v)),
        )
    }
}

impl From<Chroma> for Subsampling {
    fn from(chroma: Chroma) -> Self {
        let (h, v) = match chroma {
            Chroma::C444 => (1, 1),
            Chroma::C422 => (2, 1),
            Chroma::C420 => (2, 2),
            Chroma::C440 => (1, 2),
            Chroma::C411 => (4, 1),
        };
        Self { h, v }
    }
}

/// The values that Y, Cb and Cr take (8-bit; 16-bit scales by 257).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// 0–255 throughout: JPEG.
    Full,
    /// Y 16–235, chroma 16–240: WebP and video.
    Limited,
}

/// What the planes mean. Sample values follow these conventions: Gray, RGB: 0 is black; CMYK: 0 is no
/// ink; chroma is centred on 128 (8-bit) or 32896 (16-bit). YCbCr is always BT.601.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// One plane.
    Gray,
    /// Three planes, the last two perhaps thinned.
    YCbCr {
        /// Thinning of Cb and Cr.
        sub: Subsampling,
        /// Value range.
        range: Range,
    },
    /// Three planes, sRGB unless a profile says otherwise.
    Rgb,
    /// Four planes.
    Cmyk,
}

impl Model {
    /// JPEG's own model.
    #[must_use]
    pub fn ycbcr(sub: Subsampling) -> Self {
        Self::YCbCr {
            sub,
            range: Range::Full,
        }
    }

    /// How many colour planes (alpha not counted).
    #[must_use]
    pub fn planes(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::YCbCr { .. } | Self::Rgb => 3,
            Self::Cmyk => 4,
        }
    }

    /// The size of plane `index` in a frame of `width` × `height`.
    #[must_use]
    pub fn plane_size(self, index: usize, width: u32, height: u32) -> (u32, u32) {
        match self {
            Self::YCbCr { sub, .. } if index > 0 => sub.chroma_size(width, height),
            _ => (width, height),
        }
    }
}

/// One picture: planes and what they mean. Alpha, when there, is straight (not premultiplied), full
/// size, and of the planes' depth.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// What the planes mean.
    pub model: Model,
    /// Width of the full-size planes.
    pub width: u32,
    /// Height of the full-size planes.
    pub height: u32,
    /// The colour planes, `model.planes()` of them, each of `model.plane_size()`.
    pub planes: Vec<Plane>,
    /// Opacity: 0 is transparent.
    pub alpha: Option<Plane>,
}

impl Frame {
    /// A frame from its parts.
    ///
    /// # Panics
    /// When planes are missing, of the wrong size, or of different depths: a bug of the caller.
    #[must_use]
    pub fn new(
        model: Model,
        width: u32,
        height: u32,
        planes: Vec<Plane>,
        alpha: Option<Plane>,
    ) -> Self {
        assert_eq!(planes.len(), model.planes(), "planes of {model:?}");
        for (index, plane) in planes.iter().enumerate() {
            assert_eq!(
                (plane.width(), plane.height()),
                model.plane_size(index, width, height),
                "size of plane {index} of a {width}×{height} {model:?} frame"
            );
            assert_eq!(plane.depth(), planes[0].depth(), "depth of plane {index}");
        }
        if let Some(alpha) = &alpha {
            assert_eq!(
                (alpha.width(), alpha.height()),
                (width, height),
                "size of the alpha plane"
            );
            assert_eq!(alpha.depth(), planes[0].depth(), "depth of the alpha plane");
        }
        Self {
            model,
            width,
            height,
            planes,
            alpha,
        }
    }

    /// Bits of the samples.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.planes[0].depth()
    }
}

/// What travels beside the pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The ICC profile, whole.
    pub icc: Option<Vec<u8>>,
    /// The EXIF block from its TIFF header on (no `Exif\0\0`).
    pub exif: Option<Vec<u8>>,
}

/// A decoded picture: one frame, or several of an animation with their delays.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The frames, at least one, all of one size and model.
    pub frames: Vec<Frame>,
    /// How long each frame stays, in milliseconds; empty for a still picture.
    pub delays: Vec<u32>,
    /// Profiles.
    pub metadata: Metadata,
}

impl Image {
    /// A still picture without metadata.
    #[must_use]
    pub fn still(frame: Frame) -> Self {
        Self {
            frames: vec![frame],
            delays: Vec::new(),
            metadata: Metadata::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_shares_its_samples_until_either_is_written_to() {
        let mut grid = Grid::filled(3, 2, 7);
        let clone = grid.clone();
        assert_eq!(grid.samples().as_ptr(), clone.samples().as_ptr());
        grid.row_mut(1)[0] = 8;
        assert_eq!(grid.samples(), [7, 7, 7, 8, 7, 7]);
        assert_eq!(clone.samples(), [7; 6]);
        assert_eq!(clone.into_samples(), [7; 6]);
    }

    #[test]
    fn several_grids_have_samples_of_their_own_from_the_beginning() {
        let mut grids = Grid::several(2, 3, 2, 7);
        let before: Vec<_> = grids.iter().map(|grid| grid.samples().as_ptr()).collect();
        assert_ne!(before[0], before[1]);
        for (grid, before) in grids.iter_mut().zip(before) {
            assert_eq!(grid.samples_mut().as_ptr(), before, "it was copied");
        }
    }
}
