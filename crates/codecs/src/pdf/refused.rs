//! Replacement for `draw` in builds without a PDF interpreter: every call is an error.

use andon_pixels::{Decode, Error, Image, Info, Result};

use super::NAME;

pub(super) fn probe(_bytes: &[u8]) -> Result<Info> {
    Err(missing())
}

pub(super) fn draw(
    _bytes: &[u8],
    _info: &Info,
    _how: &Decode<'_>,
    _size: (u32, u32),
) -> Result<Image> {
    Err(missing())
}

fn missing() -> Error {
    Error::unsupported(
        NAME,
        "pages (builds with the cargo feature `pdf` read them)",
    )
}
