//! Decodes progressive scans, but only those that the requested sizes need, and only the coefficients that they need.
//!
//! A refinement scan interleaves new coefficients with one correction bit for each coefficient that was already
//! non-zero. So following it requires the *places* of all non-zero coefficients of its band, even of those whose values
//! are not kept. A mask of 64 bits per block holds them: the number of correction bits between two symbols is one
//! population count, where libjpeg walks coefficient by coefficient.
//!
//! All scans advance through the image together, some rows at a time, and idle cores take rows, too ([`wave`]).

mod ac;
mod dc;
mod job;
mod rows;
mod scans;
mod wave;

use self::job::{AcScan, Job, Task};
use self::rows::{block_rows, empty_rows};
pub(super) use self::scans::is_whole;
use self::scans::{FoundScan, all_scans, are_enough, needed_scans};
use self::wave::Wave;
use crate::decode::entropy::Unstuffed;
use crate::decode::plane::PlaneDecoder;
use crate::decode::request::{Request, Scans};
use crate::decode::scan::{Position, mcus};
use crate::decode::segments::{FrameHeader, Segments};
use crate::error::{Error, Result};

/// Decodes the scans of a progressive image.
pub(super) fn decode(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    planes: Vec<PlaneDecoder>,
    request: &Request<'_>,
) -> Result<Vec<PlaneDecoder>> {
    let scans = all_scans(segments, planes.len(), request.scans)?;
    let choice = match request.followed {
        // Without EOI the last scan may be cut. Then all scans are decoded, so that every size of such an image fails.
        Scans::Needed if segments.ended() => needed_scans(&scans, &planes),
        Scans::Needed | Scans::All => vec![true; scans.len()],
    };
    if !are_enough(&scans, planes.len()) {
        return Err(Error::UNSUPPORTED);
    }
    let quants = quants(&scans, frame)?;
    let scans: Vec<_> = (scans.iter().zip(choice))
        .filter_map(|(scan, is_needed)| is_needed.then_some(scan))
        .collect();
    let rows = (0..planes.len())
        .map(|index| {
            let refines = scans.iter().any(|scan| {
                let scan = &scan.header;
                scan.high > 0 && scan.first > 0 && scan.has(index)
            });
            empty_rows(frame, &planes[index], refines)
        })
        .collect();
    let mut jobs = Vec::new();
    for scan in scans {
        jobs.push(scan_job(scan, frame, &planes, &jobs)?);
    }
    for (index, (plane, quant)) in planes.into_iter().zip(quants).enumerate() {
        let quant = quant.ok_or(Error::Broken("a component has no scan"))?;
        let predecessors = (0..jobs.len())
            .filter(|&job| jobs[job].is_of(index))
            .collect();
        let high = block_rows(frame, &plane);
        jobs.push(Job::samples(index, plane, quant, predecessors, high));
    }
    Wave::new(jobs, rows).run(request)
}

/// Returns each component's quantisation table: the one that was defined when the component's first scan began, even
/// if this decoder does not need that scan.
fn quants(scans: &[FoundScan<'_>], frame: &FrameHeader) -> Result<Vec<Option<[u16; 64]>>> {
    let mut quants = vec![None; frame.components.len()];
    for scan in scans {
        for component in &scan.header.components {
            let quant = &mut quants[component.index];
            if quant.is_none() {
                *quant = Some(*scan.tables.quant(frame, component.index)?);
            }
        }
    }
    Ok(quants)
}

/// Creates the job that decodes a scan. In every row, it must run after those of the earlier `jobs` that decode the
/// same coefficients, because its results are added to theirs.
fn scan_job(
    scan: &FoundScan<'_>,
    frame: &FrameHeader,
    planes: &[PlaneDecoder],
    jobs: &[Job],
) -> Result<Job> {
    let predecessors = jobs.iter().enumerate();
    let predecessors = predecessors.filter(|(_, job)| job.adds_to(&scan.header));
    let predecessors = predecessors.map(|(index, _)| index).collect();
    let mut data = Unstuffed::default();
    data.read(scan.coded);
    let work = if scan.header.first == 0 {
        Task::Dc(dc::Scan::new(frame, scan, planes)?, Position::default())
    } else {
        Task::Ac(AcScan::new(scan, planes)?, Position::default())
    };
    let (_, down) = mcus(frame, &scan.header, planes);
    let rows_per_mcu = match scan.header.components[..] {
        [component] => planes[component.index].v,
        _ => 1,
    };
    Ok(Job::scan(
        scan,
        data,
        predecessors,
        (down, rows_per_mcu),
        work,
    ))
}
