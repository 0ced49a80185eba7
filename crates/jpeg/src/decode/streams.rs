//! Reads a scan without restart markers at many places at once.
//!
//! [`andon_kernels::huffman`] reads 32 streams of codes in the time of a few. So the scan is cut into 32 stretches.
//! Where in a stretch the first MCU begins is unknown, but a decoder that starts anywhere synchronizes after a while
//! (see `split`). A stretch extends some way into the next one, and some of the bits at which MCUs begin are recorded.
//! Then rows are assembled from the beginning of the scan on. If an MCU begins at a recorded bit, the MCUs of that
//! stretch are copied, up to its end. If not, because the next stretch was not yet synchronized, MCUs are decoded one
//! by one, as without streams. The same applies to MCUs at the end of the data, and to those between the beginning of a
//! stretch and an error in it. Only this decoding one by one reports errors in a file.
//!
//! Long scans are read in windows, so that the memory does not grow with them. An idle core reads the second half of
//! each window with streams of its own. (Letting it read most of the next window ahead, while samples are computed
//! here, took longer.)
//!
//! Streams are for images at 1/2 and smaller, and find where strips of a full-size image begin (`strips`). For decoding
//! at full size they gained nothing: every coefficient then needs a look-up here and another one on the way to its row,
//! whereas without streams one look-up yields two coefficients.

use std::sync::Arc;

use andon_kernels::cores::Offered;
use andon_kernels::cpu::with_modern_instructions;
use andon_kernels::huffman::{self, Code, Kind, NOT_KEPT, PADDING, Tables as Codes};

use crate::decode::bits::Bits;
use crate::decode::coder::Coder;
use crate::decode::entropy::Unstuffed;
use crate::decode::request::Request;
use crate::decode::row::decode_row;
use crate::decode::scan::{Intervals, Scan};
use crate::decode::selection::Selection;
use crate::error::{Error, Result};

mod flat;
mod reader;
mod rows;

use self::flat::Flat;
use self::reader::{Cursor, KnownMcu, Part, Reader};
use self::rows::{MOST, Rows};

/// Minimum size in bytes of a scan that is read by streams. For smaller ones, the overhead outweighs the gain.
const WORTH_IT: usize = 32 << 10;

/// Maximum size in bits of a scan that is read by streams, so that positions somewhat beyond its end still fit into 32
/// bits.
const MOST_BITS: u32 = 1 << 31;

/// Maximum of the mean number of bits per MCU. No image reaches it, because the longest codes never all occur in one:
/// if there are more bits for each MCU, some of them are other data after the image.
const LONGEST_MCU: u64 = 1 << 15;

/// Maximum size in bits of a window: the part of a scan that is read at a time.
const WINDOW: u32 = 8 * (512 << 10);

/// Minimum size in bits of a window (the part of a scan that is read at a time) for which waking another core pays.
const WORTH_ANOTHER_CORE: u32 = 8 * (96 << 10);

/// Minimum size in bits of a window (the part of a scan that is read at a time): fewer remaining bits are decoded one
/// MCU after the other. It is smaller for tests and fuzzers, which have short scans.
const LEAST_WINDOW: u32 = if cfg!(any(test, fuzzing)) {
    8 * 64
} else {
    8 * (4 << 10)
};

/// A scan that is read by 32 streams: readers that begin at different places of the data and advance side by side.
pub(super) struct Streams {
    reader: Reader,
    rows: Rows,
    /// End of the data that streams may read, in bits from the beginning of the data.
    end: u32,
    /// Maximum number of bits of the scan that are read at a time (a window).
    window: u32,
    /// End of the current window, in bits from the beginning of the data.
    window_end: u32,
    /// Size of the first window in bits, if it differs from `window`.
    first_window: Option<u32>,
    /// Whether another core has read part of the data.
    shared: bool,
    /// The parts of the current window of the data, one for each core that has read it.
    parts: Vec<Part>,
    /// MCUs whose positions in the data are known, in the order of the data.
    mcus: Vec<KnownMcu>,
    /// Number of elements of `mcus` that lie before the position that has been decoded up to.
    mcus_passed: usize,
    /// MCUs per row.
    across: usize,
    /// The MCUs that are copied into rows next. One stream has read all of them.
    run: Option<Run>,
}

/// A run of MCUs that one stream has read, and that is being copied into rows.
struct Run {
    part: usize,
    stretch: usize,
    /// Index of the first MCU of the run among the MCUs that the stream has read in its stretch of the data.
    first: u32,
    /// Number of MCUs of the run that are still to be copied.
    mcus: usize,
    cursor: Cursor,
}

/// A position in the data at which decoding can begin in order to decode a row of MCUs. It may lie some MCUs before
/// the beginning of that row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Bit at which an MCU begins.
    pub(super) position: u32,
    /// Number of MCUs between `position` and the beginning of the row.
    pub(super) before: usize,
    /// DC predictions of the scan's components at `position`.
    pub(super) predictions: [i16; MOST],
}

impl Streams {
    /// Creates the streams of a scan. Returns `None` if streams do not pay (as for short scans), or if the scan has
    /// restart markers or is of a kind that [`andon_kernels::huffman`] does not support.
    pub(super) fn new(scan: &Scan<'_>, coders: &[Coder]) -> Option<Self> {
        let data = &scan.data;
        if !are_for(data) || coders.iter().any(|coder| coder.side > 4) {
            return None;
        }
        let (across, down) = scan.size;
        let bytes = data.interval(0)?;
        let end = u32::try_from(8 * bytes.len().checked_sub(PADDING)?).ok();
        let end = end.filter(|&end| end <= MOST_BITS)?;
        let blocks = coders
            .iter()
            .map(|coder| (coder.h * coder.v, coder.count()));
        let (codes, flat) = codes(scan, coders)?;
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
            first_window: None,
            shared: false,
            parts: Vec::new(),
            mcus: Vec::new(),
            mcus_passed: 0,
            across: across as usize,
            run: None,
        })
    }

    /// Produces the next row of MCUs: copies what the streams have read, and decodes the rest one by one.
    pub(super) fn decode_row<'a>(
        &mut self,
        data: &'a Unstuffed,
        coders: &mut [Coder],
        mut bits: Bits<'a>,
        request: &Request<'_>,
    ) -> Result<Bits<'a>> {
        let across = self.across;
        let mut mcu = 0;
        while mcu < across {
            if self.run.is_some() {
                let (count, end) = self.take(mcu, coders);
                mcu += count;
                bits = end.map_or(bits, |end| data.reader_at(end));
                continue;
            }
            if self.needs_window(bits.consumed()) {
                self.read_window(bits.consumed() as u32, request)?;
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
            (bits, mcu) = self.decode_mcus(data, coders, bits, mcu)?;
        }
        Ok(bits)
    }

    /// Copies MCUs that a stream has read into the row, from MCU `mcu` of the row on. Returns their number and, if they
    /// include the last MCU of the stream's stretch of the data, the bit at which that one ends.
    fn take(&mut self, mcu: usize, coders: &mut [Coder]) -> (usize, Option<u32>) {
        let Some(run) = &mut self.run else {
            return (0, None);
        };
        let part = &self.parts[run.part];
        let stretch = &part.stretches[run.stretch];
        let end = self.across.min(mcu + run.mcus);
        let pieces = part.values(stretch, &mut run.cursor);
        self.rows.take(pieces, mcu..end, coders);
        run.mcus -= end - mcu;
        let last = (run.mcus == 0).then_some(stretch.end);
        if last.is_some() {
            self.run = None;
        }
        (end - mcu, last)
    }

    /// Decodes MCUs of the row one by one from MCU `mcu` on, until the next one need not be decoded here: a stream has
    /// read it, it is flat (all its values are 0), or a new window can be read. Also returns the index of that next
    /// MCU.
    fn decode_mcus<'a>(
        &mut self,
        data: &'a Unstuffed,
        coders: &mut [Coder],
        bits: Bits<'a>,
        mcu: usize,
    ) -> Result<(Bits<'a>, usize)> {
        let mut intervals = Intervals::endless(data);
        let across = self.across;
        let mut stop = across;
        let bits = with_modern_instructions(
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
                            stop = mcu;
                        }
                        stops
                    },
                )
            },
        )?;
        Ok((bits, stop))
    }

    /// Sets how many bits of the scan are read at a time: `first` bits for the first window, up to `next` bits for each
    /// later one. Both are limited to the range of sizes that windows may have.
    pub(super) fn begin_with(&mut self, first: u32, next: u32) {
        let window = |bits: u32| bits.clamp(LEAST_WINDOW, self.window.max(LEAST_WINDOW));
        (self.first_window, self.window) = (Some(window(first)), window(next));
    }

    /// Returns whether another core has read part of the scan.
    pub(super) fn are_shared(&self) -> bool {
        self.shared
    }

    /// Returns a position from which the next row can be decoded, or `None` if no position less than one row before
    /// its beginning is known. `bits` is the reader that decoding the last row returned. `coders` decode at 1/8 and
    /// must still hold the coefficients of that last row.
    pub(super) fn entry(&self, coders: &[Coder], bits: &Bits<'_>) -> Option<Entry> {
        let mut entry = Entry::default();
        let predictions = entry.predictions.iter_mut().zip(coders);
        let Some(run) = &self.run else {
            entry.position = u32::try_from(bits.consumed()).ok()?;
            predictions.for_each(|(it, coder)| *it = coder.prediction as i16);
            return Some(entry);
        };
        let stretch = &self.parts[run.part].stretches[run.stretch];
        let next = (stretch.mcus - run.mcus) as u32;
        let count = stretch.starts.partition_point(|event| event.mcus <= next);
        let event = stretch.starts[..count].last()?;
        entry.position = event.position;
        entry.before = (next - event.mcus) as usize;
        if event.mcus < run.first || entry.before >= self.across {
            return None;
        }
        // The last block of the MCU before the entry.
        let mcu = self.across - entry.before - 1;
        for (it, coder) in predictions {
            *it = coder.row[(coder.v - 1) * coder.stride + (mcu + 1) * coder.h - 1];
        }
        Some(entry)
    }

    /// Returns how many consecutive MCUs, at most `most`, are flat (all their values are 0), starting with the one at
    /// bit `at`. Returns 0 if their bits are fewer than 64.
    #[inline(always)]
    fn flat_mcus(&self, data: &Unstuffed, at: u64, most: usize) -> usize {
        let data = data.interval(0).unwrap_or_default();
        (self.reader.flat).map_or(0, |flat| flat.run(data, at, most))
    }

    /// Returns whether bit `at` is beyond the current window and enough data are left for another one.
    #[inline(always)]
    fn needs_window(&self, at: u64) -> bool {
        at >= self.window_end.into() && at + u64::from(LEAST_WINDOW) < self.end.into()
    }

    /// Reads the next window, which begins with the MCU at bit `at`.
    #[cold]
    fn read_window(&mut self, at: u32, request: &Request<'_>) -> Result<()> {
        let bits_left = self.end - at;
        let length = match self.first_window.take() {
            Some(first) => first.min(bits_left),
            None => bits_left.div_ceil(bits_left.div_ceil(self.window).max(1)),
        };
        let (middle, end) = (at + length / 2, at + length);
        self.window_end = end;
        let helper = (length >= WORTH_ANOTHER_CORE).then(|| {
            let reader = self.reader.clone();
            Offered::to(request.cores, move || reader.read(middle..end, &|| false))
        });
        let helper = helper.filter(Offered::is_taken);
        let end_here = match helper {
            Some(_) => end.min(middle + self.reader.margin()),
            None => end,
        };
        self.parts.clear();
        let part = self.reader.read(at..end_here, request.interrupted);
        self.parts.push(part.ok_or(Error::Interrupted)?);
        // After a panic on the other core, which is a bug of this decoder, this core decodes that part.
        let helper_part = helper.and_then(|helper| helper.wait().ok().flatten());
        self.parts.extend(helper_part);
        self.shared |= self.parts.len() > 1;
        self.mcus.clear();
        let capacity = self.parts.iter().map(Part::start_count).sum();
        self.mcus.reserve(capacity);
        let parts = self.parts.iter().enumerate();
        let mcus = parts.flat_map(|(number, part)| part.known_mcus(number));
        self.mcus.extend(mcus);
        // These are sorted runs already, one for each stretch, which makes sorting fast.
        self.mcus.sort();
        self.mcus_passed = 0;
        Ok(())
    }

    /// Returns whether an MCU that begins at bit `at` has been read completely by a stream. If so, the MCUs that this
    /// stream has read from there on are copied next. Each call must have a larger `at` than the one before.
    #[inline(always)]
    fn knows(&mut self, at: u64) -> bool {
        while let Some(mcu) = self.mcus.get(self.mcus_passed) {
            if u64::from(mcu.position) > at {
                return false;
            }
            self.mcus_passed += 1;
            let stretch = &self.parts[mcu.part].stretches[mcu.stretch];
            if u64::from(mcu.position) == at && (mcu.index as usize) < stretch.mcus {
                self.run = Some(Run {
                    part: mcu.part,
                    stretch: mcu.stretch,
                    first: mcu.index,
                    mcus: stretch.mcus - mcu.index as usize,
                    cursor: stretch.cursor(mcu.place),
                });
                return true;
            }
        }
        false
    }
}

/// Returns whether a scan with these data is suitable for streams: it has no restart markers, and streams are faster.
pub(super) fn are_for(data: &Unstuffed) -> bool {
    data.interval(1).is_none() && data.interval(0).is_some_and(is_worth_it)
}

/// Returns whether streams are faster for `bytes` on this machine.
fn is_worth_it(bytes: &[u8]) -> bool {
    #[cfg(test)]
    if let Some(enabled) = FORCED.get() {
        return enabled;
    }
    cfg!(fuzzing) || bytes.len() >= WORTH_IT && huffman::is_fast()
}

#[cfg(test)]
thread_local! {
    /// Whether to use streams, as a test requires; `None` uses them for the scans that they decode faster.
    static FORCED: std::cell::Cell<Option<bool>> = const { std::cell::Cell::new(None) };
}

/// Runs `work` with streams if `enabled`, else without them, regardless of which is faster.
#[cfg(test)]
pub(crate) fn with<R>(enabled: bool, work: impl FnOnce() -> R) -> R {
    let previous = FORCED.replace(Some(enabled));
    let result = work();
    FORCED.set(previous);
    result
}

/// Returns the Huffman codes of a scan in the form that [`andon_kernels::huffman`] needs, and the bits of a flat MCU
/// (one in which all values are 0), unless the codes allow none.
fn codes(scan: &Scan<'_>, coders: &[Coder]) -> Option<(Codes, Option<Flat>)> {
    let mut codes = Vec::new();
    // The kind of block of each coder.
    let mut kinds = Vec::with_capacity(coders.len());
    for (index, (coder, component)) in coders.iter().zip(&scan.header.components).enumerate() {
        let sibling = coders[..index]
            .iter()
            .position(|other| coder.shares_tables(other));
        kinds.push(match sibling {
            Some(other) => kinds[other],
            None => {
                let (dc, ac) = (
                    scan.tables.dc(component.dc_table)?,
                    scan.tables.ac(component.ac_table)?,
                );
                codes.push((dc.list(), ac.list(), Selection::of(coder.side as u8)));
                codes.len() - 1
            }
        });
    }
    let lists: Vec<_> = (codes.iter())
        .map(|(dc, ac, selection)| kind(dc, ac, selection))
        .collect();
    let blocks = coders.iter().zip(kinds);
    let blocks = blocks.flat_map(|(coder, kind)| (0..coder.h * coder.v).map(move |_| kind));
    let blocks: Vec<_> = blocks.collect();
    let of_blocks = blocks.iter().map(|&kind| &codes[kind]);
    let flat = Flat::new(of_blocks.map(|(dc, ac, _)| (&dc[..], &ac[..])));
    Some((Codes::new(&lists, &blocks)?, flat))
}

/// Describes a kind of block to [`andon_kernels::huffman`]: its codes, and where the coefficients in `selection` go.
fn kind<'a>(dc: &'a [Code], ac: &'a [Code], selection: &Selection) -> Kind<'a> {
    let mut places = [NOT_KEPT; 32];
    for (k, place) in (0..).zip(&mut places).filter(|&(k, _)| selection.keeps(k)) {
        *place = selection.place(k) as u8;
    }
    Kind {
        dc,
        ac,
        places,
        count: selection.count() as u8,
    }
}
