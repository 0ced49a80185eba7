//! The container of AVIF and HEIC: boxes, the items that are described in them,
//! and tracks of images that follow each other. Which codec an item is coded
//! with is nobody's affair here.

mod boxes;
mod items;
mod track;

pub(crate) use boxes::{Boxes, Fields, Kind};
pub(crate) use items::{Items, Property};
pub(crate) use track::{Sample, Track};
