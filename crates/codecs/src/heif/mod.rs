//! The container of AVIF and HEIC: boxes, the items that are described in them, and the tracks of image sequences. This
//! module does not care which codec an item is coded with.

mod boxes;
mod items;
mod track;

pub(crate) use boxes::{Boxes, Fields, Kind};
pub(crate) use items::{Items, Property};
pub(crate) use track::{Sample, Track};
