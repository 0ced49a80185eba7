//! What a JPEG's header says: its markers, its layout of planes, the quality it was written with, and other images
//! behind it.

pub(super) mod layout;
pub(super) mod markers;
pub(super) mod mpf;
pub(crate) mod quality;
pub(super) mod walk;
