//! Checks of limits and interrupts that all codecs share, with the same error messages.

use andon_pixels::{Bound, Decode, Error, Info, Interrupt, Limits, Metadata, Result};

/// Refuses an image that is not the one that was probed, or that is larger than the limits allow.
pub(crate) fn probed(width: u32, height: u32, info: &Info, limits: &Limits) -> Result<()> {
    if (width, height) != (info.width, info.height) {
        return Err(Error::Internal(
            "these are not the bytes that were probed".to_owned(),
        ));
    }
    size(width, height, limits)
}

/// Refuses an image whose header declares more than the limits allow.
pub(crate) fn size(width: u32, height: u32, limits: &Limits) -> Result<()> {
    at_most(
        Bound::SIDE,
        u64::from(width.max(height)),
        u64::from(limits.side),
    )?;
    at_most(
        Bound::PIXELS,
        u64::from(width) * u64::from(height),
        limits.pixels,
    )
}

/// Refuses an image with a side of more than `most` px, which a file of the format cannot hold.
pub(crate) fn side(format: &'static str, width: u32, height: u32, most: u64) -> Result<()> {
    let bound = Bound::of_format(format, "side", "px");
    at_most(bound, width.max(height).into(), most)
}

/// Refuses a value over its limit.
pub(crate) fn at_most(bound: Bound, value: u64, limit: u64) -> Result<()> {
    if value > limit {
        return Err(Error::Limit {
            bound,
            value,
            limit,
        });
    }
    Ok(())
}

/// Refuses a block of metadata that is longer than the limits allow.
pub(crate) fn metadata(length: usize, most: u64) -> Result<()> {
    at_most(Bound::METADATA_BYTES, length as u64, most)
}

/// Returns the metadata that `read` returns, which gets the most bytes that a block may have, if metadata are to be kept.
/// Otherwise nothing is read.
pub(crate) fn kept(
    how: &Decode<'_>,
    read: impl FnOnce(u64) -> Result<Metadata>,
) -> Result<Metadata> {
    match how.keep_metadata {
        true => read(how.limits.metadata_bytes),
        false => Ok(Metadata::default()),
    }
}

/// Returns an ICC profile as the only metadata, if metadata are to be kept.
pub(crate) fn profile(icc: Option<&[u8]>, how: &Decode<'_>) -> Result<Metadata> {
    kept(how, |most| {
        metadata(icc.map_or(0, <[u8]>::len), most)?;
        Ok(Metadata {
            icc: icc.map(Into::into),
            ..Metadata::default()
        })
    })
}

/// Fails with `Interrupted` if the result is no longer wanted.
pub(crate) fn wanted(interrupt: &dyn Interrupt) -> Result<()> {
    if interrupt.interrupted() {
        return Err(Error::Interrupted);
    }
    Ok(())
}
