//! Encodes planes without a colour conversion. Our own encoder writes gray and YCbCr in one scan; libjpeg-turbo
//! converts these files to progressive ones, and writes CMYK.

#[cfg(test)]
mod tests;

use andon_jpeg::encode::{LONGEST_SIDE, MOST_EXIF_BYTES, Options};
use andon_jpeg::header::Colour;
use andon_pixels::{
    Bound, Cores, Depth, Encode, Error, Frame, Grid, Image, Interrupt, Matrix, Model, Plane, Range,
    Result, Subsampling, Traits, block_of_orientation, orientation_of,
};

use super::error;
use super::turbo::ffi;
use crate::guard;

/// Returns the traits to which a frame must be converted: JPEG stores gray, YCbCr and CMYK, without opacity.
pub(super) fn accepts(have: Traits, how: &Encode) -> Traits {
    let model = match have.model {
        Model::Gray => Model::Gray,
        Model::Cmyk => Model::Cmyk,
        Model::Rgb | Model::YCbCr { .. } => Model::ycbcr(subsampling(how)),
    };
    Traits::new(model, Depth::U8)
}

/// Encodes the first frame.
///
/// # Errors
/// `Limit` if a side is too long for the format, `Interrupted`, and `Internal` for frames that [`accepts`] would have
/// changed.
pub(super) fn encode(
    image: &Image,
    how: &Encode,
    cores: &dyn Cores,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let frame = &image.frame;
    guard::at_most(
        Bound::SIDE,
        frame.width.max(frame.height).into(),
        LONGEST_SIDE.into(),
    )?;
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
    let exif = image.metadata.exif.as_deref().unwrap_or_default();
    let turned;
    let exif = match exif.len() > MOST_EXIF_BYTES && !orientation_of(exif).is_upright() {
        // The EXIF block does not fit into a segment. Only its orientation is written.
        true => {
            turned = block_of_orientation(orientation_of(exif));
            &turned
        }
        false => exif,
    };
    let icc = image.metadata.icc.as_deref().unwrap_or_default();
    let quality = quality(how);
    if colour == Colour::Cmyk {
        return ffi::write(&ffi::Writing {
            width: frame.width,
            height: frame.height,
            planes: &grids,
            quality,
            progressive: how.progressive,
            exif,
            icc,
            interrupt,
        });
    }
    let planes = grids.into_iter().map(|grid| andon_jpeg::Plane {
        width: grid.width(),
        height: grid.height(),
        samples: Samples(grid.clone()),
    });
    let image = andon_jpeg::Image {
        planes: planes.collect(),
        sub: andon_jpeg::Subsampling { h: sub.h, v: sub.v },
    };
    let in_one_scan = |exif, icc| {
        let options = Options {
            quality,
            exif,
            icc,
            interrupted: &|| interrupt.interrupted(),
            cores,
        };
        andon_jpeg::encode::encode(image, &options).map_err(error)
    };
    match how.progressive {
        false => in_one_scan(exif, icc),
        true => ffi::progressive(&ffi::Rewriting {
            file: &in_one_scan(&[], &[])?,
            exif,
            icc,
            interrupt,
        }),
    }
}

/// A plane's samples, shared between the encoder and the frame.
struct Samples(Grid<u8>);

impl AsRef<[u8]> for Samples {
    fn as_ref(&self) -> &[u8] {
        self.0.samples()
    }
}

/// Returns the quality for the file, 1 to 100.
pub(super) fn quality(how: &Encode) -> u8 {
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

/// Whether a file with this subsampling can be written.
fn is_writable(sub: Subsampling) -> bool {
    andon_jpeg::Subsampling { h: sub.h, v: sub.v }.is_writable()
}

fn unfit(frame: &Frame) -> Error {
    Error::Internal(format!("a frame that JPEG cannot hold: {:?}", frame.model))
}

/// Quality if none is requested.
pub(super) const DEFAULT_QUALITY: u8 = 92;
/// Quality from which chroma is not subsampled by default. Below it, the missing chroma samples are not visible.
const FINE_CHROMA_FROM: u8 = 90;
