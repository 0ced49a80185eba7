//! The coefficients of a progressive image, row by row.

use std::sync::{Mutex, MutexGuard};

use andon_kernels::buffers::Buffer;

use crate::decode::lock::lock;
use crate::decode::plane::PlaneDecoder;
use crate::decode::segments::FrameHeader;

/// The coefficients of one row of a component's blocks, to which the scans add.
pub(super) struct BlockRow {
    /// The coefficients of the row's blocks: those that the largest requested size needs. Empty until the first scan
    /// reaches the row.
    pub(super) values: Buffer<i16>,
    /// The number of coefficients that the row will hold.
    pub(super) count: usize,
    /// A mask of each block's non-zero zigzag positions. Empty if no needed scan refines AC coefficients.
    pub(super) masks: Vec<u64>,
}

/// Locks a row, and fills it with zeros if no scan has reached it yet.
pub(super) fn lock_row(row: &Mutex<BlockRow>) -> MutexGuard<'_, BlockRow> {
    let mut row = lock(row);
    if row.values.is_empty() {
        row.values = Buffer::filled(row.count, 0);
    }
    row
}

/// The rows of a component's blocks.
pub(super) type Rows = Vec<Mutex<BlockRow>>;

/// Creates the rows of a component, which are still empty. `refined` says whether a needed scan refines its AC
/// coefficients.
pub(super) fn empty_rows(frame: &FrameHeader, plane: &PlaneDecoder, refined: bool) -> Rows {
    let row = || BlockRow {
        values: Buffer::default(),
        count: plane.stride * plane.selection.count(),
        masks: vec![0; if refined { plane.stride } else { 0 }],
    };
    let rows = 0..block_rows(frame, plane);
    rows.map(|_| Mutex::new(row())).collect()
}

/// Returns the number of rows of a component's blocks, including those that only fill up the last row of MCUs.
pub(super) fn block_rows(frame: &FrameHeader, plane: &PlaneDecoder) -> u32 {
    frame.height.div_ceil(8 * frame.v_max) * plane.v
}
