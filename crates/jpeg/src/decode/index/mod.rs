//! An index of entry points into the scan of a sequential image, so that a part of the image can be decoded without the
//! rest.
//!
//! The index is built in one pass over the only scan, at 1/8, where most coefficients are skipped. For one in every
//! few MCUs, the index records where the MCU begins, and the DC predictions there. A decoder needs no more than that
//! to start at this MCU, with or without restart markers. Progressive images have no index, because each of their many
//! scans would need its own.

mod format;
mod make;
mod part;
mod source;

pub use self::format::{Index, MOST_INDEX_BYTES};
pub use self::make::index;
pub use self::part::decode_part;
