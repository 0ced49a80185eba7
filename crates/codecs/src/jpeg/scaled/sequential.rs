//! Sequential (baseline and extended) scans: each row of MCUs goes straight to samples.

use super::bits::Bits;
use super::entropy::Unstuffed;
use super::huffman::{Meaning, SkipTable, Table};
use super::plane::{Kept, PlaneDecoder, quant_of};
use super::scan::{Intervals, mcus};
use super::segments::{FrameHeader, ScanHeader, Segment, Segments, Tables};
use super::{Refused, Wanted};

pub(super) fn decode(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    planes: &mut [PlaneDecoder],
    wanted: &Wanted<'_>,
) -> Result<(), Refused> {
    let mut data = Unstuffed::default();
    while let Segment::Scan(scan) = segments.next()? {
        let length = data.read(segments.entropy_coded());
        decode_scan(&segments.tables, frame, &scan, &data, planes, wanted)?;
        segments.pass(length);
        if planes.iter().all(|plane| plane.complete) {
            return Ok(());
        }
    }
    Err(Refused::broken("it ends before every component was seen"))
}

/// What one component needs during a scan.
struct Coder<'a> {
    index: usize,
    dc: Table,
    ac: Table,
    skip: SkipTable,
    quant: &'a [u16; 64],
    prediction: i32,
    /// Blocks per MCU; 1 × 1 in a scan of one component.
    h: usize,
    v: usize,
    /// Coefficients of one row of MCUs: `v` rows of `stride` blocks.
    row: Vec<i16>,
}

fn decode_scan(
    tables: &Tables,
    frame: &FrameHeader,
    scan: &ScanHeader,
    data: &Unstuffed,
    planes: &mut [PlaneDecoder],
    wanted: &Wanted<'_>,
) -> Result<(), Refused> {
    let (across, down) = mcus(frame, scan, planes);
    let alone = scan.components.len() == 1;
    let mut coders = Vec::with_capacity(scan.components.len());
    for component in &scan.components {
        let plane = &planes[component.index];
        let missing = Refused::Broken("a scan's Huffman table is missing");
        let dc = tables.dc[component.dc_table].as_ref().ok_or(missing)?;
        let ac = Table::new(tables.ac[component.ac_table].as_ref().ok_or(missing)?, Meaning::Ac);
        let (h, v) = if alone { (1, 1) } else { (plane.h as usize, plane.v as usize) };
        coders.push(Coder {
            index: component.index,
            dc: Table::new(dc, Meaning::Dc),
            skip: SkipTable::new(&ac),
            ac,
            quant: quant_of(tables, frame, component.index)?,
            prediction: 0,
            h,
            v,
            row: vec![0; v * plane.stride * plane.kept.count()],
        });
    }
    let mut intervals = Intervals::new(data, tables.restart);
    for mcu_row in 0..down {
        if (wanted.interrupted)() {
            return Err(Refused::Interrupted);
        }
        for coder in &mut coders {
            coder.row.fill(0);
        }
        for mcu in 0..across as usize {
            if intervals.begin_mcu()? {
                for coder in &mut coders {
                    coder.prediction = 0;
                }
            }
            for coder in &mut coders {
                let plane = &planes[coder.index];
                coder.decode_mcu(&mut intervals.bits, plane.kept, plane.stride, mcu)?;
            }
        }
        intervals.check()?;
        for coder in &coders {
            let plane = &mut planes[coder.index];
            let length = plane.stride * plane.kept.count();
            for (v, row) in (0..).zip(coder.row.chunks_exact(length)) {
                plane.write_row(mcu_row * coder.v as u32 + v, row, coder.quant);
            }
        }
    }
    Ok(())
}

impl Coder<'_> {
    #[inline(always)]
    fn decode_mcu(&mut self, bits: &mut Bits<'_>, kept: &Kept, stride: usize, mcu: usize) -> Result<(), Refused> {
        let count = kept.count();
        for v in 0..self.v {
            for h in 0..self.h {
                let at = (v * stride + mcu * self.h + h) * count;
                bits.refill();
                self.prediction = self.prediction.wrapping_add(self.dc.decode(bits)?.1);
                let block = &mut self.row[at..at + count];
                block[0] = self.prediction as i16;
                if count == 1 {
                    self.skip.skip_block(&self.ac, bits, 1)?;
                } else {
                    decode_ac(&self.ac, &self.skip, bits, kept, block)?;
                }
            }
        }
        Ok(())
    }
}

/// Reads the AC coefficients that are kept and passes over the rest.
#[inline(always)]
fn decode_ac(ac: &Table, skip: &SkipTable, bits: &mut Bits<'_>, kept: &Kept, block: &mut [i16]) -> Result<(), Refused> {
    let mut k = 1;
    loop {
        if bits.available() < 32 {
            bits.refill();
        }
        let (advance, value) = ac.decode(bits)?;
        k += advance;
        if k > 64 {
            return Ok(());
        }
        if let Some(slot) = block.get_mut(usize::from(kept.place[k as usize - 1])) {
            *slot = value as i16;
        }
        if k > kept.last {
            return if k < 64 { skip.skip_block(ac, bits, k) } else { Ok(()) };
        }
    }
}
