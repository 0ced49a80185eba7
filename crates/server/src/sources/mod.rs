//! Finds the source and the overlay images of a target and reads their bytes, within slots and a memory limit.

mod cached_source;
pub(crate) mod fetch;
pub mod geometry;
pub(crate) mod headers;
pub mod media_type;
mod open_source;
pub(crate) mod opening;
mod overlaps;
pub mod overlay_cache;
pub mod overlays;
pub mod rendering;
pub(crate) mod resolver;
pub(crate) mod revision;
pub(crate) mod source_cache;
pub(crate) mod undrawn;
