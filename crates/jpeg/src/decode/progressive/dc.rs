//! Decodes DC scans: one coefficient per block, first passes or refinements, of one component or of several
//! interleaved.

use std::ops::Range;

use crate::decode::bits::Bits;
use crate::decode::huffman::{Meaning, Table};
use crate::decode::plane::PlaneDecoder;
use crate::decode::progressive::rows::{BlockRow, Rows, lock_row};
use crate::decode::progressive::scans::{FoundScan, MISSING_TABLE};
use crate::decode::scan::{Intervals, check, mcus};
use crate::decode::segments::{FrameHeader, ScanComponent};
use crate::error::Result;

/// A DC scan and what it needs from the frame.
pub(super) struct Scan {
    components: Vec<Component>,
    across: usize,
    /// The DC prediction of each component.
    predictions: [i32; 3],
    /// The position of the lowest bit that this scan contributes.
    low: u32,
}

struct Component {
    /// Index of the component in the frame.
    index: usize,
    /// The Huffman table. `None` in a refinement scan.
    table: Option<Table>,
    /// Width in blocks of the component's part of an MCU; 1 in a scan of one component.
    h: usize,
    /// Height in blocks of the component's part of an MCU; 1 in a scan of one component.
    v: usize,
    /// Number of coefficients per block that are stored, of which this scan sets the first.
    count: usize,
}

impl Scan {
    /// Creates the decoder of a DC scan. Fails if a Huffman table is missing.
    pub(super) fn new(
        frame: &FrameHeader,
        scan: &FoundScan<'_>,
        planes: &[PlaneDecoder],
    ) -> Result<Self> {
        let (across, _) = mcus(frame, &scan.header, planes);
        let is_alone = scan.header.components.len() == 1;
        let component = |component: &ScanComponent| {
            let plane = &planes[component.index];
            let codes = scan.tables.dc(component.dc_table);
            let table = match scan.header.high {
                0 => Some(Table::new(codes.ok_or(MISSING_TABLE)?, Meaning::Dc)),
                _ => None,
            };
            let (h, v) = if is_alone { (1, 1) } else { (plane.h, plane.v) };
            Ok(Component {
                index: component.index,
                table,
                h: h as usize,
                v: v as usize,
                count: plane.selection.count(),
            })
        };
        let components = scan.header.components.iter().map(component);
        Ok(Self {
            components: components.collect::<Result<_>>()?,
            across: across as usize,
            predictions: [0; 3],
            low: scan.header.low,
        })
    }

    /// Decodes these rows of MCUs, beginning at `bits`. In a scan of one component, a row of MCUs is a row of its
    /// blocks.
    pub(super) fn decode_rows<'a>(
        &mut self,
        intervals: &mut Intervals<'a>,
        mut bits: Bits<'a>,
        rows: &[Rows],
        mcu_rows: Range<usize>,
    ) -> Result<Bits<'a>> {
        for mcu_row in mcu_rows {
            let mut locked: Vec<_> = (self.components.iter())
                .map(|component| {
                    let first = mcu_row * component.v;
                    let rows = &rows[component.index][first..first + component.v];
                    rows.iter().map(lock_row).collect::<Vec<_>>()
                })
                .collect();
            for mcu in 0..self.across {
                if intervals.begin_mcu(&mut bits)? {
                    self.predictions = [0; 3];
                }
                for ((component, rows), prediction) in self
                    .components
                    .iter()
                    .zip(&mut locked)
                    .zip(&mut self.predictions)
                {
                    for row in rows {
                        component.blocks(row, mcu, &mut bits, prediction, self.low)?;
                    }
                }
            }
            check(&bits)?;
        }
        Ok(bits)
    }
}

impl Component {
    /// Decodes the blocks of one MCU in one row of blocks.
    #[inline(always)]
    fn blocks(
        &self,
        row: &mut BlockRow,
        mcu: usize,
        bits: &mut Bits<'_>,
        prediction: &mut i32,
        low: u32,
    ) -> Result<()> {
        for block in mcu * self.h..(mcu + 1) * self.h {
            let value = &mut row.values[block * self.count];
            if let Some(table) = &self.table {
                bits.refill();
                *prediction = prediction.wrapping_add(table.decode(bits)?.1);
                *value = (*prediction << low) as i16;
            } else {
                *value |= (bits.take(1) as i16) << low;
            }
        }
        Ok(())
    }
}
