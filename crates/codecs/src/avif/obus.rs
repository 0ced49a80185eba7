//! The units of an AV1 bitstream (OBUs, AV1 §5.3), read only as far as needed to count the frames to decode. The number
//! of bytes does not distinguish shown frames from hidden ones, and rav1d decodes all of them.

use andon_pixels::{Error, Result};

/// The format's name, as used in errors and recipes.
pub(super) const NAME: &str = "avif";

/// Iterator over the OBUs of a bitstream. The last one may be cut off.
#[derive(Clone, Debug, Default)]
pub(super) struct Obus<'a> {
    rest: &'a [u8],
}

/// One OBU of a bitstream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obu<'a> {
    kind: u8,
    /// All bytes of the OBU, including its header.
    pub(super) whole: &'a [u8],
}

impl<'a> Obus<'a> {
    pub(super) fn of(bitstream: &'a [u8]) -> Self {
        Self { rest: bitstream }
    }
}

impl<'a> Iterator for Obus<'a> {
    type Item = Obu<'a>;

    fn next(&mut self) -> Option<Obu<'a>> {
        let whole = self.rest;
        let (&head, mut rest) = whole.split_first()?;
        if head & HAS_EXTENSION != 0 {
            rest = rest.get(1..).unwrap_or_default();
        }
        let length = match head & HAS_LENGTH {
            0 => None,
            _ => leb128(&mut rest),
        };
        let length = length.unwrap_or(rest.len()).min(rest.len());
        self.rest = &rest[length..];
        Some(Obu {
            kind: head >> 3 & 15,
            whole: &whole[..whole.len() - self.rest.len()],
        })
    }
}

impl Obu<'_> {
    /// Returns whether the OBU affects decoding. Metadata, padding and reserved OBUs change no sample.
    pub(super) fn matters(&self) -> bool {
        matches!(
            self.kind,
            SEQUENCE_HEADER | DELIMITER | FRAME_HEADER | TILE_GROUP | FRAME | REDUNDANT_HEADER
        )
    }
}

/// The amount of decoding that a bitstream takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Number of frames that are decoded or shown again.
    pub(super) frames: u32,
    /// Number of OBUs.
    units: u32,
}

impl Work {
    /// Counts the frames and OBUs of one image, which is an item or a sample of a track.
    ///
    /// # Errors
    /// `Broken` if there are more frames or OBUs than any encoder writes for one image.
    pub(super) fn of(bitstream: &[u8]) -> Result<Self> {
        let too_many = |most: u32, what: &str| {
            let why = format!("one of its images consists of more than {most} {what}");
            Err(Error::broken(NAME, why))
        };
        let mut work = Self::default();
        for obu in Obus::of(bitstream) {
            work.units += 1;
            // A redundant header is a copy of an earlier one and decodes nothing, but it counts in case the earlier one
            // is missing.
            work.frames += u32::from(matches!(obu.kind, FRAME | FRAME_HEADER | REDUNDANT_HEADER));
            if work.frames > MOST_FRAMES {
                return too_many(MOST_FRAMES, "coded frames");
            }
            if work.units > MOST_UNITS {
                return too_many(MOST_UNITS, "OBUs");
            }
        }
        Ok(work)
    }
}

/// Maximum number of frames in one image. Encoders of sequences write up to half a dozen hidden frames ahead, layered
/// images have up to four, and later frames can refer to at most eight.
pub(super) const MOST_FRAMES: u32 = 16;

/// Maximum number of OBUs in one image. Most of them are tile groups, of which there are at most 4096.
const MOST_UNITS: u32 = 1 << 13;

const HAS_EXTENSION: u8 = 4;
const HAS_LENGTH: u8 = 2;

const SEQUENCE_HEADER: u8 = 1;
const DELIMITER: u8 = 2;
const FRAME_HEADER: u8 = 3;
const TILE_GROUP: u8 = 4;
const FRAME: u8 = 6;
const REDUNDANT_HEADER: u8 = 7;

/// Reads a LEB128 number: groups of seven bits, the lowest first.
fn leb128(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0_u64;
    for shift in 0..8 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << (7 * shift);
        if byte & 128 == 0 {
            return usize::try_from(value).ok();
        }
    }
    None
}
