//! Optional capabilities of codecs, beyond decoding a file's first frame.

use andon_recipe::Area;

use super::{Decode, GainHeader, Info, Scales};
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Depth, Frame, Image, Model, Traits};
use crate::sequence::FrameReader;
use crate::window::Window;

/// Decodes an image at several scales in one pass over its file.
pub trait ManyScales: Send + Sync {
    /// Decodes the image at several scales in one pass over the file; `how.scales` is ignored. Each image is
    /// bit-identical to what `decode` returns at its scales. Returns `None` if the codec cannot do this with this file.
    ///
    /// # Errors
    /// Those of `decode`. A damaged file may fail even if some of the scales would succeed alone.
    fn decode_at_once(
        &self,
        bytes: &[u8],
        info: &Info,
        how: &Decode<'_>,
        scales: &[Scales],
    ) -> Result<Option<Vec<Image>>>;

    /// Whether decoding at both scales in one pass is worth trying.
    fn decodes_at_once(&self, info: &Info, one: Scales, other: Scales) -> bool;
}

/// Decodes parts of large images without the rest, with an index of where in the file decoding can start.
pub trait Parts: Send + Sync {
    /// Estimates the cost of [`Parts::index`], including the memory of the index; `None` for images that cannot be
    /// indexed.
    fn index_cost(&self, bytes: u64, info: &Info) -> Option<Cost>;

    /// Reads the file once and records where decoding can start, so that parts of the image can later be decoded
    /// without the rest. The index is a byte string that only this codec understands, and that is valid only for this
    /// file. `how.scales` is ignored. Returns `None` if the file cannot be indexed, for example because it is damaged.
    ///
    /// # Errors
    /// `Limit`, `Interrupted`.
    fn index(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Option<Vec<u8>>>;

    /// Returns the area, in px as stored, that has to be decoded to show `area`. At every scale it begins on a whole
    /// sample of every plane. Returns `None` if the index does not belong to this file.
    fn part(&self, bytes: &[u8], info: &Info, index: &[u8], area: Area) -> Option<Area>;

    /// Decodes an area returned by `part`, bit-identical to the same area of `decode`. The frame has the size of the
    /// area at `how.scales`.
    ///
    /// # Errors
    /// Those of `decode`.
    fn decode_part(
        &self,
        bytes: &[u8],
        info: &Info,
        how: &Decode<'_>,
        index: &[u8],
        part: Area,
    ) -> Result<Image>;
}

/// Draws images that are not stored as pixels, at any size.
pub trait Vector: Send + Sync {
    /// Estimates the cost of [`Vector::draw`], including the memory needed in addition to the result. Returns `None` if
    /// the contents of the window cannot be drawn separately.
    fn draw_cost(&self, bytes: u64, info: &Info, window: &Window) -> Option<Cost>;

    /// Draws the part of a vector image that a window shows, at the window's size; `how.scales` is ignored.
    ///
    /// # Errors
    /// Those of `decode`.
    fn draw(&self, bytes: &[u8], info: &Info, how: &Decode<'_>, window: &Window) -> Result<Image>;
}

/// Reads animations frame by frame.
pub trait AnimationDecoder: Send + Sync {
    /// Returns the traits of the frames that `open` yields, composed on their canvas; `None` for still images. Most
    /// formats compose red, green and blue of 8 bits, whatever the model and depth of the file.
    fn composed(&self, info: &Info) -> Option<Traits> {
        info.animation.map(|animation| Traits {
            alpha: animation.alpha,
            space: info.space,
            ..Traits::new(Model::Rgb, Depth::U8)
        })
    }

    /// Opens an animated image for reading at full scale; only for images for which `composed` returns traits.
    ///
    /// # Errors
    /// Those of `decode`.
    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        how: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>>;
}

/// Reads gain maps, which brighten an image on HDR screens.
pub trait GainMaps: Send + Sync {
    /// Returns the header of the file's gain map, if there is one that the codec understands; its pixels are not
    /// decoded. A broken gain map counts as none, since the image is complete without it.
    fn gain_map(&self, bytes: &[u8], info: &Info) -> Option<GainHeader>;

    /// Decodes the gain map that `gain_map` found. `how.scales` must be among those that `scales` returns for the map's
    /// header.
    ///
    /// # Errors
    /// Those of `decode`.
    fn decode_gain_map(&self, bytes: &[u8], how: &Decode<'_>) -> Result<Frame>;
}

/// Converts files between this codec's format and another without decoding them, so that nothing is lost.
pub trait Recoder: Send + Sync {
    /// Whether the codec can losslessly convert this file to format `to` without decoding it, keeping the stored
    /// orientation. The codec's own format is the source or the target.
    fn recodes(&self, bytes: &[u8], info: &Info, to: &str) -> bool;

    /// Converts the file to format `to` without decoding it, as announced by `recodes`. Returns `None` if this file
    /// cannot be converted after all.
    ///
    /// # Errors
    /// `Limit`, `Interrupted`.
    fn recode(
        &self,
        bytes: &[u8],
        info: &Info,
        to: &str,
        how: &Decode<'_>,
    ) -> Result<Option<Vec<u8>>>;

    /// Estimates the cost of `recode`.
    fn recode_cost(&self, bytes: u64, info: &Info) -> Cost;
}
