//! Where a JPEG ends, and whether everything up to there is whole.
//!
//! A scan that is cut and followed by anything can look whole from marker to marker, so its entropy-coded data are
//! followed to the last block; no sample is made. Behind the image there may be others that its MPF index
//! declares, such as the gain map of an Ultra HDR photograph: they belong to it if they follow at once, or behind
//! zeros, and are whole. Whatever else follows does not: the film of a motion photograph, a camera maker's own
//! data, and what somebody hid there.

use std::borrow::Cow;

use andon_pixels::{Decode, Error, Result};

use super::decode;
use super::header::markers::Header;
use super::header::mpf;
use super::header::walk::Walk;
use super::native::entropy;

/// What a file ends with.
pub(super) const END: &[u8] = &[0xff, EOI];

/// How many bytes from the beginning are the image and those that belong to it. Only its end marker may be missing.
///
/// # Errors
/// `Broken`, `Unsupported`, `Interrupted`.
pub(super) fn extent(bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
    let Found { end, index, ended } = walked(bytes)?;
    decodes(&bytes[..end], ended, how)?;
    let mut extent = end;
    let others = index.map_or_else(Vec::new, |at| mpf::images(bytes, at));
    for image in others {
        let gap = bytes.get(extent..image.start);
        let zeros = gap.is_some_and(|gap| gap.iter().all(|&byte| byte == 0));
        let Some(image_bytes) = bytes.get(image.clone()).filter(|_| zeros) else {
            break;
        };
        let whole = walked(image_bytes).and_then(|found| {
            decodes(&image_bytes[..found.end], found.ended, how).map(|()| found.end)
        });
        match whole {
            Ok(length) => extent = image.start + length,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => break,
        }
    }
    Ok(extent)
}

struct Found {
    /// Behind EOI, or behind the last scan of a file without it.
    end: usize,
    /// Where the header of an MPF index stands.
    index: Option<usize>,
    /// Is EOI there?
    ended: bool,
}

/// Goes from marker to marker up to the end of the image.
fn walked(bytes: &[u8]) -> Result<Found> {
    let broken = |why| Error::broken(super::NAME, why);
    let mut walk = Walk::new(bytes).ok_or_else(|| broken("it does not begin as one"))?;
    let (mut index, mut scanned) = (None, None);
    loop {
        match walk.marker() {
            None => break,
            Some(EOI) => {
                return Ok(Found {
                    end: walk.at(),
                    index,
                    ended: true,
                });
            }
            Some(SOI) => return Err(broken("a second image begins inside it")),
            Some(TEM | RST0..=RST7) => {}
            Some(marker) => {
                let Some(segment) = walk.segment() else {
                    break;
                };
                if marker == APP2 && segment.body.starts_with(mpf::SIGNATURE) {
                    index = Some(segment.start + mpf::SIGNATURE.len());
                }
                if marker == SOS {
                    walk.pass(entropy::length(walk.rest()));
                    scanned = Some(walk.at());
                }
            }
        }
    }
    let end = scanned.ok_or_else(|| broken("it ends before its first scan does"))?;
    Ok(Found {
        end,
        index,
        ended: false,
    })
}

/// The file with its end marker, if it may lack it: its last bytes are another's.
pub(super) fn ended(bytes: &[u8]) -> Cow<'_, [u8]> {
    let walked = (!bytes.ends_with(END)).then(|| walked(bytes));
    match walked {
        Some(Ok(Found { end, .. })) if !bytes[..end].ends_with(END) => {
            Cow::Owned([&bytes[..end], END].concat())
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// Are all pixels there? A kind that nobody here decodes, or an image over the limits, is taken to be where its end is.
fn decodes(bytes: &[u8], ended: bool, how: &Decode<'_>) -> Result<()> {
    let checked = Header::read(bytes).and_then(|header| decode::check(bytes, &header, how));
    match checked {
        Err(Error::Unsupported { .. } | Error::Limit { .. }) if ended => Ok(()),
        checked => checked,
    }
}

const TEM: u8 = 0x01;
const RST0: u8 = 0xd0;
const RST7: u8 = 0xd7;
const SOI: u8 = 0xd8;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;
const APP2: u8 = 0xe2;
