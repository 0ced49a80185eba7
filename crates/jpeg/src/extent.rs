//! Finds where a JPEG ends without decoding it.

use std::borrow::Cow;

use crate::codes::{APP2, EOI, RST0, RST7, SOI, SOS, TEM};
use crate::error::{Error, Result};
use crate::header::walk::Walk;
use crate::header::{coded_length, mpf};
use crate::segments::END;

/// The end of an image in a file, judging by its markers. A scan that was cut short and is followed by other data can
/// look complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Offset of the first byte after EOI, or after the last scan of a file without EOI.
    pub end: usize,
    /// Offset of the header of the MPF index (`Multi-Picture Format`), which lists further images in the file, in bytes.
    /// `None` if there is no such index.
    pub index: Option<usize>,
    /// Whether EOI is present.
    pub ended: bool,
}

/// Finds the end of the image by walking from marker to marker, without decoding.
///
/// # Errors
/// `Broken` if the file ends before its first scan does, or another image begins inside it.
pub fn extent(bytes: &[u8]) -> Result<Extent> {
    let mut walk = Walk::new(bytes).ok_or(Error::Broken("it does not begin as one"))?;
    let (mut index, mut scanned) = (None, None);
    loop {
        match walk.marker() {
            None => break,
            Some(EOI) => {
                return Ok(Extent {
                    end: walk.at(),
                    index,
                    ended: true,
                });
            }
            Some(SOI) => return Err(Error::Broken("a second image begins inside it")),
            Some(TEM | RST0..=RST7) => {}
            Some(marker) => {
                let Some(segment) = walk.segment() else {
                    break;
                };
                if marker == APP2 && segment.body.starts_with(mpf::SIGNATURE) {
                    index = Some(segment.start + mpf::SIGNATURE.len());
                }
                if marker == SOS {
                    walk.pass(coded_length(walk.rest()));
                    scanned = Some(walk.at());
                }
            }
        }
    }
    let end = scanned.ok_or(Error::Broken("it ends before its first scan does"))?;
    Ok(Extent {
        end,
        index,
        ended: false,
    })
}

/// Returns the file cut after its last scan and completed by an end marker if it has none, otherwise unchanged. A file
/// that does not end with EOI may contain one, followed by other data.
#[must_use]
pub fn completed(bytes: &[u8]) -> Cow<'_, [u8]> {
    let extent = (!bytes.ends_with(END)).then(|| extent(bytes));
    match extent {
        Some(Ok(Extent { end, .. })) if !bytes[..end].ends_with(END) => {
            Cow::Owned([&bytes[..end], END].concat())
        }
        _ => Cow::Borrowed(bytes),
    }
}
