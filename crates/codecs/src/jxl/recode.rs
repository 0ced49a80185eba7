//! Converts a JPEG to a JPEG XL and back without decoding it: its coefficients are compressed differently, and the JPEG
//! can be restored byte for byte.

use andon_pixels::{Cost, Decode, Error, Info, Model, Result};

use super::boxes::Container;
use super::encode::DEFAULT_EFFORT;
use super::ffi::{self, Encoder};
use super::{JPEG, NAME};
use crate::guard;

/// Returns whether the file can be converted to format `to` without decoding: a JPEG with one or three components to
/// JPEG XL, or a JPEG XL that was made from a JPEG back to JPEG.
pub(super) fn recodes(bytes: &[u8], info: &Info, to: &str) -> bool {
    match (info.format, to) {
        (JPEG, NAME) => matches!(info.model, Model::Gray | Model::YCbCr { .. }),
        (NAME, JPEG) => Container::read(bytes).is_ok_and(|container| container.jpeg),
        _ => false,
    }
}

/// Converts the file to format `to`. Returns `None` if libjxl does not support it, for example a JPEG with arithmetic
/// coding.
pub(super) fn recode(
    bytes: &[u8],
    info: &Info,
    to: &str,
    how: &Decode<'_>,
) -> Result<Option<Vec<u8>>> {
    guard::size(info.width, info.height, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let most = memory(bytes.len() as u64, info);
    if to == JPEG {
        return ffi::jpeg(bytes, most, how.interrupt);
    }
    let mut encoder = Encoder::new(most, DEFAULT_EFFORT, how.interrupt)?;
    if !encoder.jpeg(bytes)? {
        return Ok(None);
    }
    encoder.close();
    match encoder.process() {
        Ok(()) => Ok(Some(encoder.take())),
        Err(Error::Broken { .. } | Error::Internal(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Estimates the cost of converting a JPEG to a JPEG XL or back without decoding it, measured with photos on one core.
pub(super) fn cost(bytes: u64, info: &Info) -> Cost {
    Cost {
        nanos: info.pixels() * NANOS_PER_PIXEL + bytes * NANOS_PER_BYTE,
        scratch: memory(bytes, info),
    }
}

/// Returns the limit in bytes on the memory that libjxl may allocate for the conversion: for the coefficients as JPEG
/// and JPEG XL store them, for tokens, and for the compression of the JPEG's headers.
fn memory(bytes: u64, info: &Info) -> u64 {
    info.pixels() * BYTES_PER_PIXEL + bytes * BYTES_PER_BYTE + LEAST_BYTES
}

const NANOS_PER_PIXEL: u64 = 8;
const NANOS_PER_BYTE: u64 = 60;
const BYTES_PER_PIXEL: u64 = 40;
const BYTES_PER_BYTE: u64 = 6;
const LEAST_BYTES: u64 = 32 << 20;
