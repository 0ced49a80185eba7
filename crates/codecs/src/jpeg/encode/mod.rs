//! Encodes planes as they are: gray and YCbCr in one scan by our own encoder, CMYK and progressive files by
//! libjpeg-turbo.
//!
//! Our encoder follows jpegli (Google, 2024): what costs bits but is hardly visible is not written. Weak coefficients
//! are set to 0, the more so the higher their frequency ([`steps`]) and the more activity surrounds them
//! ([`activity`]). It takes two passes, so that the Huffman tables fit the image ([`huffman`]).

mod activity;
mod bands;
mod bits;
mod blocks;
mod file;
mod huffman;
mod scan;
mod steps;
#[cfg(test)]
mod tests;

use andon_pixels::{
    Bound, Cores, Depth, Encode, Error, Frame, Grid, Image, Interrupt, Matrix, Model, Plane, Range,
    Result, Subsampling, Traits, block_of_orientation, orientation_of,
};

use self::bands::Parts;
use self::huffman::{Counts, Table};
use self::scan::{Band, Scan, Tables};
use super::header::layout::Colour;
use super::header::quality::Table as Steps;
use super::tables::tables;
use super::turbo::ffi;
use crate::guard;

/// Returns what a frame must be converted to: JPEG holds gray, YCbCr and CMYK, without alpha.
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
        LONGEST_SIDE,
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
    let exif = match exif.len() > file::MOST_EXIF_BYTES && !orientation_of(exif).is_upright() {
        // No segment holds more; which way is up is said all the same.
        true => {
            turned = block_of_orientation(orientation_of(exif));
            &turned
        }
        false => exif,
    };
    let icc = image.metadata.icc.as_deref().unwrap_or_default();
    let quality = quality(how);
    if colour == Colour::Cmyk || how.progressive {
        let sampling = |n: usize| if n == 0 { (sub.h, sub.v) } else { (1, 1) };
        let planes: Vec<_> = (grids.iter().enumerate())
            .map(|(n, &grid)| (grid, sampling(n).0, sampling(n).1))
            .collect();
        return ffi::write(&ffi::Writing {
            width: frame.width,
            height: frame.height,
            colour,
            planes: &planes,
            quality,
            progressive: how.progressive,
            invert: colour == Colour::Cmyk,
            exif,
            icc,
            interrupt,
        });
    }
    let head = file::begin(exif, icc);
    match &grids[..] {
        [luma, ..] if luma.width() > 0 && luma.height() > 0 => {
            let planes = grids.into_iter().cloned().collect();
            let steps = tables(quality, sub);
            write(head, planes, sub, &steps, cores, interrupt)
        }
        _ => Err(unfit(frame)),
    }
}

/// Appends everything that follows the metadata.
fn write(
    mut file: Vec<u8>,
    planes: Vec<Grid<u8>>,
    sub: Subsampling,
    steps: &[Steps; 2],
    cores: &dyn Cores,
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let size = (planes[0].width(), planes[0].height());
    let (components, bands) = Parts::new(planes, sub, steps).bands(cores, interrupt)?;
    let (mut bands, counts): (Vec<Band>, Vec<_>) = bands.into_iter().unzip();
    let mut rest = vec![Counts::new(); components.len().min(2)];
    for counts in &counts {
        for (all, counts) in rest.iter_mut().zip(counts) {
            all.include(counts);
        }
    }
    let flat = scan::take_differences(&components, &mut bands, &mut rest);
    let tables: Vec<_> = (flat.iter().zip(&rest))
        .map(|(flat, rest)| Tables {
            flat: Table::of(flat),
            rest: Table::of(rest),
        })
        .collect();
    file::head(&mut file, size, &components, steps, &tables);
    let scan = Scan {
        components,
        bands,
        tables,
    };
    scan.write(file, cores, interrupt)
}

/// Returns the quality to write with, 1 to 100.
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

/// Whether a file with this subsampling can be written: T.81 allows ten blocks in an MCU, of which Cb and Cr take two.
fn is_writable(sub: Subsampling) -> bool {
    let possible = |factor| matches!(factor, 1 | 2 | 4);
    possible(sub.h) && possible(sub.v) && sub.h * sub.v <= 8
}

fn unfit(frame: &Frame) -> Error {
    Error::Internal(format!("a frame that JPEG cannot hold: {:?}", frame.model))
}

/// The longest side in px: libjpeg's own limit, a little below the format's.
const LONGEST_SIDE: u64 = 65_500;
/// The quality that is used if none is given.
pub(super) const DEFAULT_QUALITY: u8 = 92;
/// The quality from which chroma is not subsampled by default. Below it, the eye does not miss the chroma samples that
/// are left out.
const FINE_CHROMA_FROM: u8 = 90;
