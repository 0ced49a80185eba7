//! Reads JPEG headers: the markers, the layout of planes, the quality the file was written with, and further images
//! behind it.

mod layout;
mod markers;
pub mod mpf;
mod quality;
pub(crate) mod walk;

pub use self::layout::{Colour, Layout};
pub use self::markers::{Component, Header};
pub use self::walk::coded_length;
