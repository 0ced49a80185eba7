//! Decodes only the visible part of an image, if an index of the source makes that possible.

use std::sync::Arc;

use andon_recipe::Area;

use super::draft::{Draft, First};
use crate::codec::{Info, Parts};
use crate::resize::RegionF;

/// The result of [`Parts::index`](crate::Parts::index) for a file: bytes that only the codec understands.
pub type Index = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The part of an image that is decoded, and the index that makes it possible.
pub(crate) struct Part {
    pub(crate) decoder: &'static dyn Parts,
    pub(crate) index: Index,
    /// The part in px of the image as stored.
    pub(crate) area: Area,
}

/// Smallest number of pixels of an image for which an index is used: a record of where in the file decoding can start,
/// with which a part of the image is decoded without the rest. Smaller images decode so quickly that an index would
/// only take space.
const LEAST_PIXELS: u64 = 8 << 20;

/// A part counts as small if its pixels are at most the image's pixels divided by this number. Beyond that, decoding
/// the rest costs less than making an index.
const LARGEST_SHARE: u64 = 4;

impl Draft<'_> {
    /// Returns the area that is decoded to show a small part of a large image; `None` if the image is decoded in full.
    pub(super) fn small_part(&self) -> Option<Area> {
        let info = self.info;
        if !self.frames.is_first() || info.pixels() < LEAST_PIXELS {
            return None;
        }
        let model = self.source.decoded(info, self.scales).model;
        let reads = match &self.first {
            First::Crop(crop) => {
                let (width, height) = info.scaled(self.scales.luma);
                let stored = 1.0 / self.scales.luma.factor();
                crop.of(width, height, model)
                    .reads(model)
                    .times((stored, stored))
            }
            First::Resample(resample) => resample.reads(model),
            First::Nothing | First::Blank(_) => return None,
        };
        let area = whole_px(reads, info);
        let pixels = u64::from(area.w) * u64::from(area.h);
        (pixels > 0 && pixels <= info.pixels() / LARGEST_SHARE).then_some(area)
    }

    /// Changes the draft's first crop or resampling so that it starts from this decoded part instead of the whole
    /// image.
    pub(super) fn begins_with(&mut self, part: Area) {
        match &mut self.first {
            First::Crop(crop) => {
                crop.x -= self.scales.luma.of(part.x);
                crop.y -= self.scales.luma.of(part.y);
            }
            First::Resample(resample) => resample.part = Some(part),
            First::Nothing | First::Blank(_) => {}
        }
    }
}

/// Returns the px that a region touches, clipped to the image. A region measured at a reduced scale may extend beyond
/// the edge.
fn whole_px(region: RegionF, info: &Info) -> Area {
    let along = |first: f64, length: f64, side: u32| {
        let begin = (first.floor() as u32).min(side);
        let end = ((first + length).ceil() as u32).min(side);
        (begin, end - begin.min(end))
    };
    let (x, w) = along(region.x, region.w, info.width);
    let (y, h) = along(region.y, region.h, info.height);
    Area { x, y, w, h }
}
