//! From planes to a GIF of one frame.

use std::borrow::Cow;

use andon_pixels::{Cost, Encode, Error, Frame, Grid, Image, Interrupt, Model, Plane, Result};

use super::palette::Picture;
use super::rows::stored_order;
use crate::guard;

/// Writes the first frame.
pub(super) fn encode(image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = image
        .frames
        .first()
        .ok_or_else(|| Error::Internal("an image without frames".to_owned()))?;
    let (width, height) = (side(frame.width)?, side(frame.height)?);
    let indexed = picture(frame)?.index(interrupt)?;
    guard::wanted(interrupt)?;

    let indices = if how.progressive {
        let rows: Vec<&[u8]> = indexed.indices.chunks_exact(usize::from(width)).collect();
        stored_order(frame.height, true)
            .flat_map(|y| rows[y as usize])
            .copied()
            .collect()
    } else {
        indexed.indices
    };
    let mut out = Vec::new();
    let mut encoder =
        gif::Encoder::new(&mut out, width, height, &indexed.palette).map_err(internal)?;
    encoder
        .write_frame(&gif::Frame {
            width,
            height,
            interlaced: how.progressive,
            transparent: indexed.transparent,
            buffer: Cow::Owned(indices),
            ..gif::Frame::default()
        })
        .map_err(internal)?;
    drop(encoder);
    Ok(out)
}

/// Measured on photographs, one core: the palette is fitted to a sample of limited size.
pub(super) fn cost(width: u32, height: u32) -> Cost {
    let pixels = u64::from(width) * u64::from(height);
    Cost {
        nanos: PALETTE_NANOS + pixels * NANOS_PER_PIXEL,
        // Indices, their reordered copy, and the LZW stream beside the result.
        scratch: pixels * 4 + TABLE_BYTES,
    }
}

const PALETTE_NANOS: u64 = 10_000_000;
const NANOS_PER_PIXEL: u64 = 65;
const TABLE_BYTES: u64 = 2 << 20;

fn side(length: u32) -> Result<u16> {
    guard::at_most("gif_side", u64::from(length), u64::from(u16::MAX))?;
    Ok(length as u16)
}

fn picture(frame: &Frame) -> Result<Picture<'_>> {
    let wrong = || Error::Internal(format!("GIF was handed {:?}", frame.model));
    let planes: Option<Vec<&Grid<u8>>> = frame.planes.iter().map(Plane::as_u8).collect();
    let rgb = planes
        .filter(|_| frame.model == Model::Rgb)
        .and_then(|planes| planes.try_into().ok())
        .ok_or_else(wrong)?;
    let alpha = frame
        .alpha
        .as_ref()
        .map(|plane| plane.as_u8().ok_or_else(wrong))
        .transpose()?;
    Ok(Picture { rgb, alpha })
}

/// Writing to memory fails only when the encoder was used wrongly.
fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(format!("GIF encoder: {error}"))
}
