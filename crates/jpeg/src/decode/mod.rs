//! A JPEG decoder that decodes images at 1/8, 1/4, 1/2 or full size, straight into planes.
//!
//! Most of the time for a thumbnail goes into entropy decoding, and most of the coefficients that it yields are
//! discarded. This decoder avoids that work: coefficients that the scale does not need are skipped, several per
//! look-up (`huffman`); progressive scans without any needed coefficient are not read; where decoding a scan only
//! requires to know which coefficients are non-zero, a bit mask per block is stored instead of their values
//! (`progressive`). The table in `route` chooses how a sequential scan is decoded.
//!
//! An image at N/8 is the N×N inverse DCT of the lowest N×N frequencies. At 1/8 and 1/1 that is exactly libjpeg's
//! result. At 1/4 and 1/2 libjpeg averages the full inverse DCT instead, which blurs a little and needs every
//! coefficient. libjpeg may be able to decode what this decoder refuses as `Unsupported`: 12 bits, arithmetic coding,
//! four components, height by DNL, missing tables, files whose low frequencies are incomplete.

mod bits;
mod coder;
mod entropy;
mod huffman;
mod index;
mod lock;
mod output;
mod plane;
mod progressive;
mod request;
mod route;
mod row;
mod scan;
mod segments;
mod selection;
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
use crate::decode::request::{peak_bytes, within};
use crate::decode::segments::{Segment, Segments};
use crate::error::{Bound, Error, Result};

/// Decodes the components of a JPEG file at each of the requested sizes. Returns the planes of each component, the
/// largest first. With N samples per block side, a plane has ⌈full size of the component × N/8⌉ samples in each
/// direction. A size that was requested twice is returned once.
///
/// The file is read once, for the largest size. Smaller sizes use a subset of the same coefficients, and are identical
/// to what a separate decode would give.
///
/// # Errors
/// See [`Error`]. A broken file may be refused because of a fault that a decode of a smaller size alone would not have
/// reached.
pub fn components(bytes: &[u8], request: &Request<'_>) -> Result<Vec<Vec<Scaled>>> {
    let mut segments = Segments::new(bytes)?;
    let frame = match segments.next()? {
        Segment::Frame(frame) => frame,
        Segment::Scan(_) | Segment::End => return Err(Error::Broken("it has no frame header")),
    };
    let memory = peak_bytes(bytes.len(), &frame, request.sizes);
    within(Bound::Memory, memory, request.memory)?;
    let sides = |index: usize| request.sizes.iter().map(move |sizes| sizes[index.min(1)]);
    let planes: Vec<_> = (0..frame.components.len())
        .map(|index| PlaneDecoder::new(&frame, index, sides(index)))
        .collect();
    let planes = if frame.progressive {
        progressive::decode(&mut segments, &frame, planes, request)?
    } else {
        sequential::decode(&mut segments, &frame, planes, request)?
    };
    planes.into_iter().map(PlaneDecoder::finish).collect()
}

/// Whether a file is progressive and has every scan that this decoder needs, judging by the scan headers. The result
/// is also `true` for an invalid file, because this decoder must report its error instead of leaving it to
/// libjpeg-turbo.
#[must_use]
pub fn is_whole(bytes: &[u8]) -> bool {
    let scans = |mut segments: Segments<'_>| match segments.next()? {
        Segment::Frame(frame) if frame.progressive => {
            progressive::is_whole(&mut segments, &frame, MOST_SCANS)
        }
        _ => Ok(false),
    };
    match Segments::new(bytes).and_then(scans) {
        Ok(is_whole) => is_whole,
        Err(Error::Broken(_)) => true,
        Err(_) => false,
    }
}

/// Maximum number of scans whose headers [`is_whole`] checks.
const MOST_SCANS: u32 = 200;
