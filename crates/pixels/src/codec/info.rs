//! What an image's header reveals before any pixel is decoded.

use andon_recipe::Orientation;

use super::Scale;
use crate::frame::{Depth, GainParams, Model};
use crate::sequence::Animation;
use crate::space::Space;

/// The contents of an image file's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// Name of the image's format.
    pub format: &'static str,
    /// Width in px as stored, before any orientation is applied.
    pub width: u32,
    /// Height in px as stored, before any orientation is applied.
    pub height: u32,
    /// Colour model of the decoded planes at full scale.
    pub model: Model,
    /// Bit depth of the decoded samples (fewer than 8 bits are widened to 8).
    pub depth: Depth,
    /// Whether there is an alpha plane or a transparent colour.
    pub alpha: bool,
    /// The image's colour space.
    pub space: Space,
    /// Whether the image has a palette. Such images are resampled with a softer kernel, as ngx_small_light does.
    pub palette: bool,
    /// Number of frames, at least 1. Frames are counted without decompressing any.
    pub frames: u32,
    /// The animation's header (loops, canvas) if there are several frames.
    pub animation: Option<Animation>,
    /// The orientation that turns the stored image upright, from EXIF or elsewhere, as browsers read it.
    pub orientation: Orientation,
    /// The quality (1–100) the file was written with, as far as its quantization tables tell.
    pub quality: Option<u8>,
    /// Whether the file is compressed losslessly, such as PNG, GIF and lossless WebP.
    pub lossless: bool,
    /// Whether the file is a progressive JPEG, or an interlaced PNG or GIF.
    pub progressive: bool,
    /// Whether the file holds metadata besides the description of its colours: EXIF, XMP, IPTC or comments.
    pub metadata: bool,
    /// Bytes that decoding at any scale allocates in addition to the frame, as far as they do not follow from the
    /// image's size; 0 if all of them do.
    pub decoder_bytes: u64,
    /// Nanoseconds that decoding a frame takes beyond what follows from its size and the file's length, for example for
    /// coded frames that are never shown.
    pub decoder_nanos: u64,
    /// Smallest possible length in bytes of a file with this many pixels; 0 if the format can encode any number of
    /// pixels in a few bytes.
    pub fewest_bytes: u64,
}

impl Info {
    /// Describes a lossy 8-bit still image without alpha, everything else being unknown.
    #[must_use]
    pub fn new(format: &'static str, width: u32, height: u32, model: Model) -> Self {
        Self {
            format,
            width,
            height,
            model,
            depth: Depth::U8,
            alpha: false,
            space: Space::UNSPECIFIED,
            palette: false,
            frames: 1,
            animation: None,
            orientation: Orientation::default(),
            quality: None,
            lossless: false,
            progressive: false,
            metadata: false,
            decoder_bytes: 0,
            decoder_nanos: 0,
            fewest_bytes: 0,
        }
    }

    /// Returns the number of pixels of the image as stored.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Returns width and height in px when decoded at `scale`, rounded up as in JPEG.
    #[must_use]
    pub fn scaled(&self, scale: Scale) -> (u32, u32) {
        (scale.of(self.width), scale.of(self.height))
    }
}

/// Header of the gain map in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct GainHeader {
    /// The gain map's own header. The map covers the whole image, as stored.
    pub info: Info,
    /// The size in bytes that the gain map has within the file.
    pub bytes: u64,
    /// The parameters that control how the map brightens the image.
    pub params: GainParams,
}
