//! Finds where a JPEG ends, and checks that everything up to there is complete.
//!
//! A truncated scan followed by other data can look complete from marker to marker, so the entropy-coded data are
//! followed to the last block, without making full-size samples. Further images that the MPF index declares, such as
//! the gain map of an Ultra HDR photograph, belong to the file if they are complete and follow at once or after zeros
//! only. Anything else that follows does not: the video of a motion photo, a camera maker's own data, or hidden data.

use andon_jpeg::header::mpf;
use andon_jpeg::{Extent, extent as walked};
use andon_pixels::{Decode, Error, Result};

use super::{decode, error, header};

/// Returns how many bytes from the beginning belong to the image and the further images of its index. Nothing but an
/// end marker may be missing.
///
/// # Errors
/// `Broken`, `Unsupported`, `Interrupted`.
pub(super) fn extent(bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
    let (mut extent, index) = whole(bytes, how)?;
    let others = index.map_or_else(Vec::new, |at| mpf::images(bytes, at));
    for image in others {
        let gap = bytes.get(extent..image.start);
        let zeros = gap.is_some_and(|gap| gap.iter().all(|&byte| byte == 0));
        let Some(image_bytes) = bytes.get(image.clone()).filter(|_| zeros) else {
            break;
        };
        match whole(image_bytes, how) {
            Ok((length, _)) => extent = image.start + length,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => break,
        }
    }
    Ok(extent)
}

/// Returns where one image ends, and the offset of its MPF index, if all of its pixels are there. An image of an
/// unsupported kind or over the limits is taken to be complete if it has an end marker.
fn whole(bytes: &[u8], how: &Decode<'_>) -> Result<(usize, Option<usize>)> {
    let Extent { end, index, ended } = walked(bytes).map_err(error)?;
    let bytes = &bytes[..end];
    match header(bytes).and_then(|header| decode::check(bytes, &header, how)) {
        Err(Error::Unsupported { .. } | Error::Limit { .. }) if ended => {}
        checked => checked?,
    }
    Ok((end, index))
}
