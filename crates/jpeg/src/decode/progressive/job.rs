//! The jobs of decoding a progressive image, namely its scans and then the samples, each performed some rows at a time.

use std::ops::Range;
use std::sync::Mutex;

use andon_kernels::buffers::Buffer;
use andon_kernels::cpu::with_modern_instructions;

use crate::decode::bits::Bits;
use crate::decode::entropy::Unstuffed;
use crate::decode::lock::lock;
use crate::decode::plane::PlaneDecoder;
use crate::decode::progressive::rows::{BlockRow, Rows, lock_row};
use crate::decode::progressive::scans::{FoundScan, MISSING_TABLE};
use crate::decode::progressive::{ac, dc};
use crate::decode::scan::{Intervals, Position, check};
use crate::decode::segments::ScanHeader;
use crate::decode::selection::Selection;
use crate::error::{Error, Result};

/// The decoding of one scan, or of the samples of one component.
pub(super) struct Job {
    /// The work and its progress. One worker at a time locks it.
    task: Mutex<Task>,
    data: Unstuffed,
    /// MCUs between restart markers, 0 if there are none.
    restart: u32,
    /// The scan's header. `None` in a job that makes samples.
    header: Option<ScanHeader>,
    /// Number of rows to process: rows of MCUs in a scan of several components, otherwise rows of blocks.
    rows: u32,
    /// Number of rows, as counted by `rows`, that make up a row of MCUs of the image.
    rows_per_mcu: u32,
    /// Indices of the jobs that this job depends on: those for earlier scans of the same coefficients or, if this job
    /// makes samples, those for scans of the component. They must have finished a row before this job processes it.
    pub(super) predecessors: Vec<usize>,
}

/// What a job does.
pub(super) enum Task {
    /// A DC scan, and the position of its next row.
    Dc(dc::Scan, Position),
    Ac(AcScan, Position),
    Samples {
        component: usize,
        plane: PlaneDecoder,
        quant: [u16; 64],
    },
    /// The result was taken, and nothing is left to do.
    Done,
}

/// An AC scan.
pub(super) struct AcScan {
    component: usize,
    coder: AcCoder,
    selection: &'static Selection,
    /// Number of blocks that the scan codes in each row of blocks.
    wide: usize,
}

enum AcCoder {
    First(ac::First),
    Refine(ac::Refine),
}

impl Job {
    /// Creates the job that decodes a scan. `rows` is the number of its rows: rows of MCUs in a scan of several
    /// components, otherwise rows of blocks. `rows_per_mcu` of them make up a row of MCUs of the image.
    pub(super) fn scan(
        scan: &FoundScan<'_>,
        data: Unstuffed,
        predecessors: Vec<usize>,
        (rows, rows_per_mcu): (u32, u32),
        task: Task,
    ) -> Self {
        Self {
            task: Mutex::new(task),
            data,
            restart: scan.tables.restart,
            header: Some(scan.header.clone()),
            rows,
            rows_per_mcu,
            predecessors,
        }
    }

    /// Creates the job that computes a component's samples, after all its scans.
    pub(super) fn samples(
        component: usize,
        plane: PlaneDecoder,
        quant: [u16; 64],
        predecessors: Vec<usize>,
        rows: u32,
    ) -> Self {
        Self {
            data: Unstuffed::default(),
            restart: 0,
            header: None,
            rows,
            rows_per_mcu: plane.v,
            predecessors,
            task: Mutex::new(Task::Samples {
                component,
                plane,
                quant,
            }),
        }
    }

    /// Whether this job decodes a scan that contains the component with this index in the frame.
    pub(super) fn is_of(&self, component: usize) -> bool {
        self.header.as_ref().is_some_and(|scan| scan.has(component))
    }

    /// Whether this job decodes a scan, and the scan `later` contains some of the same coefficients.
    pub(super) fn adds_to(&self, later: &ScanHeader) -> bool {
        let has_common = |scan: &ScanHeader| {
            scan.band() & later.band() != 0
                && scan
                    .components
                    .iter()
                    .any(|component| later.has(component.index))
        };
        self.header.as_ref().is_some_and(has_common)
    }

    /// Processes the rows of MCUs `mcus` of this job, up to the last row that the job has. Returns the number of rows
    /// of MCUs that the job has now finished.
    pub(super) fn perform(&self, mcus: Range<u32>, rows: &[Rows]) -> Result<u32> {
        let mut task = lock(&self.task);
        let end = self.rows.min(mcus.end * self.rows_per_mcu);
        let range = (mcus.start * self.rows_per_mcu) as usize..end as usize;
        match &mut *task {
            Task::Dc(scan, position) => {
                let (mut intervals, bits) = position.reader(&self.data, self.restart)?;
                let bits = scan.decode_rows(&mut intervals, bits, rows, range)?;
                *position = intervals.position(&bits);
            }
            Task::Ac(scan, position) => {
                let (mut intervals, bits) = position.reader(&self.data, self.restart)?;
                let rows = &rows[scan.component][range];
                let bits = scan.decode_rows(&mut intervals, bits, rows)?;
                *position = intervals.position(&bits);
            }
            Task::Samples {
                component,
                plane,
                quant,
            } => {
                for row in &rows[*component][range] {
                    let mut row = lock_row(row);
                    plane.write_row(&row.values, quant);
                    // No later job needs this row.
                    (row.values, row.masks) = (Buffer::default(), Vec::new());
                }
            }
            Task::Done => return Err(Error::UNSUPPORTED),
        }
        Ok(mcus.end.min(self.mcu_rows()))
    }

    /// Returns the number of unstuffed bytes of the scan, or 0 for a job that makes samples.
    pub(super) fn size(&self) -> usize {
        self.data.len()
    }

    /// Returns the number of rows of MCUs that the job covers.
    pub(super) fn mcu_rows(&self) -> u32 {
        self.rows.div_ceil(self.rows_per_mcu)
    }

    /// Whether this job makes samples.
    pub(super) fn is_of_samples(&self) -> bool {
        self.header.is_none()
    }

    /// Takes the plane with the samples that the job has made.
    pub(super) fn take_plane(&self) -> Option<PlaneDecoder> {
        match std::mem::replace(&mut *lock(&self.task), Task::Done) {
            Task::Samples { plane, .. } => Some(plane),
            _ => None,
        }
    }
}

impl AcScan {
    /// Creates the decoder of an AC scan. Fails if its Huffman table is missing.
    pub(super) fn new(scan: &FoundScan<'_>, planes: &[PlaneDecoder]) -> Result<Self> {
        let component = scan.header.components[0];
        let plane = &planes[component.index];
        let codes = scan.tables.ac(component.ac_table).ok_or(MISSING_TABLE)?;
        let coder = match scan.header.high {
            0 => AcCoder::First(ac::First::new(&scan.header, codes, plane.selection)),
            _ => AcCoder::Refine(ac::Refine::new(&scan.header, codes, plane.selection)),
        };
        Ok(Self {
            component: component.index,
            coder,
            selection: plane.selection,
            wide: plane.blocks_wide as usize,
        })
    }

    /// Decodes these rows of blocks, beginning at `bits`.
    fn decode_rows<'a>(
        &mut self,
        intervals: &mut Intervals<'a>,
        bits: Bits<'a>,
        rows: &[Mutex<BlockRow>],
    ) -> Result<Bits<'a>> {
        let (selection, wide) = (self.selection, self.wide);
        match &mut self.coder {
            AcCoder::First(coder) => decode_rows(coder, selection, wide, intervals, bits, rows),
            AcCoder::Refine(coder) => decode_rows(coder, selection, wide, intervals, bits, rows),
        }
    }
}

fn decode_rows<'a>(
    coder: &mut impl ac::Coder,
    selection: &Selection,
    wide: usize,
    intervals: &mut Intervals<'a>,
    mut bits: Bits<'a>,
    rows: &[Mutex<BlockRow>],
) -> Result<Bits<'a>> {
    for row in rows {
        let mut row = lock_row(row);
        bits = with_modern_instructions(
            #[inline(always)]
            || ac::row(coder, selection, intervals, bits, &mut row, wide),
        )?;
        check(&bits)?;
    }
    Ok(bits)
}
