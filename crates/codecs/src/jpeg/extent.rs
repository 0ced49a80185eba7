//! Finds where a JPEG ends, and checks that everything up to there is complete.
//!
//! A truncated scan followed by other data can look complete from marker to marker, so the entropy-coded data are
//! followed to the last block, without making full-size samples. Further images that the MPF index declares, such as
//! the gain map of an Ultra HDR photograph, belong to the file if they are complete and follow at once or after zeros
//! only. Anything else that follows does not: the video of a motion photo, a camera maker's own data, or hidden data.

use std::borrow::Cow;

use andon_pixels::{Decode, Error, Result};

use super::decode;
use super::header::markers::Header;
use super::header::mpf;
use super::header::walk::Walk;
use super::native::entropy;

/// The end marker (EOI) of a file.
pub(super) const END: &[u8] = &[0xff, EOI];

/// Returns how many bytes from the beginning belong to the image and the further images of its index. Nothing but an
/// end marker may be missing.
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
    /// The offset behind EOI, or behind the last scan of a file without EOI.
    end: usize,
    /// The offset of the MPF index's header.
    index: Option<usize>,
    /// Whether EOI is present.
    ended: bool,
}

/// Walks from marker to marker to the end of the image.
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

/// Returns the file cut behind its last scan and completed by an end marker if it has none, otherwise unchanged. A file
/// that does not end with EOI may have one before trailing data.
pub(super) fn ended(bytes: &[u8]) -> Cow<'_, [u8]> {
    let walked = (!bytes.ends_with(END)).then(|| walked(bytes));
    match walked {
        Some(Ok(Found { end, .. })) if !bytes[..end].ends_with(END) => {
            Cow::Owned([&bytes[..end], END].concat())
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// Checks that all pixels are there. An image of an unsupported kind or over the limits is taken to be complete if its
/// end marker was found (`ended`).
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
