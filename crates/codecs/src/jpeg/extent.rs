//! Finds the end of a JPEG, and checks that everything before it is complete.
//!
//! A truncated scan followed by other data can look complete from marker to marker, so the entropy-coded data are
//! decoded up to the last block, without making full-size samples. Further images that the MPF index declares, such as
//! the gain map of an Ultra HDR photo, belong to the file if they are complete and follow directly or after zeros only.
//! Other data that follow do not belong to it: the video of a motion photo, a camera maker's own data, or hidden data.

use andon_jpeg::header::mpf;
use andon_jpeg::{Extent, extent as walked};
use andon_pixels::{Decode, Error, Result};

use super::{decode, error, header};

/// Returns the length in bytes of the image, and of the further images in its MPF index that are complete and follow
/// directly or after zeros. Of the image, only the end marker may be missing.
///
/// # Errors
/// `Broken`, `Interrupted`; `Unsupported` and `Limit` only if the end marker is missing, too.
pub(super) fn extent(bytes: &[u8], how: &Decode<'_>) -> Result<usize> {
    let (mut extent, index) = complete_image(bytes, how)?;
    let further_images = index.map_or_else(Vec::new, |at| mpf::images(bytes, at));
    for image in further_images {
        let gap = bytes.get(extent..image.start);
        let zeros = gap.is_some_and(|gap| gap.iter().all(|&byte| byte == 0));
        let Some(image_bytes) = bytes.get(image.clone()).filter(|_| zeros) else {
            break;
        };
        match complete_image(image_bytes, how) {
            Ok((length, _)) => extent = image.start + length,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => break,
        }
    }
    Ok(extent)
}

/// Checks that all pixels of the image at the beginning of `bytes` are present. Returns the offset of the image's end,
/// and that of its MPF index, if it has one. An image of an unsupported kind or over the limits counts as complete if
/// it has an end marker.
fn complete_image(bytes: &[u8], how: &Decode<'_>) -> Result<(usize, Option<usize>)> {
    let Extent { end, index, ended } = walked(bytes).map_err(error)?;
    let bytes = &bytes[..end];
    match header(bytes).and_then(|header| decode::check(bytes, &header, how)) {
        Err(Error::Unsupported { .. } | Error::Limit { .. }) if ended => {}
        checked => checked?,
    }
    Ok((end, index))
}
