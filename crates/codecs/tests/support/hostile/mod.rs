//! Files that are small and ask for much work: made here, so that nobody has to keep them, and by arithmetic alone.
//!
//! Each function gives names and bytes; the names begin with the format.

pub(crate) mod avif;
mod bits;
pub(crate) mod jpeg;
pub(crate) mod others;
pub(crate) mod tiff;

/// What must be refused, by its header or before the work begins. `picture` is an AVIF of one item, of this size.
pub(crate) fn refused(image: &[u8], size: (u32, u32)) -> Vec<(&'static str, Vec<u8>)> {
    let image = avif::Picture::of(image);
    [
        avif::refused(&image, size),
        tiff::refused(),
        others::refused(),
    ]
    .concat()
}

/// What may be decoded, within what is planned for it.
pub(crate) fn bounded(image: &[u8], size: (u32, u32)) -> Vec<(&'static str, Vec<u8>)> {
    let image = avif::Picture::of(image);
    [
        avif::bounded(&image, size),
        tiff::bounded(),
        others::bounded(),
    ]
    .concat()
}
