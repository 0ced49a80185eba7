//! Progressive scans: only those that are needed, and of those only what is needed.
//!
//! A refinement scan interleaves new coefficients with one correction bit for each coefficient that was
//! non-zero already, so following it takes the *places* of all non-zero coefficients of its band, even of
//! those whose values are not kept. A mask of 64 bits per block holds them: how many correction bits stand
//! between two symbols is one population count, where libjpeg walks coefficient by coefficient.

use andon_kernels::cpu::with_modern_instructions;

use super::bits::Bits;
use super::entropy::{self, Unstuffed};
use super::huffman::{Codes, END_OF_BLOCK, Meaning, Symbols, Table};
use super::plane::{Kept, PlaneDecoder, quant_of};
use super::scan::{Intervals, check, mcus};
use super::segments::{FrameHeader, ScanHeader, Segment, Segments, Tables};
use super::{Refused, Wanted};

/// A component's coefficients while scans add to them.
struct Store {
    /// `kept.count()` per block, rows of `stride` blocks, as many rows as whole MCUs have.
    values: Vec<i16>,
    /// Non-zero places of each block; empty when no needed scan refines AC coefficients.
    masks: Vec<u64>,
    quant: Option<[u16; 64]>,
}

pub(super) fn decode(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    planes: &mut [PlaneDecoder],
    wanted: &Wanted<'_>,
) -> Result<(), Refused> {
    let ahead = scans_ahead(segments.clone(), wanted)?;
    let needed = needed_scans(&ahead, planes);
    let mut stores: Vec<_> = (0..planes.len())
        .map(|index| {
            let plane = &planes[index];
            let blocks = plane.stride * (frame.height.div_ceil(8 * frame.v_max) * plane.v) as usize;
            let refined = ahead.iter().zip(&needed).any(|(scan, &needed)| {
                needed && scan.high > 0 && scan.first > 0 && scan.has(index)
            });
            Store {
                values: vec![0; blocks * plane.kept.count()],
                masks: vec![0; if refined { blocks } else { 0 }],
                quant: None,
            }
        })
        .collect();

    let mut data = Unstuffed::default();
    for needed in needed {
        let Segment::Scan(scan) = segments.next()? else {
            break;
        };
        let length = if needed {
            let length = data.read(segments.entropy_coded());
            decode_scan(
                &segments.tables,
                frame,
                &scan,
                &data,
                planes,
                &mut stores,
                wanted,
            )?;
            length
        } else {
            entropy::length(segments.entropy_coded())
        };
        segments.pass(length);
    }
    for (plane, store) in planes.iter_mut().zip(&stores) {
        let Some(quant) = &store.quant else {
            return Err(Refused::broken("a component has no scan"));
        };
        let row_length = plane.stride * plane.kept.count();
        for (row, coefficients) in (0..).zip(store.values.chunks_exact(row_length)) {
            plane.write_row(row, coefficients, quant);
        }
    }
    Ok(())
}

impl ScanHeader {
    fn has(&self, component: usize) -> bool {
        self.components.iter().any(|c| c.index == component)
    }

    /// The band as a mask of zigzag places.
    fn band(&self) -> u64 {
        places(self.first, self.last)
    }
}

/// Zigzag places `from` to `to` as a mask; none when `from` is beyond.
#[inline(always)]
fn places(from: u32, to: u32) -> u64 {
    if from > to {
        0
    } else {
        (u64::MAX >> (63 - to)) & (u64::MAX << from)
    }
}

/// The headers of all scans to come, none of them kept beyond the ceiling.
fn scans_ahead(
    mut segments: Segments<'_>,
    wanted: &Wanted<'_>,
) -> Result<Vec<ScanHeader>, Refused> {
    let mut scans = Vec::new();
    while let Segment::Scan(scan) = segments.next()? {
        segments.pass(entropy::length(segments.entropy_coded()));
        scans.push(scan);
        wanted.check("scans", scans.len() as u64, wanted.scans.into())?;
    }
    // Unlike a sequential file, one that ends between scans looks whole: only EOI tells.
    if segments.ended() {
        Ok(scans)
    } else {
        Err(Refused::broken("it ends early"))
    }
}

/// Which scans must be decoded: DC scans, those with a coefficient that is kept, and those that place
/// coefficients among which a needed later scan has to count.
fn needed_scans(scans: &[ScanHeader], planes: &[PlaneDecoder]) -> Vec<bool> {
    let mut needed = vec![false; scans.len()];
    let mut counted = vec![0u64; planes.len()];
    for (scan, needed) in scans.iter().zip(&mut needed).rev() {
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

fn decode_scan(
    tables: &Tables,
    frame: &FrameHeader,
    scan: &ScanHeader,
    data: &Unstuffed,
    planes: &[PlaneDecoder],
    stores: &mut [Store],
    wanted: &Wanted<'_>,
) -> Result<(), Refused> {
    for component in &scan.components {
        let quant = &mut stores[component.index].quant;
        if quant.is_none() {
            *quant = Some(*quant_of(tables, frame, component.index)?);
        }
    }
    if scan.first == 0 {
        return decode_dc(tables, frame, scan, data, planes, stores, wanted);
    }
    let component = scan.components[0];
    let plane = &planes[component.index];
    let codes = tables.ac[component.ac_table]
        .as_ref()
        .ok_or(MISSING_TABLE)?;
    let store = &mut stores[component.index];
    let mut intervals = Intervals::new(data, tables.restart);
    if scan.high == 0 {
        decode_ac(
            AcFirst::new(scan, codes, plane.kept),
            plane,
            store,
            &mut intervals,
            wanted,
        )
    } else {
        decode_ac(
            AcRefine::new(scan, codes, plane.kept),
            plane,
            store,
            &mut intervals,
            wanted,
        )
    }
}

fn decode_ac<'a>(
    mut coder: impl BlockCoder,
    plane: &PlaneDecoder,
    store: &mut Store,
    intervals: &mut Intervals<'a>,
    wanted: &Wanted<'_>,
) -> Result<(), Refused> {
    let mut bits = Bits::new(&[]);
    for row in 0..plane.blocks_high as usize {
        if (wanted.interrupted)() {
            return Err(Refused::Interrupted);
        }
        let first = row * plane.stride;
        let blocks = first..first + plane.blocks_wide as usize;
        let count = plane.kept.count();
        let values = &mut store.values[blocks.start * count..blocks.end * count];
        let masks = if store.masks.is_empty() {
            &mut []
        } else {
            &mut store.masks[blocks]
        };
        bits = with_modern_instructions(
            #[inline(always)]
            || coder.row(intervals, bits, values, masks),
        )?;
        check(&bits)?;
    }
    Ok(())
}

const MISSING_TABLE: Refused = Refused::Broken("a scan's Huffman table is missing");

fn decode_dc(
    tables: &Tables,
    frame: &FrameHeader,
    scan: &ScanHeader,
    data: &Unstuffed,
    planes: &[PlaneDecoder],
    stores: &mut [Store],
    wanted: &Wanted<'_>,
) -> Result<(), Refused> {
    let (across, down) = mcus(frame, scan, planes);
    let alone = scan.components.len() == 1;
    let mut codes = Vec::new();
    for component in &scan.components {
        codes.push(match scan.high {
            0 => {
                let codes = tables.dc[component.dc_table]
                    .as_ref()
                    .ok_or(MISSING_TABLE)?;
                Some(Table::new(codes, Meaning::Dc))
            }
            _ => None,
        });
    }
    let mut predictions = [0i32; 3];
    let mut intervals = Intervals::new(data, tables.restart);
    let mut bits = Bits::new(&[]);
    for mcu_row in 0..down as usize {
        if (wanted.interrupted)() {
            return Err(Refused::Interrupted);
        }
        for mcu in 0..across as usize {
            if intervals.begin_mcu(&mut bits)? {
                predictions = [0; 3];
            }
            for ((component, table), prediction) in
                scan.components.iter().zip(&codes).zip(&mut predictions)
            {
                let plane = &planes[component.index];
                let (h, v) = if alone {
                    (1, 1)
                } else {
                    (plane.h as usize, plane.v as usize)
                };
                let count = plane.kept.count();
                for y in 0..v {
                    for x in 0..h {
                        let block = (mcu_row * v + y) * plane.stride + mcu * h + x;
                        let value = &mut stores[component.index].values[block * count];
                        if let Some(table) = table {
                            bits.refill();
                            *prediction = prediction.wrapping_add(table.decode(&mut bits)?.1);
                            *value = (*prediction << scan.low) as i16;
                        } else {
                            *value |= (bits.take(1) as i16) << scan.low;
                        }
                    }
                }
            }
        }
        check(&bits)?;
    }
    Ok(())
}

/// Decodes one row of blocks of an AC scan.
trait BlockCoder {
    fn row<'a>(
        &mut self,
        intervals: &mut Intervals<'a>,
        bits: Bits<'a>,
        values: &mut [i16],
        masks: &mut [u64],
    ) -> Result<Bits<'a>, Refused>;
}

/// The first scan of a band (T.81, G.1.2.2).
struct AcFirst {
    table: Table,
    kept: &'static Kept,
    first: u32,
    last: u32,
    low: u32,
    /// Blocks still to come that have nothing in this band.
    empty_blocks: u32,
}

impl AcFirst {
    fn new(scan: &ScanHeader, codes: &Codes, kept: &'static Kept) -> Self {
        let table = Table::new(codes, Meaning::ProgressiveAc);
        Self {
            table,
            kept,
            first: scan.first,
            last: scan.last,
            low: scan.low,
            empty_blocks: 0,
        }
    }

    #[inline(always)]
    fn block(&mut self, bits: &mut Bits<'_>, values: &mut [i16]) -> Result<u64, Refused> {
        let mut mask = 0;
        let mut k = self.first;
        while k <= self.last {
            if bits.available() < 32 {
                bits.refill();
            }
            let (advance, value) = self.table.decode(bits)?;
            if advance >= END_OF_BLOCK {
                let run = advance - END_OF_BLOCK;
                self.empty_blocks = (1 << run) - 1 + bits.take(run);
                break;
            }
            k += advance;
            // A run of 16 zeros has value 0 and places nothing. A run beyond the band is corrupt.
            if k > self.last + 1 {
                return Err(Refused::broken("a run of coefficients leaves its band"));
            }
            mask |= u64::from(value != 0) << (k - 1);
            if let Some(slot) = values.get_mut(self.kept.place(k - 1)) {
                *slot = (value << self.low) as i16;
            }
        }
        Ok(mask)
    }
}

impl BlockCoder for AcFirst {
    #[inline(always)]
    fn row<'a>(
        &mut self,
        intervals: &mut Intervals<'a>,
        mut bits: Bits<'a>,
        values: &mut [i16],
        masks: &mut [u64],
    ) -> Result<Bits<'a>, Refused> {
        for (index, values) in values.chunks_exact_mut(self.kept.count()).enumerate() {
            if intervals.begin_mcu(&mut bits)? {
                self.empty_blocks = 0;
            }
            if self.empty_blocks > 0 {
                self.empty_blocks -= 1;
                continue;
            }
            let mask = self.block(&mut bits, values)?;
            if let Some(slot) = masks.get_mut(index) {
                *slot |= mask;
            }
        }
        Ok(bits)
    }
}

/// A refinement scan of a band (T.81, G.1.2.3).
struct AcRefine {
    symbols: Symbols,
    kept: &'static Kept,
    /// Places of the kept coefficients.
    kept_places: u64,
    first: u32,
    last: u32,
    /// The bit this scan adds.
    bit: i16,
    /// Blocks still to come that get corrections only.
    empty_blocks: u32,
}

impl AcRefine {
    fn new(scan: &ScanHeader, codes: &Codes, kept: &'static Kept) -> Self {
        let kept_places = (0..64)
            .filter(|&k| kept.keeps(k))
            .fold(0, |places, k| places | 1u64 << k);
        Self {
            symbols: Symbols::new(codes),
            kept,
            kept_places,
            first: scan.first,
            last: scan.last,
            bit: 1 << scan.low,
            empty_blocks: 0,
        }
    }

    #[inline(always)]
    fn block(
        &mut self,
        bits: &mut Bits<'_>,
        values: &mut [i16],
        mask: &mut u64,
    ) -> Result<(), Refused> {
        let old = *mask & places(self.first, self.last);
        // Correction bits come in the order of the old places: gathered here, applied at the end.
        let mut corrections = 0u64;
        let mut k = self.first;
        while self.empty_blocks == 0 && k <= self.last {
            bits.refill();
            let symbol = self.symbols.decode(bits)?;
            let (run, size) = (u32::from(symbol >> 4), symbol & 15);
            if size == 0 && run < 15 {
                self.empty_blocks = (1 << run) + bits.take(run);
                break;
            }
            // The place after `run` zeros: where a new coefficient goes, or the last of 16 zeros.
            let mut zeros = !old & places(k, self.last);
            for _ in 0..run {
                zeros &= zeros.wrapping_sub(1);
            }
            let place = if zeros == 0 {
                self.last + 1
            } else {
                zeros.trailing_zeros()
            };
            if size != 0 {
                if place > self.last {
                    return Err(Refused::broken("a run of coefficients leaves its band"));
                }
                *mask |= 1 << place;
                let value = if bits.take(1) == 1 {
                    self.bit
                } else {
                    -self.bit
                };
                if let Some(slot) = values.get_mut(self.kept.place(place)) {
                    *slot = value;
                }
            }
            corrections = take_corrections(bits, corrections, old & places(k, place - 1));
            k = place + 1;
        }
        if self.empty_blocks > 0 {
            corrections = take_corrections(bits, corrections, old & places(k, self.last));
            self.empty_blocks -= 1;
        }
        self.apply(values, old, corrections);
        Ok(())
    }

    /// Applies the corrections of kept coefficients: one bit for each of `old`, the last one lowest.
    #[inline(always)]
    fn apply(&self, values: &mut [i16], old: u64, corrections: u64) {
        let mut kept = old & self.kept_places;
        if corrections == 0 {
            return;
        }
        while kept != 0 {
            let k = kept.trailing_zeros();
            let after = (old >> k).count_ones() - 1;
            let correction = self.bit * (corrections >> after & 1) as i16;
            if let Some(slot) = values.get_mut(self.kept.place(k))
                && *slot & self.bit == 0
            {
                *slot = slot.wrapping_add(if *slot >= 0 { correction } else { -correction });
            }
            kept &= kept - 1;
        }
    }
}

/// Appends a bit for each of `places` to `corrections`.
#[inline(always)]
fn take_corrections(bits: &mut Bits<'_>, corrections: u64, places: u64) -> u64 {
    let count = places.count_ones();
    if count > 32 {
        let upper = corrections << 32 | u64::from(bits.take(32));
        return upper << (count - 32) | u64::from(bits.take(count - 32));
    }
    corrections << count | u64::from(bits.take(count))
}

impl BlockCoder for AcRefine {
    #[inline(always)]
    fn row<'a>(
        &mut self,
        intervals: &mut Intervals<'a>,
        mut bits: Bits<'a>,
        values: &mut [i16],
        masks: &mut [u64],
    ) -> Result<Bits<'a>, Refused> {
        for (values, mask) in values.chunks_exact_mut(self.kept.count()).zip(masks) {
            if intervals.begin_mcu(&mut bits)? {
                self.empty_blocks = 0;
            }
            self.block(&mut bits, values, mask)?;
        }
        Ok(bits)
    }
}
