//! Locates the strips or tiles of a page in the file. Those with the same bytes are unpacked only once.

use andon_pixels::Result;

use super::page::{Page, broken};

/// The position of a strip or tile on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) x: u32,
    pub(super) y: u32,
    /// Number of rows of pixels that the strip or tile contains.
    pub(super) rows: usize,
    /// Index of the plane that receives the first sample of each pixel: 0 unless each sample has separate strips or
    /// tiles.
    pub(super) first: usize,
}

/// Passes the bytes of all strips or tiles to `take`, in file order, each with its number of rows and all positions on
/// the page at which it is used.
///
/// # Errors
/// `Broken` if some strips or tiles are not in the file, or if compressed ones overlap so much that their total length
/// exceeds twice that of the file. Errors of `take`.
pub(super) fn each(
    bytes: &[u8],
    page: &Page<'_>,
    mut take: impl FnMut(&[u8], usize, &mut dyn Iterator<Item = Place>) -> Result<()>,
) -> Result<()> {
    let count = page.chunks() as usize;
    if page.offsets.len() < count {
        return Err(broken("its pixels are not in the file"));
    }
    // At most `MOST_CHUNKS`, which are usually in this order already.
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by_key(|index| Source::of(page, *index));
    // Stated lengths may be false. Without overlaps, their total cannot exceed the length of the file; twice that is
    // tolerated.
    let mut budget = bytes.len().saturating_mul(2);
    let mut rest = order.as_slice();
    while let Some(first) = rest.first() {
        let source = Source::of(page, *first);
        let shared = rest.partition_point(|index| Source::of(page, *index) == source);
        let (places, remaining) = rest.split_at(shared);
        rest = remaining;
        let same_offset =
            rest.partition_point(|index| Source::of(page, *index).offset <= source.offset);
        let next = rest
            .get(same_offset)
            .map(|next| Source::of(page, *next).offset);
        let packed = source.bytes(bytes, next, page)?;
        if page.is_packed() {
            budget = budget
                .checked_sub(packed.len())
                .ok_or_else(|| broken("its strips or tiles overlap"))?;
        }
        let mut places = places.iter().map(|index| place(page, *index));
        take(packed, source.rows, &mut places)?;
    }
    Ok(())
}

/// Where the bytes of a strip or tile are in the file, and how many rows it has. Strips or tiles for which all of this
/// is equal are unpacked only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    offset: u64,
    /// Length in bytes, or `None` if the data extends to the next strip or tile.
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

    /// Returns the bytes of a strip or tile. If its length is not stated, compressed data extends to the next strip or
    /// tile, if any. Uncompressed pixels need no stated length.
    fn bytes<'a>(&self, file: &'a [u8], next: Option<u64>, page: &Page<'_>) -> Result<&'a [u8]> {
        let rest = usize::try_from(self.offset).ok();
        let rest = rest.and_then(|offset| file.get(offset..));
        let rest = rest.ok_or_else(|| broken("its pixels are not in the file"))?;
        let stated_length = match self.length {
            None if page.is_packed() => next.map(|next| next - self.offset),
            stated_length => stated_length,
        };
        let length = stated_length.and_then(|length| usize::try_from(length).ok());
        Ok(&rest[..length.unwrap_or(rest.len()).min(rest.len())])
    }
}

/// Returns the position of a strip or tile. They are stored from left to right, row by row, and plane by plane.
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
