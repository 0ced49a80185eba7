//! A JPEG encoder for gray and YCbCr planes, which it writes in one sequential scan.
//!
//! It follows jpegli (Google, 2024): details that cost bits but are hardly visible are left out. Weak coefficients are
//! set to 0, the more so the higher their frequency (`steps`) and the more activity surrounds them (`activity`).
//! Encoding takes two passes, so that the Huffman tables fit the image (`huffman`).

mod activity;
mod bands;
mod bits;
mod blocks;
mod file;
mod huffman;
mod options;
mod scan;
mod steps;

pub use self::file::MOST_EXIF_BYTES;
pub use self::options::Options;
use crate::encode::bands::Parts;
use crate::encode::huffman::{Counts, Table};
use crate::encode::scan::{Band, Scan, Tables};
use crate::error::{Error, Result};
use crate::image::{Image, Plane, Subsampling};
use crate::tables::{Table as Steps, tables};

/// Encodes an image as a sequential JPEG file.
///
/// # Errors
/// `Unfit`, `Interrupted`, `Panicked`.
pub fn encode<S>(image: Image<S>, options: &Options<'_>) -> Result<Vec<u8>>
where
    S: AsRef<[u8]> + Send + Sync + 'static,
{
    let sub = match image.planes.len() {
        1 => Subsampling::NONE,
        _ => image.sub,
    };
    check(&image.planes, sub)?;
    let steps = tables(options.quality.clamp(1, 100), sub);
    let file = file::begin(options.exif, options.icc);
    let size = (image.planes[0].width, image.planes[0].height);
    let parts = Parts::new(image.planes, sub, &steps);
    write(file, size, parts, &steps, options)
}

/// Fails unless these planes make an image that can be written.
fn check<S: AsRef<[u8]>>(planes: &[Plane<S>], sub: Subsampling) -> Result<()> {
    let [luma, chroma @ ..] = planes else {
        return Err(Error::Unfit("there is no plane"));
    };
    if !matches!(chroma.len(), 0 | 2) {
        return Err(Error::Unfit("there are neither one nor three planes"));
    }
    if !sub.is_writable() {
        return Err(Error::Unfit("no MCU holds as many blocks of luma"));
    }
    let (width, height) = (luma.width, luma.height);
    if width.min(height) == 0 || width.max(height) > LONGEST_SIDE {
        return Err(Error::Unfit("a side is 0 or over 65500"));
    }
    let chroma_size = sub.chroma_size(width, height);
    let fits = (chroma.iter()).all(|plane| (plane.width, plane.height) == chroma_size);
    if !fits || !planes.iter().all(Plane::is_whole) {
        return Err(Error::Unfit("a plane has another size"));
    }
    Ok(())
}

/// Appends to a file that ends with the metadata everything that follows them, up to the end marker.
fn write<S>(
    mut file: Vec<u8>,
    size: (u32, u32),
    parts: Parts<S>,
    steps: &[Steps; 2],
    options: &Options<'_>,
) -> Result<Vec<u8>>
where
    S: AsRef<[u8]> + Send + Sync + 'static,
{
    let (components, bands) = parts.bands(options)?;
    let (mut bands, counts): (Vec<Band>, Vec<_>) = bands.into_iter().unzip();
    let mut rest = vec![Counts::new(); components.len().min(2)];
    for counts in &counts {
        for (total, counts) in rest.iter_mut().zip(counts) {
            total.include(counts);
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
    scan.write(file, options)
}

/// Maximum width and height of an image in px: libjpeg's limit, a little below the format's.
pub const LONGEST_SIDE: u32 = 65_500;
