//! Encoding with libjpeg-turbo, from planes as they are.

use andon_pixels::{
    Depth, Encode, Error, Frame, Grid, Image, Interrupt, Matrix, Model, Plane, Range, Result,
    Subsampling, Traits,
};

use super::ffi;
use crate::guard;
use crate::jpeg::header::layout::Colour;

/// What a frame must be turned into: JPEG holds gray, YCbCr and CMYK, without alpha.
pub(crate) fn accepts(have: Traits, how: &Encode) -> Traits {
    let model = match have.model {
        Model::Gray => Model::Gray,
        Model::Cmyk => Model::Cmyk,
        Model::Rgb | Model::YCbCr { .. } => Model::ycbcr(subsampling(how)),
    };
    Traits::new(model, Depth::U8)
}

/// Writes the first frame.
///
/// # Errors
/// `Limit` when a side is too long for the format, `Interrupted`, and `Internal` for frames that
/// [`accepts`] would have changed.
pub(crate) fn encode(image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = image
        .frames
        .first()
        .ok_or_else(|| Error::Internal("an image without frames".into()))?;
    guard::at_most("side", frame.width.max(frame.height).into(), LONGEST_SIDE)?;
    let (colour, sub) = match frame.model {
        Model::Gray => (Colour::Gray, Subsampling::NONE),
        Model::YCbCr {
            sub,
            range: Range::Full,
            matrix: Matrix::Bt601,
        } if is_writable(sub) => (Colour::YCbCr, sub),
        Model::Cmyk => (Colour::Cmyk, Subsampling::NONE),
        _ => return Err(unfit(frame)),
    };
    if frame.alpha.is_some() {
        return Err(unfit(frame));
    }
    let grids: Option<Vec<&Grid<u8>>> = frame.planes.iter().map(Plane::as_u8).collect();
    let grids = grids.ok_or_else(|| unfit(frame))?;
    let planes: Vec<_> = grids
        .into_iter()
        .enumerate()
        .map(|(index, grid)| {
            if index == 0 {
                (grid, sub.h, sub.v)
            } else {
                (grid, 1, 1)
            }
        })
        .collect();
    let exif = image.metadata.exif.as_deref().unwrap_or_default();
    let icc = image.metadata.icc.as_deref().unwrap_or_default();
    ffi::write(&ffi::Writing {
        width: frame.width,
        height: frame.height,
        colour,
        planes: &planes,
        quality: quality(how),
        progressive: how.progressive,
        invert: colour == Colour::Cmyk,
        exif,
        icc,
        interrupt,
    })
}

/// The quality that is written: 1 to 100.
fn quality(how: &Encode) -> u8 {
    how.quality.unwrap_or(DEFAULT_QUALITY).clamp(1, 100)
}

fn subsampling(how: &Encode) -> Subsampling {
    match how.chroma {
        Some(asked) if is_writable(asked) => asked,
        Some(_) => Subsampling::C420,
        None if quality(how) >= FINE_CHROMA_FROM => Subsampling::NONE,
        None => Subsampling::C420,
    }
}

/// T.81 allows ten blocks in an MCU, of which Cb and Cr take two.
fn is_writable(sub: Subsampling) -> bool {
    let possible = |factor| matches!(factor, 1 | 2 | 4);
    possible(sub.h) && possible(sub.v) && sub.h * sub.v <= 8
}

fn unfit(frame: &Frame) -> Error {
    Error::Internal(format!("a frame that JPEG cannot hold: {:?}", frame.model))
}

/// libjpeg's own ceiling, a little below the format's.
const LONGEST_SIDE: u64 = 65_500;
/// What the module writes when nothing else is known.
pub(in crate::jpeg) const DEFAULT_QUALITY: u8 = 92;
/// Below it the eye does not miss half of the colour samples.
const FINE_CHROMA_FROM: u8 = 90;
