//! The end of a TIFF. The format does not mark it, so it is the end of the last data to which a directory points.

use std::collections::BTreeSet;

use andon_pixels::{Error, Result};

use super::NAME;
use super::directory::{Directory, Numbers};

/// Returns the offset at which all pages, and the directories that belong to them, have ended.
///
/// # Errors
/// `Broken` if a directory points beyond the end of the file, or the directories have too many entries.
pub(crate) fn end(bytes: &[u8]) -> Result<usize> {
    let mut end = 0;
    let mut entries = 0;
    // Lists cannot overlap, so that their total length is limited to that of the file.
    let mut numbers = bytes.len();
    let mut visited = BTreeSet::new();
    let mut queue = vec![None];
    while let Some(at) = queue.pop() {
        let directory = Directory::at(bytes, at)?;
        // An empty directory counts, too.
        entries += 1 + directory.len();
        let too_many = || Error::broken(NAME, "its directories have too many entries");
        if entries > ENTRIES {
            return Err(too_many());
        }
        end = end.max(directory.end).max(directory.values_end());
        for (offsets, lengths) in CHUNKS {
            let Some(offsets) = directory.numbers(offsets) else {
                continue;
            };
            numbers = numbers.checked_sub(offsets.len()).ok_or_else(too_many)?;
            end = end.max(chunks_end(offsets, directory.numbers(lengths), bytes.len()));
        }
        let children = DIRECTORY_TAGS
            .iter()
            .filter_map(|tag| directory.numbers(*tag))
            .flat_map(Numbers::iter);
        let next = directory.next.filter(|next| *next != 0);
        for at in children.chain(next) {
            // Directories may point to each other, so each is read only once.
            if visited.insert(at) {
                queue.push(Some(at));
            }
            if visited.len() > ENTRIES {
                return Err(too_many());
            }
        }
    }
    match end <= bytes.len() {
        true => Ok(end),
        false => Err(Error::broken(NAME, "it is cut off")),
    }
}

/// Returns the end of the last strip or tile. If their lengths are missing, it is the end of the file.
fn chunks_end(offsets: Numbers<'_>, lengths: Option<Numbers<'_>>, file: usize) -> usize {
    match lengths {
        Some(lengths) => {
            let ends = offsets.iter().zip(lengths.iter());
            let last = ends.map(|(at, length)| at.saturating_add(length)).max();
            last.map_or(0, |end| usize::try_from(end).unwrap_or(usize::MAX))
        }
        None => file,
    }
}

/// Maximum number of entries in all directories of a TIFF together, more than any real file has.
const ENTRIES: usize = 1 << 18;

/// The tags for offsets and lengths of strips, of tiles, and of a thumbnail.
const CHUNKS: [(u16, u16); 3] = [(273, 279), (324, 325), (513, 514)];

/// Tags that point to further directories: subdirectories, EXIF, GPS, interoperability.
const DIRECTORY_TAGS: [u16; 4] = [330, 34_665, 34_853, 40_965];
