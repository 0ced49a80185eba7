//! Small files that would cause much work, made by arithmetic so that they need not be stored.
//!
//! Each function returns names and bytes; the names begin with the format.

pub(crate) mod avif;
mod bits;
pub(crate) mod jpeg;
pub(crate) mod others;
pub(crate) mod tiff;

/// Returns files that must be rejected, because of their header or before the work begins, each with its name. `image`
/// is an AVIF with one item, of this size.
pub(crate) fn refused(image: &[u8], size: (u32, u32)) -> Vec<(&'static str, Vec<u8>)> {
    let image = avif::AvifImage::of(image);
    [
        avif::refused(&image, size),
        tiff::refused(),
        others::refused(),
    ]
    .concat()
}

/// Returns files that may be decoded with the planned resources, each with its name. `image` is an AVIF with one item,
/// of this size.
pub(crate) fn bounded(image: &[u8], size: (u32, u32)) -> Vec<(&'static str, Vec<u8>)> {
    let image = avif::AvifImage::of(image);
    [
        avif::bounded(&image, size),
        tiff::bounded(),
        others::bounded(),
    ]
    .concat()
}
