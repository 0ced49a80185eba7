//! A JPEG decoder that decodes images at 1/8, 1/4, 1/2 or full size, straight into planes.
//!
//! Making a thumbnail takes most of its time for entropy decoding, most of whose results are thrown away. This decoder
//! does not produce them: coefficients that the scale does not need are skipped several per look-up
//! ([`huffman::SkipTable`]), progressive scans without any needed coefficient are not read, and those that must be
//! followed are followed with a bit mask per block ([`progressive`]).
//!
//! An image at N/8 is the N×N inverse DCT of the lowest N×N frequencies. At 1/8 and 1/1 that is exactly libjpeg's
//! result. At 1/4 and 1/2 libjpeg averages the full inverse DCT instead, which blurs a little and needs every
//! coefficient. Anything this decoder does not support ([`Refused::Unsupported`]) is left to libjpeg-turbo: 12 bits,
//! arithmetic coding, four components, height by DNL, missing tables.

mod bits;
pub(super) mod entropy;
mod huffman;
mod index;
mod output;
mod plane;
mod progressive;
mod scan;
mod segments;
mod sequential;
mod split;
mod streams;
mod strips;

use std::sync::{Mutex, MutexGuard, PoisonError};

use andon_pixels::{Bound, Cores, Grid};

pub(crate) use self::index::{Index, MOST_INDEX_BYTES, decode_part, index};
use self::plane::PlaneDecoder;
use self::segments::{FrameHeader, Segment, Segments};
pub(super) use self::split::in_full;
#[cfg(test)]
pub(super) use self::streams::with as with_streams;

/// Why an image was not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A kind of JPEG that is left to libjpeg-turbo.
    Unsupported,
    /// The file is invalid, for this reason.
    Broken(&'static str),
    /// The decode was interrupted because the image is no longer needed.
    Interrupted,
    /// The image exceeds a limit.
    Limit {
        /// Which limit.
        bound: Bound,
        /// The value that the image needs.
        value: u64,
        /// The limit.
        limit: u64,
    },
}

impl Refused {
    const fn broken(why: &'static str) -> Self {
        Self::Broken(why)
    }
}

/// Which scans of a file are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scans {
    /// The scans that the requested sizes need.
    Needed,
    /// All scans, up to the end of the file.
    All,
}

/// The scales and limits for decoding a file.
pub(crate) struct Request<'a> {
    /// Samples per block side (1, 2, 4 or 8, which are eighths) of the first component and of the others, for each
    /// image to make.
    pub(crate) sizes: &'a [[u8; 2]],
    /// Which scans are followed.
    pub(crate) followed: Scans,
    /// Limit on the number of scans, also for a sequential image, whose scans may repeat.
    pub(crate) scans: u32,
    /// Limit on the memory that is held, in bytes.
    pub(crate) memory: u64,
    /// Returns whether to stop. Called once per row of MCUs or for every few rows.
    pub(crate) interrupted: &'a dyn Fn() -> bool,
    /// Idle cores that may be borrowed.
    pub(crate) cores: &'a dyn Cores,
}

/// Locks a mutex even if it is poisoned. No code that may panic leaves the data invalid: coefficients may have any
/// value, and what has been taken is simply no longer there.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn within(bound: Bound, value: u64, limit: u64) -> Result<(), Refused> {
    if value > limit {
        Err(Refused::Limit {
            bound,
            value,
            limit,
        })
    } else {
        Ok(())
    }
}

/// Decodes the components of a JPEG file, each into a plane of ⌈its own size × N/8⌉, once for each of the requested
/// sizes.
///
/// The file is read once, for the largest size. Smaller sizes are made of a subset of the same coefficients, and so are
/// the same to the bit as if they had been decoded alone.
///
/// # Errors
/// See [`Refused`]. A broken file may be refused because of a fault that a smaller size alone would not have met.
pub(crate) fn decode(bytes: &[u8], wanted: &Request<'_>) -> Result<Vec<Vec<Grid<u8>>>, Refused> {
    let mut segments = Segments::new(bytes)?;
    let frame = match segments.next()? {
        Segment::Frame(frame) => frame,
        Segment::Scan(_) | Segment::End => return Err(Refused::broken("it has no frame header")),
    };
    let held = bytes_held(bytes.len(), &frame, wanted.sizes);
    within(Bound::MEMORY, held, wanted.memory)?;
    let sides = |index: usize| wanted.sizes.iter().map(move |sizes| sizes[index.min(1)]);
    let planes: Vec<_> = (0..frame.components.len())
        .map(|index| PlaneDecoder::new(&frame, index, sides(index)))
        .collect();
    let planes = if frame.progressive {
        progressive::decode(&mut segments, &frame, planes, wanted)?
    } else {
        sequential::decode(&mut segments, &frame, planes, wanted)?
    };
    let mut pictures = vec![Vec::new(); wanted.sizes.len()];
    for (index, plane) in planes.into_iter().enumerate() {
        let grids = plane.into_grids(sides(index))?;
        for (image, grid) in pictures.iter_mut().zip(grids) {
            image.push(grid);
        }
    }
    Ok(pictures)
}

/// Whether a progressive file has every scan that this decoder needs, judging by the scan headers. A file that is
/// broken in another way counts as whole, because it is refused and not left to libjpeg-turbo.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    let scans = |mut segments: Segments<'_>| match segments.next()? {
        Segment::Frame(frame) if frame.progressive => {
            progressive::is_whole(&mut segments, &frame, MOST_SCANS)
        }
        _ => Ok(false),
    };
    match Segments::new(bytes).and_then(scans) {
        Ok(whole) => whole,
        Err(Refused::Broken(_)) => true,
        Err(_) => false,
    }
}

/// How many scans are looked at in advance, before a decode.
const MOST_SCANS: u32 = 200;

/// Returns the most bytes that a decode holds: the planes, a scan without its stuffing, and the coefficients that a
/// progressive image keeps between scans or that wait between a lent core and the current one.
fn bytes_held(file: usize, frame: &FrameHeader, sizes: &[[u8; 2]]) -> u64 {
    let mut held = file as u64;
    for (index, component) in frame.components.iter().enumerate() {
        let across = u64::from(frame.width.div_ceil(8 * frame.h_max) * component.h);
        let down = u64::from(frame.height.div_ceil(8 * frame.v_max) * component.v);
        let samples = sizes
            .iter()
            .map(|sizes| u64::from(sizes[index.min(1)]).pow(2));
        let (largest, all) = (samples.clone().max().unwrap_or(0), samples.sum::<u64>());
        // At full size the coefficients of a sequential image are held only where `split::in_full` says so; `cost` counts those.
        let coefficients = if frame.progressive || largest < 64 {
            2 * largest + 8
        } else {
            0
        };
        held += across * down * (all + coefficients);
    }
    held
}
