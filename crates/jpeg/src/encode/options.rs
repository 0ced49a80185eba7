//! What a caller may say about how an image is encoded.

use andon_kernels::cores::{Alone, Cores};

/// How an image is encoded.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The quality, 1 to 100, at which a file scores on average what libjpeg-turbo's scores at that quality.
    pub quality: u8,
    /// The EXIF block from its TIFF header on, or nothing. Left out when longer than
    /// [`MOST_EXIF_BYTES`](super::MOST_EXIF_BYTES).
    pub exif: &'a [u8],
    /// The ICC profile, or nothing.
    pub icc: &'a [u8],
    /// Returns whether to stop. Called once per row of blocks.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Idle cores that may be borrowed. They change no byte of the file.
    pub cores: &'a dyn Cores,
}

impl Options<'_> {
    /// Returns options for this quality, on the calling thread and without metadata.
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
