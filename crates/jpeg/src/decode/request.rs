//! The request for a decode: scales and limits.

use andon_kernels::cores::{Alone, Cores};

use crate::decode::segments::FrameHeader;
use crate::error::{Bound, Error, Result};

/// Which scans of a file a decode reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scans {
    /// The scans that the requested sizes need.
    Needed,
    /// All scans, up to the end of the file.
    All,
}

/// The scales and limits of a decode.
pub struct Request<'a> {
    /// For each requested image, the samples per block side (1, 2, 4 or 8, which are eighths of the full size) of the
    /// first component and of the others.
    pub sizes: &'a [[u8; 2]],
    /// Which scans are read.
    pub followed: Scans,
    /// Maximum number of scans. It also applies to sequential images, whose scans may repeat.
    pub scans: u32,
    /// Maximum memory of the decode, in bytes.
    pub memory: u64,
    /// Returns whether to stop. It is called once per row of MCUs, or once for every few rows.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Idle cores that may take parts of the work.
    pub cores: &'a dyn Cores,
}

impl<'a> Request<'a> {
    /// Returns a request for these sizes, with at most 100 scans and any amount of memory, which runs on the calling
    /// thread.
    #[must_use]
    pub fn of(sizes: &'a [[u8; 2]]) -> Self {
        Self {
            sizes,
            followed: Scans::Needed,
            scans: 100,
            memory: u64::MAX,
            interrupted: &|| false,
            cores: &Alone,
        }
    }
}

/// Fails if `value` is over the limit.
pub(super) fn within(bound: Bound, value: u64, limit: u64) -> Result<()> {
    if value > limit {
        Err(Error::Limit {
            bound,
            value,
            limit,
        })
    } else {
        Ok(())
    }
}

/// Returns the maximum number of bytes that a decode allocates: the planes, a scan without its stuffing, and the
/// coefficients that a progressive image keeps between scans or that wait between two cores.
pub(super) fn peak_bytes(file: usize, frame: &FrameHeader, sizes: &[[u8; 2]]) -> u64 {
    let mut bytes = file as u64;
    for (index, component) in frame.components.iter().enumerate() {
        let across = u64::from(frame.width.div_ceil(8 * frame.h_max) * component.h);
        let down = u64::from(frame.height.div_ceil(8 * frame.v_max) * component.v);
        let samples = sizes
            .iter()
            .map(|sizes| u64::from(sizes[index.min(1)]).pow(2));
        let (largest, all) = (samples.clone().max().unwrap_or(0), samples.sum::<u64>());
        // At full size the coefficients of a sequential image are allocated only where `route::splits_in_full` says so,
        // and callers count those.
        let coefficients = if frame.progressive || largest < 64 {
            2 * largest + 8
        } else {
            0
        };
        bytes += across * down * (all + coefficients);
    }
    bytes
}
