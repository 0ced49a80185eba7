//! Sequential (baseline and extended) scans: each row of MCUs is turned into samples right after it is decoded.

use andon_pixels::Bound;
use std::ops::Range;
use std::sync::Arc;

use andon_kernels::cpu::with_modern_instructions;

use super::bits::Bits;
use super::entropy::Unstuffed;
use super::huffman::{Meaning, PairTable, SkipTable, Table};
use super::output::{Lane, Output};
use super::plane::{Kept, PlaneDecoder, quant_of};
use super::scan::{ENDS_EARLY, Intervals, check, mcus};
use super::segments::{FrameHeader, ScanComponent, ScanHeader, Segment, Segments, Tables};
use super::split::{self, Tail};
use super::streams::{self, Streams};
use super::strips;
use super::{Refused, Request, Scans, within};

pub(super) fn decode(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    mut planes: Vec<PlaneDecoder>,
    wanted: &Request<'_>,
) -> Result<Vec<PlaneDecoder>, Refused> {
    let mut scans = 0;
    while let Segment::Scan(scan) = segments.next()? {
        scans += 1;
        within(Bound::SCANS, scans, wanted.scans.into())?;
        // libjpeg mixes what it has with what comes again.
        if scan.components.iter().any(|one| planes[one.index].complete) {
            return Err(Refused::Unsupported);
        }
        let mut data = Unstuffed::default();
        let length = data.read(segments.entropy_coded());
        if data.has_fill_bytes_inside() {
            return Err(Refused::Unsupported);
        }
        planes = decode_scan(&segments.tables, frame, &scan, data, planes, wanted)?;
        segments.pass(length);
        if planes.iter().all(|plane| plane.complete) {
            // Only whole files are decoded in full, as ever; a small image has all that it needs, unless
            // there may be another scan.
            let all = wanted.followed == Scans::All;
            if all || scans > 1 || planes.iter().any(|plane| plane.kept.side == 8) {
                ends(segments, scans)?;
            }
            return Ok(planes);
        }
    }
    // What libjpeg makes of components that no scan has is its affair.
    Err(if segments.ended() {
        Refused::Unsupported
    } else {
        Refused::broken("it ends before every component was seen")
    })
}

/// Reads from the last scan that is needed to the end of the file, and fails if another scan follows. The EOI marker
/// may be missing only if `scans` is 1.
pub(super) fn ends(segments: &mut Segments<'_>, scans: u64) -> Result<(), Refused> {
    loop {
        match segments.next()? {
            Segment::Frame(_) => {}
            // Something comes again.
            Segment::Scan(_) => return Err(Refused::Unsupported),
            Segment::End if segments.ended() || scans == 1 => return Ok(()),
            Segment::End => return Err(Refused::broken("it ends early")),
        }
    }
}

/// Decoding state of one component during a scan.
pub(super) struct Coder {
    pub(super) tables: Arc<CoderTables>,
    /// The prediction of the next DC coefficient.
    pub(super) prediction: i32,
    /// Samples per block side.
    pub(super) side: usize,
    /// Blocks per row.
    pub(super) stride: usize,
    /// Blocks per MCU, horizontally (`h`) and vertically (`v`); 1 × 1 in a scan of one component.
    pub(super) h: usize,
    pub(super) v: usize,
    /// Coefficients of one row of MCUs: `v` rows of `stride` blocks, and one more slot for coefficients that are not
    /// kept.
    pub(super) row: Vec<i16>,
}

pub(super) struct CoderTables {
    pub(super) dc: Table,
    pub(super) ac: Table,
    pairs: PairTable,
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
    ) -> Result<Self, Refused> {
        // Frames of motion JPEG leave the standard tables out. libjpeg-turbo has them.
        let missing = Refused::Unsupported;
        let dc = tables.dc(component.dc_table).ok_or(missing)?;
        let ac = tables.ac(component.ac_table).ok_or(missing)?;
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
    fn new(tables: Arc<CoderTables>, plane: &PlaneDecoder, alone: bool) -> Self {
        let (h, v) = if alone {
            (1, 1)
        } else {
            (plane.h as usize, plane.v as usize)
        };
        Self {
            tables,
            prediction: 0,
            side: plane.kept.side,
            stride: plane.stride,
            h,
            v,
            row: vec![0; v * plane.stride * plane.kept.count() + 1],
        }
    }

    /// A copy of this coder with nothing decoded yet.
    fn anew(&self) -> Self {
        Self {
            tables: self.tables.clone(),
            prediction: 0,
            row: vec![0; self.row.len()],
            ..*self
        }
    }

    /// Returns whether both coders use the same tables: they decode the same codes and keep the same coefficients.
    pub(super) fn shares_tables(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }

    /// Coefficients per block.
    pub(super) fn count(&self) -> usize {
        self.side * self.side
    }
}

/// Returns copies of `coders` with nothing decoded yet.
pub(super) fn anew(coders: &[Coder]) -> Vec<Coder> {
    coders.iter().map(Coder::anew).collect()
}

/// Creates the coder and the output lane of each component of a scan.
pub(super) fn coders(
    tables: &Tables,
    frame: &FrameHeader,
    scan: &ScanHeader,
    planes: &[PlaneDecoder],
    symbols: Symbols,
) -> Result<(Vec<Coder>, Vec<Lane>), Refused> {
    let alone = scan.components.len() == 1;
    let mut coders = Vec::<Coder>::with_capacity(scan.components.len());
    let mut lanes = Vec::with_capacity(scan.components.len());
    for component in &scan.components {
        let plane = &planes[component.index];
        // Both chroma components have the same, most of the time.
        let same = (coders.iter().zip(&scan.components)).find(|(coder, other)| {
            let names = |one: &ScanComponent| (one.dc_table, one.ac_table);
            coder.side == plane.kept.side && names(other) == names(component)
        });
        let made = match same {
            Some((coder, _)) => coder.tables.clone(),
            None => {
                let side = plane.kept.side;
                Arc::new(CoderTables::new(tables, component, side, symbols)?)
            }
        };
        let coder = Coder::new(made, plane, alone);
        lanes.push(Lane {
            component: component.index,
            rows: coder.v,
            quant: *quant_of(tables, frame, component.index)?,
        });
        coders.push(coder);
    }
    Ok((coders, lanes))
}

fn decode_scan(
    tables: &Tables,
    frame: &FrameHeader,
    scan: &ScanHeader,
    data: Unstuffed,
    mut planes: Vec<PlaneDecoder>,
    wanted: &Request<'_>,
) -> Result<Vec<PlaneDecoder>, Refused> {
    let (across, down) = mcus(frame, scan, &planes);
    // Where restart markers are to come but do not, the scan is broken.
    let is_one = tables.restart == 0 || tables.restart as usize >= across as usize * down as usize;
    // An idle core decodes strips or the second half of the scan, or makes the samples where they are much of the work.
    let in_scan = scan.components.iter().map(|one| &planes[one.index]);
    let full = in_scan.clone().any(|plane| plane.kept.side == 8);
    let is_half = in_scan.clone().any(|plane| plane.kept.side == 4);
    let blocks = in_scan.map(|plane| match scan.components.len() {
        1 => 1,
        _ => plane.h as usize * plane.v as usize,
    });
    let samples = blocks.sum::<usize>() * 64 * across as usize * down as usize;
    let may_stream = is_one && !full && streams::are_for(&data);
    let may_stream = may_stream && !split::rather(&data, is_half, samples, wanted.cores);
    let with = |symbols| coders(tables, frame, scan, &planes, symbols);
    // What streams leave over are a few MCUs, as a rule.
    let (mut coders, lanes) = with(match may_stream && data.len() < TABLES_WORTH_IT {
        true => Symbols::One,
        false => Symbols::Several,
    })?;
    let data = Arc::new(data);
    let mut streams = None;
    if may_stream {
        streams = Streams::new(&data, tables, scan, &coders, (across, down));
        if streams.is_none() {
            coders = with(Symbols::Several)?.0;
        }
    }
    let mut tail = None;
    if full && is_one && samples >= SAMPLES_WORTH_IT {
        let scan = strips::Scan {
            data: &data,
            tables,
            frame,
            header: scan,
            size: (across, down),
            samples,
        };
        planes = match strips::decode(scan, &coders, &lanes, planes, wanted) {
            Ok(done) => return done,
            Err(planes) => planes,
        };
    }
    if is_one && streams.is_none() && (!full || split::in_full(data.len() as u64, samples as u64)) {
        tail = Tail::offer(wanted.cores, &data, &coders, across, down);
    }
    let mut output = if full && tail.is_none() && samples >= SAMPLES_WORTH_IT {
        Output::offered(planes, wanted.cores, &lanes, &coders)?
    } else {
        Output::Here(planes)
    };
    let mut intervals = Intervals::new(&data, tables.restart);
    let mut bits = match streams {
        Some(_) => data.reader(0).ok_or(ENDS_EARLY)?,
        None => Bits::new(&[]),
    };
    for mcu_row in 0..down {
        if (wanted.interrupted)() {
            return Err(Refused::Interrupted);
        }
        let first = mcu_row as usize * across as usize;
        match (&mut streams, &mut tail) {
            (Some(streams), _) => {
                bits = streams.decode_row(&data, &mut coders, bits, wanted)?;
            }
            (None, Some(tail)) => {
                bits = tail.decode_row(&mut coders, first, &mut intervals, bits)?;
            }
            (None, None) => {
                bits = decode_mcus(&mut coders, 0..across as usize, &mut intervals, bits)?;
            }
        }
        check(&bits)?;
        output.take(&lanes, &mut coders)?;
        if let Some(tail) = tail.take_if(|tail| tail.has_met()) {
            let next = mcu_row as usize + 1;
            return tail.finish(next, coders, &lanes, output.planes()?, wanted);
        }
    }
    output.planes()
}

/// Minimum size in bytes of a scan for which tables of several symbols are built although streams decode it. Building
/// them takes little of the scan's time, and pays if the streams leave over more than a few MCUs.
const TABLES_WORTH_IT: usize = 1 << 20;

/// Minimum number of samples at full size for which waking another core to compute them pays: about half a millisecond
/// of work. It is lower for tests, which have small images.
const SAMPLES_WORTH_IT: usize = if cfg!(any(test, fuzzing)) {
    32 << 10
} else {
    2 << 20
};

/// Decodes the given MCUs of a row into the coders' rows.
pub(super) fn decode_mcus<'a>(
    coders: &mut [Coder],
    mcus: Range<usize>,
    intervals: &mut Intervals<'a>,
    bits: Bits<'a>,
) -> Result<Bits<'a>, Refused> {
    with_modern_instructions(
        #[inline(always)]
        || {
            decode_row(
                coders,
                mcus,
                intervals,
                bits,
                #[inline(always)]
                |_, _, _| false,
            )
        },
    )
}

/// Decodes the given MCUs of a row into the coders' rows, or those before `stop` returns `true`. `stop` is called
/// before each MCU, with its index, the bit at which it begins, and the coders.
#[inline(always)]
pub(super) fn decode_row<'a>(
    coders: &mut [Coder],
    mcus: Range<usize>,
    intervals: &mut Intervals<'a>,
    mut bits: Bits<'a>,
    mut stop: impl FnMut(usize, u64, &[Coder]) -> bool,
) -> Result<Bits<'a>, Refused> {
    for mcu in mcus {
        if stop(mcu, bits.consumed(), coders) {
            break;
        }
        if intervals.begin_mcu(&mut bits)? {
            for coder in &mut *coders {
                coder.prediction = 0;
            }
        }
        for coder in &mut *coders {
            match coder.side {
                1 => coder.decode_mcu::<1>(&mut bits, mcu)?,
                2 => coder.decode_mcu::<2>(&mut bits, mcu)?,
                4 => coder.decode_mcu::<4>(&mut bits, mcu)?,
                _ => coder.decode_mcu::<8>(&mut bits, mcu)?,
            }
        }
    }
    Ok(bits)
}

impl Coder {
    /// Decodes this component's blocks of one MCU. Generic over `SIDE` so that the place of each coefficient is known
    /// at compile time.
    #[inline(always)]
    fn decode_mcu<const SIDE: usize>(
        &mut self,
        bits: &mut Bits<'_>,
        mcu: usize,
    ) -> Result<(), Refused> {
        for v in 0..self.v {
            let first = (v * self.stride + mcu * self.h) * SIDE * SIDE;
            for h in 0..self.h {
                let at = first + h * SIDE * SIDE;
                bits.refill();
                self.prediction = self.prediction.wrapping_add(self.tables.dc.decode(bits)?.1);
                self.row[at] = self.prediction as i16;
                if SIDE == 1 {
                    self.tables.skip.skip_block(&self.tables.ac, bits, 1)?;
                } else {
                    self.decode_ac::<SIDE>(bits, at)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the AC coefficients that are kept into the block at index `at` of the row, and skips the rest.
    #[inline(always)]
    fn decode_ac<const SIDE: usize>(
        &mut self,
        bits: &mut Bits<'_>,
        at: usize,
    ) -> Result<(), Refused> {
        let kept = const { Kept::of(SIDE as u8) };
        // Every value is stored, those that are not kept in the row's last slot, which nobody reads: no
        // branch depends on where a coefficient lies.
        let tables = &*self.tables;
        let row = &mut self.row[..];
        let nowhere = row.len() - 1;
        let mut store = |k: u32, value: i16| row[(at + kept.place(k)).min(nowhere)] = value;
        let mut k = 1;
        while k <= kept.last {
            bits.refill();
            let pair = tables.pairs.peek(bits);
            if pair.is_unfit(k) {
                let (advance, value) = tables.ac.decode(bits)?;
                k += advance;
                store(k - 1, value as i16);
            } else {
                bits.consume(pair.consumed());
                store(k + pair.first_advance() - 1, pair.first());
                k += pair.advance();
                store(k - 1, pair.second());
            }
        }
        if k < 64 {
            tables.skip.skip_block(&tables.ac, bits, k)
        } else {
            Ok(())
        }
    }
}
