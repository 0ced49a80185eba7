//! The scans of a progressive file: lists them, checks whether they are complete, and determines which are needed.

use crate::decode::plane::PlaneDecoder;
use crate::decode::request::within;
use crate::decode::segments::{FrameHeader, ScanHeader, Segment, Segments, Tables, places};
use crate::error::{Bound, Error, Result};
use crate::header::coded_length;

/// A scan found on the walk over the file.
pub(super) struct FoundScan<'a> {
    pub(super) header: ScanHeader,
    /// The tables that apply to the scan.
    pub(super) tables: Tables,
    /// The scan's entropy-coded bytes.
    pub(super) coded: &'a [u8],
}

/// The error of a scan that refers to an undefined Huffman table.
pub(super) const MISSING_TABLE: Error = Error::Broken("a scan's Huffman table is missing");

/// Whether the low frequencies of all components are complete. libjpeg guesses missing ones from neighbouring blocks,
/// which this decoder does not.
pub(super) fn are_enough(scans: &[FoundScan<'_>], components: usize) -> bool {
    is_complete(scans, components, GUESSED)
}

/// Finds all scans of the file. Fails if there are more than `most`, or if the file ends before its scans are complete.
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
    // Unlike a sequential file, a progressive one that is cut between two scans looks whole. EOI proves that it is, and
    // so do complete coefficients.
    if segments.ended() || is_complete(&scans, components, HIGHEST) {
        Ok(scans)
    } else {
        Err(Error::Broken("it ends early"))
    }
}

/// Whether the file has every scan that this decoder needs, judging by the scan headers. Fails if there are more than
/// `most` scans.
pub(in crate::decode) fn is_whole(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    most: u32,
) -> Result<bool> {
    let components = frame.components.len();
    let scans = all_scans(segments, components, most)?;
    Ok(are_enough(&scans, components))
}

/// Determines which scans must be decoded: DC scans, scans with a coefficient that the scale of the decode needs, and
/// scans that can make coefficients non-zero that a needed refinement scan corrects.
pub(super) fn needed_scans(scans: &[FoundScan<'_>], planes: &[PlaneDecoder]) -> Vec<bool> {
    let mut choice = vec![false; scans.len()];
    let mut refined_bands = vec![0u64; planes.len()];
    for (scan, is_needed) in scans.iter().zip(&mut choice).rev() {
        let scan = &scan.header;
        if scan.first == 0 {
            *is_needed = true;
            continue;
        }
        for component in &scan.components {
            let selection = planes[component.index].selection;
            let refined_bands = &mut refined_bands[component.index];
            if (selection.last > 0 && scan.first <= selection.last)
                || *refined_bands & scan.band() != 0
            {
                *is_needed = true;
                if scan.high > 0 {
                    *refined_bands |= scan.band();
                }
            }
        }
    }
    choice
}

/// Whether the scans give all components their frequencies up to zigzag position `highest`, complete to the last bit.
/// Files whose low frequencies are incomplete are left to libjpeg, which guesses them from neighbouring blocks,
/// including the DC coefficient if there is nothing else.
fn is_complete(scans: &[FoundScan<'_>], components: usize, highest: u32) -> bool {
    (0..components).all(|index| {
        let of_it = scans.iter().filter(|scan| scan.header.has(index));
        let mask = of_it.fold(0, |mask, scan| match scan.header.low {
            0 => mask | scan.header.band(),
            _ => mask & !scan.header.band(),
        });
        mask & places(0, highest) == places(0, highest)
    })
}

/// The highest zigzag position.
const HIGHEST: u32 = 63;

/// The highest zigzag position that libjpeg guesses from neighbouring blocks.
const GUESSED: u32 = 9;
