//! The options of an encode.

use andon_kernels::cores::{Alone, Cores};

/// The options of an encode.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The quality, 1 to 100. On average, a file scores as well as one that libjpeg-turbo writes with that quality.
    pub quality: u8,
    /// The EXIF block from its TIFF header on, or empty. It is left out if it is longer than
    /// [`MOST_EXIF_BYTES`](super::MOST_EXIF_BYTES).
    pub exif: &'a [u8],
    /// The ICC profile, or empty.
    pub icc: &'a [u8],
    /// Returns whether to stop. It is called once per row of blocks.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Idle cores that may take parts of the work. The file is the same with and without them.
    pub cores: &'a dyn Cores,
}

impl Options<'_> {
    /// Returns options for this quality, for an encode on the calling thread and without metadata.
    #[must_use]
    pub fn of(quality: u8) -> Self {
        Self {
            quality,
            exif: &[],
            icc: &[],
            interrupted: &|| false,
            cores: &Alone,
        }
    }
}
