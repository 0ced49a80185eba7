//! Decoding with libjpeg-turbo: every plane at one scale.

use andon_pixels::{Decode, Error, Frame, Grid, Image, Metadata, Plane, Result};

use super::ffi;
use super::layout::Layout;
use super::markers::Header;
use crate::guard;

/// Decodes at `how.scales.luma`, which chroma shares.
///
/// # Errors
/// `Broken` for files cut short or damaged in a way that shows; `Unsupported`, `Limit`, `Interrupted`.
pub(crate) fn decode(bytes: &[u8], header: &Header, how: &Decode<'_>) -> Result<Image> {
    let scale = how.scales.luma;
    if how.scales.chroma != scale || !matches!(scale.0, 1 | 2 | 4 | 8) {
        return Err(Error::Internal(format!(
            "libjpeg was asked for luma at {}/8 and chroma at {}/8",
            scale.0, how.scales.chroma.0
        )));
    }
    let layout = Layout::of(header)?;
    guard::size(header.width, header.height, how.limits)?;
    guard::wanted(how.interrupt)?;
    let metadata = metadata(bytes, header, how)?;

    let (width, height) = (scale.of(header.width), scale.of(header.height));
    let sizes =
        (0..layout.model.planes()).map(|index| layout.model.plane_size(index, width, height));
    let result: u64 = sizes
        .clone()
        .map(|(w, h)| u64::from(w) * u64::from(h))
        .sum();
    let scratch = scratch_bytes(header);
    guard::at_most("memory", result.saturating_add(scratch), how.limits.memory)?;

    let mut grids: Vec<Grid<u8>> = sizes.map(|(w, h)| Grid::filled(w, h, 0)).collect();
    let reading = ffi::Reading {
        bytes,
        header,
        colour: layout.colour,
        raw: layout.raw,
        eighths: scale.0,
        scans: how.limits.scans,
        memory: how.limits.memory - result,
        interrupt: how.interrupt,
    };
    ffi::read(&reading, &mut grids)?;
    if layout.inverted {
        for sample in grids.iter_mut().flat_map(Grid::samples_mut) {
            *sample = 255 - *sample;
        }
    }
    let planes = grids.into_iter().map(Plane::U8).collect();
    Ok(Image {
        metadata,
        ..Image::still(Frame::new(layout.model, width, height, planes, None))
    })
}

/// What a decode holds beside its planes.
pub(crate) fn scratch_bytes(header: &Header) -> u64 {
    if header.holds_coefficients() {
        header.coefficient_bytes()
    } else {
        BASE_BYTES
    }
}

/// Tables, one band of MCUs, and libjpeg's pools: measured, generously rounded.
const BASE_BYTES: u64 = 1 << 20;

fn metadata(bytes: &[u8], header: &Header, how: &Decode<'_>) -> Result<Metadata> {
    if !how.keep_metadata {
        return Ok(Metadata::default());
    }
    let icc_bytes: usize = header.icc.iter().map(|chunk| chunk.2.len()).sum();
    guard::at_most(
        "metadata_bytes",
        icc_bytes as u64,
        how.limits.metadata_bytes,
    )?;
    let exif = header.exif.clone().and_then(|range| bytes.get(range));
    Ok(Metadata {
        icc: header.icc_profile(bytes),
        exif: exif.map(<[u8]>::to_vec),
    })
}
