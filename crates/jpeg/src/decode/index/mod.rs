//! An index of entry points into the scan of a sequential image, so that a part of the image can be decoded without the
//! rest.
//!
//! The index is built in one pass over the only scan, at 1/8, where most coefficients are skipped. For one in every few
//! MCUs it records where it begins, and the DC predictions there. With or without restart markers, a decoder needs no
//! more to start there. Progressive images have no index, because each of their many scans would need its own.

mod format;
mod make;
mod part;
mod source;

pub use self::format::{Index, MOST_INDEX_BYTES};
pub use self::make::index;
pub use self::part::decode_part;
