//! The container of AVIF and HEIC: boxes, and the items that are described in them. Which codec an item is coded
//! with is nobody's affair here.

mod boxes;
mod items;

pub(crate) use boxes::{Boxes, Fields, Kind};
pub(crate) use items::{Items, Property};
