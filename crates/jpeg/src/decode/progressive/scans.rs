//! The scans of a progressive file: which there are, whether they make an image, and which are needed.

use crate::decode::plane::PlaneDecoder;
use crate::decode::request::within;
use crate::decode::segments::{FrameHeader, ScanHeader, Segment, Segments, Tables, places};
use crate::error::{Bound, Error, Result};
use crate::header::coded_length;

/// A scan found on the walk over the file.
pub(super) struct FoundScan<'a> {
    pub(super) header: ScanHeader,
    /// The tables in force for the scan.
    pub(super) tables: Tables,
    /// The scan's entropy-coded bytes.
    pub(super) coded: &'a [u8],
}

/// A scan names a Huffman table that is not there.
pub(super) const MISSING_TABLE: Error = Error::Broken("a scan's Huffman table is missing");

/// Whether all components have the frequencies complete that libjpeg otherwise guesses from neighbouring blocks.
pub(super) fn are_enough(scans: &[FoundScan<'_>], components: usize) -> bool {
    is_complete(scans, components, GUESSED)
}

/// Finds all scans of the file. Fails if there are more than `most` or the file ends early.
pub(super) fn all_scans<'a>(
    segments: &mut Segments<'a>,
    components: usize,
    most: u32,
) -> Result<Vec<FoundScan<'a>>> {
    let mut scans = Vec::new();
    while let Segment::Scan(header) = segments.next()? {
        let rest = segments.entropy_coded();
        let coded = &rest[..coded_length(rest)];
        segments.pass(coded.len());
        scans.push(FoundScan {
            header,
            tables: segments.tables.clone(),
            coded,
        });
        within(Bound::Scans, scans.len() as u64, most.into())?;
    }
    // Unlike a sequential file, one that ends between scans looks whole: EOI tells, or that there is nothing to add.
    if segments.ended() || is_complete(&scans, components, HIGHEST) {
        Ok(scans)
    } else {
        Err(Error::Broken("it ends early"))
    }
}

/// Whether a file of at most `most` scans is complete, judging by its scan headers.
pub(in crate::decode) fn is_whole(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    most: u32,
) -> Result<bool> {
    let components = frame.components.len();
    let scans = all_scans(segments, components, most)?;
    Ok(are_enough(&scans, components))
}

/// Determines which scans must be decoded: DC scans, those with a coefficient that is kept, and those that set
/// coefficients whose places a later needed scan must know.
pub(super) fn needed_scans(scans: &[FoundScan<'_>], planes: &[PlaneDecoder]) -> Vec<bool> {
    let mut needed = vec![false; scans.len()];
    let mut counted = vec![0u64; planes.len()];
    for (scan, needed) in scans.iter().zip(&mut needed).rev() {
        let scan = &scan.header;
        if scan.first == 0 {
            *needed = true;
            continue;
        }
        for component in &scan.components {
            let kept = planes[component.index].kept;
            let counted = &mut counted[component.index];
            if (kept.last > 0 && scan.first <= kept.last) || *counted & scan.band() != 0 {
                *needed = true;
                if scan.high > 0 {
                    *counted |= scan.band();
                }
            }
        }
    }
    needed
}

/// Whether all components have their frequencies up to zigzag position `highest` complete to the last bit. Files in
/// which low frequencies are not complete are left to libjpeg, which guesses them from neighbouring blocks, including
/// DC if there is nothing else.
fn is_complete(scans: &[FoundScan<'_>], components: usize, highest: u32) -> bool {
    (0..components).all(|index| {
        let of_it = scans.iter().filter(|scan| scan.header.has(index));
        let known = of_it.fold(0, |known, scan| match scan.header.low {
            0 => known | scan.header.band(),
            _ => known & !scan.header.band(),
        });
        known & places(0, highest) == places(0, highest)
    })
}

/// The highest zigzag position.
const HIGHEST: u32 = 63;

/// The highest zigzag position that libjpeg guesses.
const GUESSED: u32 = 9;
