//! Reads JPEG headers: the markers, the layout of planes, the quality the file was written with, and further images
//! behind it.

pub(super) mod layout;
pub(super) mod markers;
pub(super) mod mpf;
pub(crate) mod quality;
pub(super) mod walk;
