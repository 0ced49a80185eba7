//! A JPEG decoder that decodes images at 1/8, 1/4, 1/2 or full size, straight into planes.
//!
//! Making a thumbnail takes most of its time for entropy decoding, most of whose results are thrown away. This decoder
//! does not produce them: coefficients that the scale does not need are passed over several per look-up (`huffman`),
//! progressive scans without any needed coefficient are not read, and those that must be followed are followed with a
//! bit mask per block (`progressive`). Which way a sequential scan is decoded says one table (`route`).
//!
//! An image at N/8 is the N×N inverse DCT of the lowest N×N frequencies. At 1/8 and 1/1 that is exactly libjpeg's
//! result. At 1/4 and 1/2 libjpeg averages the full inverse DCT instead, which blurs a little and needs every
//! coefficient. What this decoder refuses as `Unsupported` libjpeg may decode: 12 bits, arithmetic coding, four
//! components, height by DNL, missing tables, files whose low frequencies are incomplete.

mod bits;
mod coder;
mod entropy;
mod huffman;
mod index;
mod kept;
mod lock;
mod output;
mod plane;
mod progressive;
mod request;
mod route;
mod row;
mod scan;
mod segments;
mod sequential;
mod split;
mod streams;
mod strips;
#[cfg(test)]
mod tests;

pub use self::index::{Index, MOST_INDEX_BYTES, decode_part, index};
pub use self::plane::Scaled;
pub use self::request::{Request, Scans};
pub use self::route::splits_in_full;
use crate::decode::plane::PlaneDecoder;
use crate::decode::request::{bytes_held, within};
use crate::decode::segments::{Segment, Segments};
use crate::error::{Bound, Error, Result};

/// Decodes the components of a JPEG file, each into a plane of ⌈its own size × N/8⌉, once for each of the requested
/// sizes. Returns the planes of each component, the largest first; a size that was requested twice comes once.
///
/// The file is read once, for the largest size. Smaller sizes are made of a subset of the same coefficients, and so are
/// the same to the bit as if they had been decoded alone.
///
/// # Errors
/// See [`Error`]. A broken file may be refused because of a fault that a smaller size alone would not have met.
pub fn components(bytes: &[u8], wanted: &Request<'_>) -> Result<Vec<Vec<Scaled>>> {
    let mut segments = Segments::new(bytes)?;
    let frame = match segments.next()? {
        Segment::Frame(frame) => frame,
        Segment::Scan(_) | Segment::End => return Err(Error::Broken("it has no frame header")),
    };
    let held = bytes_held(bytes.len(), &frame, wanted.sizes);
    within(Bound::Memory, held, wanted.memory)?;
    let sides = |index: usize| wanted.sizes.iter().map(move |sizes| sizes[index.min(1)]);
    let planes: Vec<_> = (0..frame.components.len())
        .map(|index| PlaneDecoder::new(&frame, index, sides(index)))
        .collect();
    let planes = if frame.progressive {
        progressive::decode(&mut segments, &frame, planes, wanted)?
    } else {
        sequential::decode(&mut segments, &frame, planes, wanted)?
    };
    planes.into_iter().map(PlaneDecoder::finish).collect()
}

/// Whether a progressive file has every scan that this decoder needs, judging by the scan headers. A file that is
/// broken in another way counts as whole, because it is refused and not left to libjpeg-turbo.
#[must_use]
pub fn is_whole(bytes: &[u8]) -> bool {
    let scans = |mut segments: Segments<'_>| match segments.next()? {
        Segment::Frame(frame) if frame.progressive => {
            progressive::is_whole(&mut segments, &frame, MOST_SCANS)
        }
        _ => Ok(false),
    };
    match Segments::new(bytes).and_then(scans) {
        Ok(whole) => whole,
        Err(Error::Broken(_)) => true,
        Err(_) => false,
    }
}

/// How many scans are looked at in advance, before a decode.
const MOST_SCANS: u32 = 200;
