//! The container of AVIF and HEIC: boxes, items, and the tracks of image sequences, whatever the codec of the items.

mod boxes;
mod items;
mod track;

pub(crate) use boxes::{Boxes, Fields, Kind};
pub(crate) use items::{Items, Property};
pub(crate) use track::{Sample, Track};
