//! What decoding a sequential scan needs for each of its components: tables, predictions and a row of coefficients.

use std::sync::Arc;

use crate::decode::huffman::{Meaning, PairTable, SkipTable, Table};
use crate::decode::plane::PlaneDecoder;
use crate::decode::segments::{FrameHeader, ScanComponent, ScanHeader, Tables};
use crate::error::{Error, Result};

/// Decoding state of one component during a scan.
pub(super) struct Coder {
    /// The Huffman tables. Components with the same codes and the same `side` share them.
    pub(super) tables: Arc<CoderTables>,
    /// The prediction of the next DC coefficient.
    pub(super) prediction: i32,
    /// Samples per block side at the scale of the decode: 1, 2, 4 or 8.
    pub(super) side: usize,
    /// Blocks per row.
    pub(super) stride: usize,
    /// Blocks per MCU horizontally; 1 in a scan of one component.
    pub(super) h: usize,
    /// Blocks per MCU vertically; 1 in a scan of one component.
    pub(super) v: usize,
    /// Coefficients of one row of MCUs: `v` rows of `stride` blocks. One more element at the end receives all
    /// coefficients that the scale of the decode does not need.
    pub(super) row: Vec<i16>,
}

/// The Huffman tables of a component, in every form that decoding needs.
pub(super) struct CoderTables {
    /// Decodes DC differences.
    pub(super) dc: Table,
    /// Decodes AC coefficients one by one.
    pub(super) ac: Table,
    /// Decodes up to two AC coefficients per look-up.
    pub(super) pairs: PairTable,
    /// Skips AC coefficients whose values are not needed.
    pub(super) skip: SkipTable,
}

/// How many symbols a table look-up of a coder decodes. Building tables for several symbols takes longer than decoding
/// a small image.
#[derive(Clone, Copy)]
pub(super) enum Symbols {
    One,
    Several,
}

impl CoderTables {
    /// Builds the tables of `component` for `side` samples per block side.
    fn new(
        tables: &Tables,
        component: &ScanComponent,
        side: usize,
        symbols: Symbols,
    ) -> Result<Self> {
        // Frames of motion JPEG leave the standard tables out. libjpeg-turbo has them.
        let error = Error::UNSUPPORTED;
        let dc = tables.dc(component.dc_table).ok_or(error)?;
        let ac = tables.ac(component.ac_table).ok_or(error)?;
        let ac = Table::new(ac, Meaning::Ac);
        Ok(Self {
            dc: Table::new(dc, Meaning::Dc),
            pairs: match (symbols, side) {
                (Symbols::One, _) | (_, 1) => PairTable::unused(),
                _ => PairTable::new(&ac),
            },
            skip: match (symbols, side) {
                (Symbols::One, _) | (_, 8) => SkipTable::unused(),
                _ => SkipTable::new(&ac),
            },
            ac,
        })
    }
}

impl Coder {
    fn new(tables: Arc<CoderTables>, plane: &PlaneDecoder, is_alone: bool) -> Self {
        let (h, v) = if is_alone {
            (1, 1)
        } else {
            (plane.h as usize, plane.v as usize)
        };
        Self {
            tables,
            prediction: 0,
            side: plane.selection.side,
            stride: plane.stride,
            h,
            v,
            row: vec![0; v * plane.stride * plane.selection.count() + 1],
        }
    }

    /// Returns a copy of this coder with nothing decoded yet.
    fn fresh_copy(&self) -> Self {
        Self {
            tables: self.tables.clone(),
            prediction: 0,
            row: vec![0; self.row.len()],
            ..*self
        }
    }

    /// Whether both coders share the same tables, because they decode the same codes at the same scale.
    pub(super) fn shares_tables(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }

    /// Returns the number of coefficients per block that the scale of the decode needs.
    pub(super) fn count(&self) -> usize {
        self.side * self.side
    }
}

/// Returns copies of `coders` with nothing decoded yet.
pub(super) fn fresh_copies(coders: &[Coder]) -> Vec<Coder> {
    coders.iter().map(Coder::fresh_copy).collect()
}

/// Creates, for each component of a scan, the decoding state and what is needed to turn its coefficients into samples.
pub(super) fn coders(
    tables: &Tables,
    frame: &FrameHeader,
    scan: &ScanHeader,
    planes: &[PlaneDecoder],
    symbols: Symbols,
) -> Result<(Vec<Coder>, Vec<Lane>)> {
    let components = &scan.components;
    let is_alone = components.len() == 1;
    let mut coders = Vec::<Coder>::with_capacity(components.len());
    let mut lanes = Vec::with_capacity(components.len());
    for component in components {
        let plane = &planes[component.index];
        // In most files, both chroma components use the same tables.
        let sibling = (coders.iter().zip(components)).find(|(coder, other)| {
            let names = |one: &ScanComponent| (one.dc_table, one.ac_table);
            coder.side == plane.selection.side && names(other) == names(component)
        });
        let coder_tables = match sibling {
            Some((coder, _)) => coder.tables.clone(),
            None => {
                let side = plane.selection.side;
                Arc::new(CoderTables::new(tables, component, side, symbols)?)
            }
        };
        let coder = Coder::new(coder_tables, plane, is_alone);
        lanes.push(Lane {
            component: component.index,
            rows: coder.v,
            quant: *tables.quant(frame, component.index)?,
        });
        coders.push(coder);
    }
    Ok((coders, lanes))
}

/// What is needed to turn the coefficients of one component into samples.
#[derive(Clone)]
pub(super) struct Lane {
    /// Index of the component in the frame.
    pub(super) component: usize,
    /// Rows of blocks in a row of MCUs.
    pub(super) rows: usize,
    /// The quantisation table, in zigzag order.
    pub(super) quant: [u16; 64],
}

impl Lane {
    /// Turns this component's coefficients of a row of MCUs into samples.
    pub(super) fn write(&self, plane: &mut PlaneDecoder, row: &[i16]) {
        let length = plane.stride * plane.selection.count();
        // The row ends with one more slot, which at 1/8 can be as long as a row of blocks.
        for blocks in row.chunks_exact(length).take(self.rows) {
            plane.write_row(blocks, &self.quant);
        }
    }
}
