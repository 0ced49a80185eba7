//! From a target to the bytes of its source and overlay images, read within slots and a limit of memory.

pub(crate) mod fetch;
pub mod geometry;
pub(crate) mod headers;
pub mod materials;
pub mod media_type;
pub mod overlay_cache;
pub mod rendering;
pub(crate) mod resolver;
pub(crate) mod revision;
pub(crate) mod source_cache;
