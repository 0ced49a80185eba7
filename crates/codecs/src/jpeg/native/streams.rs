//! A scan without restart markers, read at many places at once.
//!
//! [`andon_kernels::huffman`] reads 32 streams of codes in the time of a few. So the scan is cut into as many stretches. Where
//! in a stretch the first MCU begins is unknown, but a decoder that begins anywhere falls into step
//! (see [`super::split`]); a stretch goes on into the next one for a while, and some of the bits at which MCUs began are noted.
//! Then the rows are made from the beginning of the scan on: where an MCU begins at a noted bit, those of that stretch are
//! taken, up to its end. Where none does, because the next stretch was not in step yet, MCUs are decoded one by one, as without streams.
//! So are those at the end of the data, and those between an error and the beginning of its stretch: what is wrong with a file is found
//! there, and nowhere else.
//!
//! Long scans are read in windows, so that what is held does not grow with them. An idle core reads the second half of each
//! with streams of its own. (Most of the next window ahead, while samples are made here, took longer than that.)
//!
//! It is for images at 1/2 and smaller, and finds where strips of an image in full begin ([`super::strips`]). To decode in full,
//! where every coefficient takes a look-up of its own here and on the way to its
//! row, and two a look-up without streams, it gained nothing.

use std::sync::Arc;

use andon_kernels::cpu::with_modern_instructions;
use andon_kernels::huffman::{self, Code, Kind, NOT_KEPT, PADDING, Tables as Codes};
use andon_pixels::cores::Offered;

use super::bits::Bits;
use super::entropy::Unstuffed;
use super::plane::Kept;
use super::scan::Intervals;
use super::segments::{ScanHeader, Tables};
use super::sequential::{Coder, decode_row};
use super::{Refused, Request};

mod flat;
mod reader;
mod rows;

use self::flat::Flat;
use self::reader::{Cursor, Part, Reader};
use self::rows::{MOST, Rows};

/// Bytes of a scan from which on it gains from this.
const WORTH_IT: usize = 32 << 10;

/// Bits of a scan up to which it is for streams: some more can be counted, too.
const MOST_BITS: u32 = 1 << 31;

/// Bits of an MCU at most, about: those of the longest codes are never all in one. More say that something else follows the image.
const LONGEST_MCU: u64 = 1 << 15;

/// Bits of a window, about.
const WINDOW: u32 = 8 * (512 << 10);

/// Bits of a window from which on another core is worth waking.
const WORTH_ANOTHER_CORE: u32 = 8 * (96 << 10);

/// Bits that are decoded one MCU after the other rather than as a window. Tests and fuzzers have short scans.
const LEAST_WINDOW: u32 = if cfg!(any(test, fuzzing)) {
    8 * 64
} else {
    8 * (4 << 10)
};

/// A scan that is read by streams.
pub(super) struct Streams {
    reader: Reader,
    rows: Rows,
    /// Where the bits end that streams may read, how many are in a window at most, and where it ends.
    end: u32,
    window: u32,
    window_end: u32,
    /// How many bits are in the first one, if it is another length.
    first: Option<u32>,
    /// Did another core read some of them?
    shared: bool,
    /// The parts of the window that cores have read.
    parts: Vec<Part>,
    /// Where MCUs are known to begin, in the order of their bits, and how many of them were passed.
    known: Vec<Known>,
    passed: usize,
    /// MCUs across.
    across: usize,
    /// The MCU that is to be taken next.
    taken: Option<Taken>,
}

/// An MCU that begins at bit `position`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    position: u32,
    /// Of which part, and of which of its stretches it is the how many-th.
    part: usize,
    stretch: usize,
    mcu: u32,
    /// The place of the values of the MCU.
    place: u32,
}

/// MCUs of a stretch.
struct Taken {
    part: usize,
    stretch: usize,
    /// The first of them, of the stretch, and how many are left.
    first: u32,
    mcus: usize,
    cursor: Cursor,
}

/// A place in the data from which on a row of MCUs is decoded, after some of the row before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// At which bit an MCU begins.
    pub(super) position: u32,
    /// How many MCUs come before the row.
    pub(super) before: usize,
    /// Of the scan's components.
    pub(super) predictions: [i16; MOST],
}

impl Streams {
    /// For a scan of `across` × `down` MCUs, unless it is short, has restart markers, or is of a kind that the kernel does not take.
    pub(super) fn new(
        data: &Arc<Unstuffed>,
        tables: &Tables,
        scan: &ScanHeader,
        coders: &[Coder],
        (across, down): (u32, u32),
    ) -> Option<Self> {
        if !are_for(data) || coders.iter().any(|coder| coder.side > 4) {
            return None;
        }
        let bytes = data.interval(0)?;
        let end = u32::try_from(8 * bytes.len().checked_sub(PADDING)?).ok();
        let end = end.filter(|&end| end <= MOST_BITS)?;
        let blocks = coders
            .iter()
            .map(|coder| (coder.h * coder.v, coder.count()));
        let (codes, flat) = codes(tables, scan, coders)?;
        let reader = Reader {
            data: data.clone(),
            codes: Arc::new(codes),
            flat,
            bits_per_mcu: (u64::from(end) / (u64::from(across) * u64::from(down)))
                .clamp(1, LONGEST_MCU) as u32,
            values_per_mcu: blocks.clone().map(|(blocks, count)| blocks * count).sum(),
            longest: blocks.map(|(_, count)| count).max()?,
        };
        Some(Self {
            rows: Rows::new(coders, across as usize)?,
            end,
            window: reader.window().clamp(LEAST_WINDOW, WINDOW),
            reader,
            window_end: 0,
            first: None,
            shared: false,
            parts: Vec::new(),
            known: Vec::new(),
            passed: 0,
            across: across as usize,
            taken: None,
        })
    }

    /// Makes the next row of MCUs: takes what the streams have, and decodes what they do not have.
    pub(super) fn decode_row<'a>(
        &mut self,
        data: &'a Unstuffed,
        coders: &mut [Coder],
        mut bits: Bits<'a>,
        wanted: &Request<'_>,
    ) -> Result<Bits<'a>, Refused> {
        let across = self.across;
        let mut mcu = 0;
        while mcu < across {
            if let Some(taken) = &mut self.taken {
                let part = &self.parts[taken.part];
                let stretch = &part.stretches[taken.stretch];
                let end = across.min(mcu + taken.mcus);
                let pieces = part.values(stretch, &mut taken.cursor);
                self.rows.take(pieces, mcu..end, coders);
                taken.mcus -= end - mcu;
                mcu = end;
                if taken.mcus == 0 {
                    bits = data.reader_at(stretch.end);
                    self.taken = None;
                }
                continue;
            }
            if self.needs_window(bits.consumed()) {
                self.read_window(bits.consumed() as u32, wanted)?;
                if self.knows(bits.consumed()) {
                    continue;
                }
            }
            let flat = self.flat_mcus(data, bits.consumed(), across - mcu);
            if flat > 0 {
                rows::fill(mcu..mcu + flat, coders);
                mcu += flat;
                let length = self.reader.flat.map_or(0, |flat| flat.length());
                bits = data.reader_at(bits.consumed() as u32 + flat as u32 * length);
                continue;
            }
            let mut intervals = Intervals::endless(data);
            let mut stopped = across;
            bits = with_modern_instructions(
                #[inline(always)]
                || {
                    decode_row(
                        coders,
                        mcu..across,
                        &mut intervals,
                        bits,
                        #[inline(always)]
                        |mcu, at, _| {
                            let stops = self.knows(at)
                                || self.needs_window(at)
                                || self.flat_mcus(data, at, 1) > 0;
                            if stops {
                                stopped = mcu;
                            }
                            stops
                        },
                    )
                },
            )?;
            mcu = stopped;
        }
        Ok(bits)
    }

    /// Sets the length of the first window, and the greatest length of those behind it, in bits.
    pub(super) fn begin_with(&mut self, first: u32, behind: u32) {
        let window = |bits: u32| bits.clamp(LEAST_WINDOW, self.window.max(LEAST_WINDOW));
        (self.first, self.window) = (Some(window(first)), window(behind));
    }

    /// Did another core read, too?
    pub(super) fn are_shared(&self) -> bool {
        self.shared
    }

    /// An entry for the row that comes next. `bits` are those that the last row left behind, and the `coders`, of 1/8, still have it.
    /// `None`: none is known near enough.
    pub(super) fn entry(&self, coders: &[Coder], bits: &Bits<'_>) -> Option<Entry> {
        let mut entry = Entry::default();
        let predictions = entry.predictions.iter_mut().zip(coders);
        let Some(taken) = &self.taken else {
            entry.position = u32::try_from(bits.consumed()).ok()?;
            predictions.for_each(|(it, coder)| *it = coder.prediction as i16);
            return Some(entry);
        };
        let stretch = &self.parts[taken.part].stretches[taken.stretch];
        let next = (stretch.read - taken.mcus) as u32;
        let noted = stretch.begun.partition_point(|event| event.mcus <= next);
        let event = stretch.begun[..noted].last()?;
        entry.position = event.position;
        entry.before = (next - event.mcus) as usize;
        if event.mcus < taken.first || entry.before >= self.across {
            return None;
        }
        // The last block of the MCU before it.
        let mcu = self.across - entry.before - 1;
        for (it, coder) in predictions {
            *it = coder.row[(coder.v - 1) * coder.stride + (mcu + 1) * coder.h - 1];
        }
        Some(entry)
    }

    /// How many MCUs from the one on that begins at bit `at` are flat, `most` at most; 0: hardly any.
    #[inline(always)]
    fn flat_mcus(&self, data: &Unstuffed, at: u64, most: usize) -> usize {
        let data = data.interval(0).unwrap_or_default();
        (self.reader.flat).map_or(0, |flat| flat.run(data, at, most))
    }

    /// Is everything before bit `at` passed that was read, and something left to be read?
    #[inline(always)]
    fn needs_window(&self, at: u64) -> bool {
        at >= self.window_end.into() && at + u64::from(LEAST_WINDOW) < self.end.into()
    }

    /// Reads the next window, in which an MCU begins at bit `at`.
    #[cold]
    fn read_window(&mut self, at: u32, wanted: &Request<'_>) -> Result<(), Refused> {
        let left = self.end - at;
        let length = match self.first.take() {
            Some(first) => first.min(left),
            None => left.div_ceil(left.div_ceil(self.window).max(1)),
        };
        let (middle, end) = (at + length / 2, at + length);
        self.window_end = end;
        let other = (length >= WORTH_ANOTHER_CORE).then(|| {
            let reader = self.reader.clone();
            Offered::to(wanted.cores, move || reader.read(middle..end, &|| false))
        });
        let other = other.filter(Offered::is_taken);
        let end_here = match other {
            Some(_) => end.min(middle + self.reader.margin()),
            None => end,
        };
        self.parts.clear();
        let part = self.reader.read(at..end_here, wanted.interrupted);
        self.parts.push(part.ok_or(Refused::Interrupted)?);
        // A panic of ours: then it is decoded here.
        let other = other.and_then(|other| other.wait().ok().flatten());
        self.parts.extend(other);
        self.shared |= self.parts.len() > 1;
        self.known.clear();
        let most = self.parts.iter().map(Part::noted).sum();
        self.known.reserve(most);
        let parts = self.parts.iter().enumerate();
        let known = parts.flat_map(|(number, part)| part.known(number));
        self.known.extend(known);
        // In runs already, one for each stretch.
        self.known.sort();
        self.passed = 0;
        Ok(())
    }

    /// Does an MCU of a stretch begin at bit `at`, and end within it? Then those from it on are taken next. To be asked in the order of
    /// the bits.
    #[inline(always)]
    fn knows(&mut self, at: u64) -> bool {
        while let Some(known) = self.known.get(self.passed) {
            if u64::from(known.position) > at {
                return false;
            }
            self.passed += 1;
            let stretch = &self.parts[known.part].stretches[known.stretch];
            if u64::from(known.position) == at && (known.mcu as usize) < stretch.read {
                self.taken = Some(Taken {
                    part: known.part,
                    stretch: known.stretch,
                    first: known.mcu,
                    mcus: stretch.read - known.mcu as usize,
                    cursor: stretch.cursor(known.place),
                });
                return true;
            }
        }
        false
    }
}

/// Is a scan with these data one for streams?
pub(super) fn are_for(data: &Unstuffed) -> bool {
    data.interval(1).is_none() && data.interval(0).is_some_and(is_worth_it)
}

/// Are streams faster here?
fn is_worth_it(bytes: &[u8]) -> bool {
    #[cfg(test)]
    if let Some(wanted) = WANTED.get() {
        return wanted;
    }
    cfg!(fuzzing) || bytes.len() >= WORTH_IT && huffman::is_fast()
}

#[cfg(test)]
thread_local! {
    /// What a test wants.
    static WANTED: std::cell::Cell<Option<bool>> = const { std::cell::Cell::new(None) };
}

/// Runs `work` with streams or without them, whatever is faster.
#[cfg(test)]
pub(in crate::jpeg) fn with<R>(wanted: bool, work: impl FnOnce() -> R) -> R {
    let before = WANTED.replace(Some(wanted));
    let result = work();
    WANTED.set(before);
    result
}

/// The codes of a scan as the kernel wants them, and those of a flat MCU.
fn codes(tables: &Tables, scan: &ScanHeader, coders: &[Coder]) -> Option<(Codes, Option<Flat>)> {
    let list = |codes: &super::huffman::Codes| -> Vec<Code> {
        let code = |(code, length, symbol)| Code {
            code,
            length,
            symbol,
        };
        codes.list().into_iter().map(code).collect()
    };
    let mut codes = Vec::new();
    // Of each coder.
    let mut kinds = Vec::with_capacity(coders.len());
    for (index, (coder, component)) in coders.iter().zip(&scan.components).enumerate() {
        let same = coders[..index]
            .iter()
            .position(|other| coder.shares_tables(other));
        kinds.push(match same {
            Some(other) => kinds[other],
            None => {
                let (dc, ac) = (
                    tables.dc(component.dc_table)?,
                    tables.ac(component.ac_table)?,
                );
                codes.push((list(dc), list(ac), Kept::of(coder.side as u8)));
                codes.len() - 1
            }
        });
    }
    let lists: Vec<_> = (codes.iter())
        .map(|(dc, ac, kept)| kind(dc, ac, kept))
        .collect();
    let blocks = coders.iter().zip(kinds);
    let blocks = blocks.flat_map(|(coder, kind)| (0..coder.h * coder.v).map(move |_| kind));
    let blocks: Vec<_> = blocks.collect();
    let of_blocks = blocks.iter().map(|&kind| &codes[kind]);
    let flat = Flat::new(of_blocks.map(|(dc, ac, _)| (&dc[..], &ac[..])));
    Some((Codes::new(&lists, &blocks)?, flat))
}

/// A kind of block of which this is kept.
fn kind<'a>(dc: &'a [Code], ac: &'a [Code], kept: &Kept) -> Kind<'a> {
    let mut places = [NOT_KEPT; 32];
    for (k, place) in (0..).zip(&mut places).filter(|&(k, _)| kept.keeps(k)) {
        *place = kept.place(k) as u8;
    }
    Kind {
        dc,
        ac,
        places,
        count: kept.count() as u8,
    }
}
