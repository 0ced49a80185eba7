//! Images in memory, as planes of 8-bit samples.

/// One component of an image: its samples in contiguous rows, starting at the top left.
///
/// `S` is the type that holds the samples: a `Vec<u8>` after decoding, or for the encoder any type of the caller, such
/// as an `Arc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane<S = Vec<u8>> {
    /// Width in samples.
    pub width: u32,
    /// Height in samples.
    pub height: u32,
    /// All samples, row by row: `width × height` of them.
    pub samples: S,
}

impl<S: AsRef<[u8]>> Plane<S> {
    /// Returns a plane that borrows these samples.
    pub(crate) fn view(&self) -> Plane<&[u8]> {
        Plane {
            width: self.width,
            height: self.height,
            samples: self.samples.as_ref(),
        }
    }

    /// Whether the number of samples matches the plane's size.
    pub(crate) fn is_whole(&self) -> bool {
        let length = u64::from(self.width) * u64::from(self.height);
        self.samples.as_ref().len() as u64 == length
    }
}

impl<'a> Plane<&'a [u8]> {
    /// Returns the samples of row `y`.
    pub(crate) fn row(&self, y: u32) -> &'a [u8] {
        let start = y as usize * self.width as usize;
        &self.samples[start..start + self.width as usize]
    }
}

/// The chroma subsampling: how many luma samples share one chroma sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subsampling {
    /// Luma samples per chroma sample across: 1, 2 or 4.
    pub h: u8,
    /// Luma samples per chroma sample down: 1, 2 or 4.
    pub v: u8,
}

impl Subsampling {
    /// No subsampling: chroma planes are as large as luma, 4:4:4.
    pub const NONE: Self = Self { h: 1, v: 1 };

    /// Chroma planes with half the columns and half the rows, 4:2:0.
    pub const C420: Self = Self { h: 2, v: 2 };

    /// Returns the size of the chroma planes of an image of this size in px.
    #[must_use]
    pub fn chroma_size(self, width: u32, height: u32) -> (u32, u32) {
        (
            width.div_ceil(self.h.into()),
            height.div_ceil(self.v.into()),
        )
    }

    /// Whether a file with this subsampling can be written: T.81 allows ten blocks in an MCU, of which Cb and Cr take
    /// two.
    #[must_use]
    pub fn is_writable(self) -> bool {
        let possible = |factor| matches!(factor, 1 | 2 | 4);
        possible(self.h) && possible(self.v) && self.h * self.v <= 8
    }
}

/// A gray image (one plane), or luma and two chroma planes (Y, Cb, Cr by BT.601, full range).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<S = Vec<u8>> {
    /// The planes, luma first. The first is as large as the image.
    pub planes: Vec<Plane<S>>,
    /// How the chroma planes are subsampled. It has no meaning for a gray image.
    pub sub: Subsampling,
}

/// A rectangle of an image, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The left edge: the number of columns to the left of the area.
    pub x: u32,
    /// The top edge: the number of rows above the area.
    pub y: u32,
    /// Width in px.
    pub w: u32,
    /// Height in px.
    pub h: u32,
}
