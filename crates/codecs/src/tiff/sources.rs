//! Where the strips or tiles of a page lie in the file: those that share their bytes are unpacked once.

use andon_pixels::{Error, Result};

use super::NAME;
use super::page::Page;

/// Where a strip or tile belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) x: u32,
    pub(super) y: u32,
    /// Rows that are stored.
    pub(super) rows: usize,
    /// The plane that its first sample goes to.
    pub(super) first: usize,
}

/// Hands over the bytes of all strips or tiles in the order in which they lie in the file, each with its number of rows
/// and all places that it belongs to.
///
/// # Errors
/// `Broken`: some are not in the file, or overlap; and what `take` says.
pub(super) fn each(
    bytes: &[u8],
    page: &Page<'_>,
    mut take: impl FnMut(&[u8], usize, &mut dyn Iterator<Item = Place>) -> Result<()>,
) -> Result<()> {
    let count = page.chunks() as usize;
    if page.offsets.len() < count {
        return Err(broken("its pixels are not in the file"));
    }
    // At most `MOST_CHUNKS`, most of which are in this order already.
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by_key(|index| Source::of(page, *index));
    // What unpacks them reads up to a length that may be a lie: together they are as long as the file, or two of
    // them share a part of it.
    let mut left = bytes.len().saturating_mul(2);
    let mut rest = order.as_slice();
    while let Some(first) = rest.first() {
        let source = Source::of(page, *first);
        let shared = rest.partition_point(|index| Source::of(page, *index) == source);
        let (places, others) = rest.split_at(shared);
        rest = others;
        let behind = rest.partition_point(|index| Source::of(page, *index).offset <= source.offset);
        let next = rest.get(behind).map(|next| Source::of(page, *next).offset);
        let packed = source.bytes(bytes, next, page)?;
        if page.is_packed() {
            left = left
                .checked_sub(packed.len())
                .ok_or_else(|| broken("its strips or tiles overlap"))?;
        }
        let mut places = places.iter().map(|index| place(page, *index));
        take(packed, source.rows, &mut places)?;
    }
    Ok(())
}

/// What distinguishes one strip or tile from another that is read in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    offset: u64,
    /// `None`: up to the next.
    length: Option<u64>,
    rows: usize,
}

impl Source {
    fn of(page: &Page<'_>, index: u32) -> Self {
        Self {
            offset: page.offsets.get(index as usize).unwrap_or(u64::MAX),
            length: page.lengths.and_then(|lengths| lengths.get(index as usize)),
            rows: place(page, index).rows,
        }
    }

    /// Where it lies; of one whose length is not told, up to the next one if that is known, as pixels that are not packed
    /// need none.
    fn bytes<'a>(&self, file: &'a [u8], next: Option<u64>, page: &Page<'_>) -> Result<&'a [u8]> {
        let rest = usize::try_from(self.offset).ok();
        let rest = rest.and_then(|offset| file.get(offset..));
        let rest = rest.ok_or_else(|| broken("its pixels are not in the file"))?;
        let told = match self.length {
            None if page.is_packed() => next.map(|next| next - self.offset),
            told => told,
        };
        let length = told.and_then(|length| usize::try_from(length).ok());
        Ok(&rest[..length.unwrap_or(rest.len()).min(rest.len())])
    }
}

/// Where a strip or tile belongs: one after the other, row by row, layer by layer.
fn place(page: &Page<'_>, index: u32) -> Place {
    let (across, down) = page.grid();
    let (row, column) = (index / across % down, index % across);
    let (width, height) = page.chunk;
    let y = row * height;
    Place {
        x: column * width,
        y,
        rows: match page.tiled {
            true => height,
            false => height.min(page.height - y),
        } as usize,
        first: match page.planar {
            true => (index / across / down) as usize,
            false => 0,
        },
    }
}

fn broken(why: &str) -> Error {
    Error::broken(NAME, why)
}
