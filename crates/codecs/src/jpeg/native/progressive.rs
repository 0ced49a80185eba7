//! Decodes progressive scans, but only those that are needed, and only what is needed of them.
//!
//! A refinement scan interleaves new coefficients with one correction bit for each coefficient that was already
//! non-zero. So following it requires the *places* of all non-zero coefficients of its band, even of those whose values
//! are not kept. They are held in a mask of 64 bits per block: the number of correction bits between two symbols is one
//! population count, where libjpeg walks coefficient by coefficient.
//!
//! All scans advance through the image together, some rows at a time, and idle cores take rows, too ([`wave`]).

mod ac;
mod dc;
mod job;
mod wave;

use andon_pixels::Bound;
use andon_pixels::buffers::Buffer;
use std::sync::{Mutex, MutexGuard};

use self::job::{AcScan, Job, Task};
use self::wave::Wave;
use super::entropy::{self, Unstuffed};
use super::plane::{PlaneDecoder, quant_of};
use super::scan::{Position, mcus};
use super::segments::{FrameHeader, ScanHeader, Segment, Segments, Tables};
use super::{Refused, Request, Scans, lock, within};

/// The coefficients of one row of a component's blocks, to which the scans add.
struct BlockRow {
    /// `kept.count()` coefficients per block. Empty before the first scan reaches the row.
    values: Buffer<i16>,
    /// The number of coefficients that the row will hold.
    count: usize,
    /// A mask of each block's non-zero zigzag positions. Empty if no needed scan refines AC coefficients.
    masks: Vec<u64>,
}

/// Locks a row, filling it with zeros if no scan has reached it yet.
fn begun(row: &Mutex<BlockRow>) -> MutexGuard<'_, BlockRow> {
    let mut row = lock(row);
    if row.values.is_empty() {
        row.values = Buffer::filled(row.count, 0);
    }
    row
}

/// The rows of a component's blocks.
type Rows = Vec<Mutex<BlockRow>>;

/// A scan found on the walk over the file.
struct Found<'a> {
    header: ScanHeader,
    /// The tables in force for the scan.
    tables: Tables,
    /// The scan's entropy-coded bytes.
    coded: &'a [u8],
}

pub(super) fn decode(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    planes: Vec<PlaneDecoder>,
    wanted: &Request<'_>,
) -> Result<Vec<PlaneDecoder>, Refused> {
    let scans = all_scans(segments, planes.len(), wanted.scans)?;
    let needed = match wanted.followed {
        // Where the file is cut in its last scan, no size of the image is whole.
        Scans::Needed if segments.ended() => needed_scans(&scans, &planes),
        Scans::Needed | Scans::All => vec![true; scans.len()],
    };
    if !is_complete(&scans, planes.len(), GUESSED) {
        return Err(Refused::Unsupported);
    }
    let rows = (0..planes.len())
        .map(|index| {
            let refined = scans.iter().zip(&needed).any(|(scan, &needed)| {
                let scan = &scan.header;
                needed && scan.high > 0 && scan.first > 0 && scan.has(index)
            });
            empty_rows(frame, &planes[index], refined)
        })
        .collect();

    // Whether it is needed or not: a component's first scan settles its factors.
    let mut quants = vec![None; planes.len()];
    for scan in &scans {
        for component in &scan.header.components {
            let quant = &mut quants[component.index];
            if quant.is_none() {
                *quant = Some(*quant_of(&scan.tables, frame, component.index)?);
            }
        }
    }
    let mut jobs: Vec<Job> = Vec::new();
    for scan in scans
        .iter()
        .zip(needed)
        .filter_map(|(scan, needed)| needed.then_some(scan))
    {
        let after = jobs.iter().enumerate();
        let after = after.filter(|(_, job)| job.adds_to(&scan.header));
        let after = after.map(|(index, _)| index).collect();
        let mut data = Unstuffed::default();
        data.read(scan.coded);
        let work = if scan.header.first == 0 {
            Task::Dc(dc::Scan::new(frame, scan, &planes)?, Position::default())
        } else {
            Task::Ac(AcScan::new(scan, &planes)?, Position::default())
        };
        let (_, down) = mcus(frame, &scan.header, &planes);
        let rows_per_mcu = match scan.header.components[..] {
            [alone] => planes[alone.index].v,
            _ => 1,
        };
        jobs.push(Job::scan(scan, data, after, (down, rows_per_mcu), work));
    }
    for (index, (plane, quant)) in planes.into_iter().zip(quants).enumerate() {
        let quant = quant.ok_or(Refused::Broken("a component has no scan"))?;
        let after = (0..jobs.len())
            .filter(|&job| jobs[job].is_of(index))
            .collect();
        let high = block_rows(frame, &plane);
        jobs.push(Job::samples(index, plane, quant, after, high));
    }
    Wave::new(jobs, rows).run(wanted)
}

impl ScanHeader {
    fn has(&self, component: usize) -> bool {
        self.components.iter().any(|c| c.index == component)
    }

    /// Returns the scan's band as a mask of zigzag positions.
    fn band(&self) -> u64 {
        places(self.first, self.last)
    }
}

/// Returns a mask of the zigzag positions `from` to `to`, or 0 if `from` is above `to`.
#[inline(always)]
fn places(from: u32, to: u32) -> u64 {
    if from > to {
        0
    } else {
        (u64::MAX >> (63 - to)) & (u64::MAX << from)
    }
}

fn empty_rows(frame: &FrameHeader, plane: &PlaneDecoder, refined: bool) -> Rows {
    let row = || BlockRow {
        values: Buffer::default(),
        count: plane.stride * plane.kept.count(),
        masks: vec![0; if refined { plane.stride } else { 0 }],
    };
    let rows = 0..block_rows(frame, plane);
    rows.map(|_| Mutex::new(row())).collect()
}

/// Returns the number of rows of a component's blocks, including those that only fill up the last row of MCUs.
fn block_rows(frame: &FrameHeader, plane: &PlaneDecoder) -> u32 {
    frame.height.div_ceil(8 * frame.v_max) * plane.v
}

/// Finds all scans of the file. Fails if there are more than `most` or the file ends early.
fn all_scans<'a>(
    segments: &mut Segments<'a>,
    components: usize,
    most: u32,
) -> Result<Vec<Found<'a>>, Refused> {
    let mut scans = Vec::new();
    while let Segment::Scan(header) = segments.next()? {
        let rest = segments.entropy_coded();
        let coded = &rest[..entropy::length(rest)];
        segments.pass(coded.len());
        scans.push(Found {
            header,
            tables: segments.tables.clone(),
            coded,
        });
        within(Bound::SCANS, scans.len() as u64, most.into())?;
    }
    // Unlike a sequential file, one that ends between scans looks whole: EOI tells, or that there is nothing to add.
    if segments.ended() || is_complete(&scans, components, HIGHEST) {
        Ok(scans)
    } else {
        Err(Refused::broken("it ends early"))
    }
}

/// Whether a file of at most `most` scans is complete, judging by its scan headers.
pub(super) fn is_whole(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    most: u32,
) -> Result<bool, Refused> {
    let components = frame.components.len();
    let scans = all_scans(segments, components, most)?;
    Ok(is_complete(&scans, components, GUESSED))
}

/// Determines which scans must be decoded: DC scans, those with a coefficient that is kept, and those that set
/// coefficients whose places a later needed scan must know.
fn needed_scans(scans: &[Found<'_>], planes: &[PlaneDecoder]) -> Vec<bool> {
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
fn is_complete(scans: &[Found<'_>], components: usize, highest: u32) -> bool {
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
