//! The filters of thumbor and imagor after parsing, and what they request.

use andon_recipe::{Effect, Turn};

use super::colours::Ground;
use super::overlay::{Overlay, Side};
use super::path::{Parts, Trim};
use super::text::Text;

/// A parsed filter of a thumbor or imagor URL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    Quality(u32),
    Format(String),
    /// Places the image on a background of the requested size.
    Fill(Ground),
    /// Fills transparent parts with a background.
    Ground(Ground),
    /// Turns the image at this place in the order of filters; `None`: by 0 degrees.
    Rotate(Option<Turn>),
    /// Turns the image before everything else; `None`: by 0 degrees.
    Orient(Option<Turn>),
    Effect(Effect),
    /// Lays an overlay image over this one. The path of the overlay may contain operations on it.
    Overlay(Overlay, Option<Box<Nested>>),
    Text(Text),
    /// Pixelates into whole squares of this side in px.
    Pixelate(u32),
    /// Adds data about the pixels to the document of `meta`.
    PixelData(PixelData),
    Proportion(f64),
    NoUpscale,
    Upscale,
    Stretch,
    MaxBytes(u64),
    /// A focal region, which should stay visible: left, top, right and bottom edge, in px; in imagor also as shares of
    /// the sides. The last two are infinite for a focal point.
    Focal([f64; 4]),
    StripMetadata,
    ToSrgb,
    ToP3,
    /// Crops to a part: left, top, width and height, in px or as shares of the sides.
    Crop([f64; 4]),
    Trim(Trim),
    /// Adds margins in px (left, top, right, bottom) with a background.
    Padding(Ground, [u32; 4]),
    Frame(u32),
    /// Maximum number of frames of an animation.
    MostFrames(u32),
    Lossless,
    /// Bits per sample of a PNG.
    Depth(u8),
    /// Maximum number of colours of a PNG.
    Colours(u16),
    /// zlib's compression level for a PNG.
    Level(u8),
    MaxAge(u64),
    /// When the URL expires, in milliseconds since 1970.
    Expires(u64),
    Attachment(String),
    Raw,
    /// A filter that has no effect, here as in imagor.
    Nothing,
}

/// Data about the pixels that imagor's `meta` can report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PixelData {
    Average,
    /// The number of components across and down.
    BlurHash(u8, u8),
    ThumbHash,
}

/// The operations in the path of an overlay image that is a thumbor URL and does more than scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Nested {
    pub(super) parts: Parts,
    pub(super) sides: (Side, Side),
    pub(super) filters: Vec<Filter>,
}

impl Filter {
    /// Returns the filter with `prefix` (a scheme and two slashes) in front of names of images that have no scheme.
    pub(super) fn with_scheme(self, prefix: &str) -> Self {
        let of_nested = |mut nested: Box<Nested>| {
            let filters = std::mem::take(&mut nested.filters).into_iter();
            nested.filters = filters.map(|filter| filter.with_scheme(prefix)).collect();
            nested
        };
        match self {
            Self::Overlay(overlay, nested) => {
                Self::Overlay(overlay.with_scheme(prefix), nested.map(of_nested))
            }
            other => other,
        }
    }

    /// Returns the overlay images of the filter, including overlays on those overlays.
    pub(super) fn files(&self) -> Vec<String> {
        match self {
            Self::Overlay(overlay, nested) if overlay.shows() => {
                let files = overlay.file().map(str::to_owned).into_iter();
                let filters = nested.iter().flat_map(|nested| &nested.filters);
                files.chain(filters.flat_map(Self::files)).collect()
            }
            _ => Vec::new(),
        }
    }
}
