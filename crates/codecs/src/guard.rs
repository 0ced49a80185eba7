//! Checks of limits and interrupts for all codecs, with uniform error messages.

use andon_pixels::{Bound, Decode, Error, Info, Interrupt, Limits, Metadata, Result};

/// Checks that an image has the size in `info`, which was read by probing the same bytes, and that this size is within
/// the limits.
///
/// # Errors
/// `Limit`; `Internal` for a different size.
pub(crate) fn check_probed(width: u32, height: u32, info: &Info, limits: &Limits) -> Result<()> {
    if (width, height) != (info.width, info.height) {
        return Err(Error::Internal(
            "these are not the bytes that were probed".to_owned(),
        ));
    }
    size(width, height, limits)
}

/// Checks the size in an image's header.
///
/// # Errors
/// `Limit` if it is larger than the limits allow.
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

/// Checks that no side of an image has more than `most` px, the maximum of the format.
///
/// # Errors
/// `Limit`.
pub(crate) fn side(format: &'static str, width: u32, height: u32, most: u64) -> Result<()> {
    let bound = Bound::of_format(format, "side", "px");
    at_most(bound, width.max(height).into(), most)
}

/// Checks a value against its limit.
///
/// # Errors
/// `Limit` if it is larger.
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

/// Checks the length in bytes of a block of metadata.
///
/// # Errors
/// `Limit` if it is longer than `most`.
pub(crate) fn metadata(length: usize, most: u64) -> Result<()> {
    at_most(Bound::METADATA_BYTES, length as u64, most)
}

/// Returns the metadata from `read`, or no metadata if `how` discards them. The argument of `read` is the maximum
/// length of a block in bytes.
pub(crate) fn read_metadata(
    how: &Decode<'_>,
    read: impl FnOnce(u64) -> Result<Metadata>,
) -> Result<Metadata> {
    match how.keep_metadata {
        true => read(how.limits.metadata_bytes),
        false => Ok(Metadata::default()),
    }
}

/// Returns metadata that contain only an ICC profile, or no metadata if `how` discards them.
pub(crate) fn profile(icc: Option<&[u8]>, how: &Decode<'_>) -> Result<Metadata> {
    read_metadata(how, |most| {
        metadata(icc.map_or(0, <[u8]>::len), most)?;
        Ok(Metadata {
            icc: icc.map(Into::into),
            ..Metadata::default()
        })
    })
}

/// Checks whether the result is still needed.
///
/// # Errors
/// `Interrupted` if it is not.
pub(crate) fn check_interrupt(interrupt: &dyn Interrupt) -> Result<()> {
    if interrupt.interrupted() {
        return Err(Error::Interrupted);
    }
    Ok(())
}
