//! Decode only the part that is seen, where an index of the source tells how.

use std::sync::Arc;

use andon_recipe::Area;

use super::Frames;
use super::draft::{Draft, First};
use crate::codec::Info;
use crate::resize::RegionF;

/// What [`Codec::index`](crate::Codec::index) made for a file: bytes that only the codec understands.
pub type Index = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The part that is decoded.
pub(crate) struct Part {
    pub(crate) index: Index,
    /// In px as stored.
    pub(crate) area: Area,
}

/// Images that are decoded so quickly that an index of each would only take room.
const LEAST_PIXELS: u64 = 8 << 20;

/// Of the image, from which on the rest costs less than it takes to make an index.
const LARGEST_SHARE: u64 = 4;

impl Draft<'_> {
    /// What is read of the image to show a small part of it, if that is planned.
    pub(super) fn small_part(&self) -> Option<Area> {
        let info = self.info;
        if self.frames != Frames::First || info.pixels() < LEAST_PIXELS {
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

    /// The first read begins with a part that was decoded, in place of the whole image.
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

/// The px that a region touches. One at a scale may reach over the edge.
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
