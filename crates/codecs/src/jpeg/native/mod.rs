//! A JPEG decoder that makes images small, 1/8, 1/4 and 1/2, or leaves them as they are, straight into
//! planes.
//!
//! Most of the time of a thumbnail is spent in entropy decoding, and most of what that yields is thrown
//! away. Here it is never made: coefficients that the scale does not need are passed over several at a
//! look-up ([`huffman::SkipTable`]), progressive scans that hold none of the needed ones are not even
//! opened, and those that must be followed are followed by a bit mask of the block ([`progressive`]).
//!
//! An image at N/8 is the N×N inverse DCT of its lowest N×N frequencies. At 1/8 and 1/1 that is exactly
//! what libjpeg gives; at 1/4 and 1/2 libjpeg averages the full inverse DCT instead, which blurs a little and
//! needs every coefficient. Anything this decoder does not know ([`Refused::Unsupported`]) is
//! libjpeg-turbo's: 12 bits, arithmetic coding, four components, height by DNL, tables left out.

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

use andon_pixels::{Cores, Grid};

pub(crate) use self::index::{Index, MOST_INDEX_BYTES, decode_part, index};
use self::plane::PlaneDecoder;
use self::segments::{FrameHeader, Segment, Segments};
pub(super) use self::split::in_full;
#[cfg(test)]
pub(super) use self::streams::with as with_streams;

/// Why there is no image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A kind of JPEG that is left to libjpeg-turbo.
    Unsupported,
    /// The file breaks the rules: how.
    Broken(&'static str),
    /// Nobody wants the image any more.
    Interrupted,
    /// It goes over a ceiling.
    Limit {
        /// Which: the knob's name.
        name: &'static str,
        /// What the image takes.
        value: u64,
        /// The ceiling.
        limit: u64,
    },
}

impl Refused {
    const fn broken(why: &'static str) -> Self {
        Self::Broken(why)
    }
}

/// Which scans are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scans {
    /// Those that the sizes need.
    Needed,
    /// All of them, up to the end of the file.
    All,
}

/// The scales and limits of one decoding.
pub(crate) struct Request<'a> {
    /// Samples per block side of the first component and of the others: 1, 2, 4 or 8 (eighths).
    pub(crate) sizes: &'a [[u8; 2]],
    /// Which scans are followed.
    pub(crate) followed: Scans,
    /// Ceiling on scans: those of a sequential image may repeat, too.
    pub(crate) scans: u32,
    /// Ceiling on bytes held.
    pub(crate) memory: u64,
    /// Asked once per row of MCUs, or for a few of them.
    pub(crate) interrupted: &'a dyn Fn() -> bool,
    /// Idle cores that may be borrowed.
    pub(crate) cores: &'a dyn Cores,
}

/// Locks what no code that may panic leaves half done: coefficients, whatever they are, and what somebody has taken is not there any
/// more.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn within(name: &'static str, value: u64, limit: u64) -> Result<(), Refused> {
    if value > limit {
        Err(Refused::Limit { name, value, limit })
    } else {
        Ok(())
    }
}

/// Decodes the components of a JPEG file, each into a plane of ⌈its own size × N/8⌉, once for each of the
/// sizes that are wanted.
///
/// The file is gone through once, for the largest: a smaller image of a block is made of some of the
/// same coefficients, so that it is the same to the bit as if it had been decoded alone.
///
/// # Errors
/// See [`Refused`]. A file that is broken may be refused where a smaller size alone would not have come
/// upon the fault.
pub(crate) fn decode(bytes: &[u8], wanted: &Request<'_>) -> Result<Vec<Vec<Grid<u8>>>, Refused> {
    let mut segments = Segments::new(bytes)?;
    let frame = match segments.next()? {
        Segment::Frame(frame) => frame,
        Segment::Scan(_) | Segment::End => return Err(Refused::broken("it has no frame header")),
    };
    let held = bytes_held(bytes.len(), &frame, wanted.sizes);
    within("memory", held, wanted.memory)?;
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
        for (picture, grid) in pictures.iter_mut().zip(grids) {
            picture.push(grid);
        }
    }
    Ok(pictures)
}

/// Does a progressive file have every scan that this decoder needs, by its scan headers? Whatever is wrong
/// elsewhere is refused, and not left to libjpeg-turbo.
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

/// That are looked at in advance.
const MOST_SCANS: u32 = 200;

/// What a decode holds at most: the planes, a scan without its stuffing, and the coefficients that a
/// progressive image keeps between scans, or a lent core between its MCUs and ours.
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
