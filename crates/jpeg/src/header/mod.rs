//! Reads JPEG headers: the markers, the layout of the planes, the quality with which the file was written, and the
//! index of further images in the file.

mod layout;
mod markers;
pub mod mpf;
mod quality;
pub(crate) mod walk;

pub use self::layout::{Colour, Layout};
pub use self::markers::{Component, Header};
pub use self::walk::coded_length;
