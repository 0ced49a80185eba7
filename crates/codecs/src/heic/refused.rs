//! Stand-in decoder for builds without HEVC, which rejects every file.

use andon_pixels::{Decode, Error, Image, Info, Result};

use super::NAME;

pub(super) fn probe(_bytes: &[u8]) -> Result<Info> {
    Err(Error::unsupported(
        NAME,
        "HEVC (the package `andon-heic` reads it)",
    ))
}

pub(super) fn decode(bytes: &[u8], _info: &Info, _how: &Decode<'_>) -> Result<Image> {
    Err(match probe(bytes) {
        Err(error) => error,
        Ok(_) => Error::broken(NAME, "it was not probed"),
    })
}
