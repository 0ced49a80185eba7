//! Decodes a scan at full size in strips of rows, on all idle cores.
//!
//! Where a row of MCUs begins in the data is not known before everything above it has been read. So one worker, the top
//! worker, decodes from the top, as if it were alone. Meanwhile the requesting thread goes through the scan at 1/8 with
//! `streams`, which takes a fraction of the time of a decode because hardly any coefficients are kept. It
//! notes where each strip begins, and the DC predictions there, until what lies beyond is its own half of the work.
//! From then on it takes strips from the bottom, as do other workers, and all are done when they meet. All samples are
//! written directly to their final place.
//!
//! Without streams that first pass would take too long, and `split` or `output` share the work.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use andon_kernels::cores::{Offered, Unfinished};

use crate::decode::bits::Bits;
use crate::decode::coder::{Coder, Lane, Symbols, anew, coders};
use crate::decode::entropy::Unstuffed;
use crate::decode::lock::lock;
use crate::decode::plane::PlaneDecoder;
use crate::decode::request::Request;
use crate::decode::row::decode_mcus;
use crate::decode::scan::{Intervals, Scan, check};
use crate::decode::streams::{Entry, Streams};
use crate::error::{Error, Result};

/// Approximate number of samples per strip: an eighth of a millisecond of work. It is smaller for tests, which have
/// small images.
const SAMPLES_OF_STRIP: usize = if cfg!(any(test, fuzzing)) {
    4 << 10
} else {
    128 << 10
};

/// Sixteenths of the data that are searched first for the beginnings of strips: a little more than two workers need, of
/// which the top one has begun to decode meanwhile. Where that is not enough, `NEXT_WINDOW` is searched at a time.
const FIRST_WINDOW: u64 = 10;
const NEXT_WINDOW: u64 = 2;

/// Maximum number of workers that take strips from the bottom, besides the requesting thread.
const MOST_HELPERS: usize = 6;

/// Decodes a scan without restart markers if a core takes a part of it and streams support it. Otherwise returns the
/// planes unchanged, as `Err`.
pub(super) fn decode(
    scan: &Scan<'_>,
    coders: &[Coder],
    lanes: &[Lane],
    planes: Vec<PlaneDecoder>,
    wanted: &Request<'_>,
) -> Result<Result<Vec<PlaneDecoder>>, Vec<PlaneDecoder>> {
    let Some(index) = Index::new(scan) else {
        return Err(planes);
    };
    let rows = (scan.size.1 as usize * SAMPLES_OF_STRIP).div_ceil(scan.samples.max(1));
    let (strips, others) = cut(scan.size.1 as usize, rows, lanes, planes);
    let work = Arc::new(Work {
        data: scan.data.clone(),
        across: scan.size.0 as usize,
        lanes: lanes.to_vec(),
        left: Mutex::new(Left {
            strips: 0..strips.len(),
            workers: 2,
        }),
        stopped: AtomicBool::new(false),
        strips: strips
            .into_iter()
            .map(|strip| Mutex::new(Some(strip)))
            .collect(),
    });
    let top = {
        let (work, coders) = (work.clone(), anew(coders));
        Offered::to(wanted.cores, move || work.decode_from_top(coders))
    };
    if !top.is_taken() {
        let strips = work.strips.iter().filter_map(|strip| lock(strip).take());
        let planes = join(strips.map(|strip| strip.planes), lanes, others);
        return planes.map_or(Ok(Err(Error::UNSUPPORTED)), Err);
    }
    let made = work.share(top, index, rows, coders, wanted);
    if made.is_err() {
        // Workers may still be at it.
        work.stop();
    }
    let strips = made.and_then(|made| work.in_order(made));
    Ok(strips.and_then(|strips| join(strips.into_iter(), lanes, others).ok_or(Error::UNSUPPORTED)))
}

/// A strip of rows of MCUs, and the planes that it is decoded to.
struct Strip {
    rows: usize,
    /// The plane decoders, one for each component of the scan.
    planes: Vec<PlaneDecoder>,
}

/// A strip's index, and its decoded planes or the error.
type Made = (usize, Result<Vec<PlaneDecoder>>);

/// Divides the `down` rows of MCUs into strips of `rows` rows. Also returns the planes that do not belong to this scan.
fn cut(
    down: usize,
    rows: usize,
    lanes: &[Lane],
    planes: Vec<PlaneDecoder>,
) -> (Vec<Strip>, Vec<Option<PlaneDecoder>>) {
    let rows = (0..down).step_by(rows).map(|first| rows.min(down - first));
    let mut strips: Vec<_> = rows
        .map(|rows| Strip {
            rows,
            planes: Vec::with_capacity(lanes.len()),
        })
        .collect();
    let mut planes: Vec<_> = planes.into_iter().map(Some).collect();
    for lane in lanes {
        let blocks: Vec<_> = strips.iter().map(|strip| strip.rows * lane.rows).collect();
        let parts = planes[lane.component]
            .take()
            .map(|plane| plane.split(&blocks));
        for (strip, part) in strips.iter_mut().zip(parts.into_iter().flatten()) {
            strip.planes.push(part);
        }
    }
    (strips, planes)
}

/// Joins the planes of the strips and puts them back among the other planes.
fn join(
    strips: impl Iterator<Item = Vec<PlaneDecoder>>,
    lanes: &[Lane],
    mut planes: Vec<Option<PlaneDecoder>>,
) -> Option<Vec<PlaneDecoder>> {
    let mut parts: Vec<_> = lanes.iter().map(|_| Vec::new()).collect();
    for strip in strips {
        for (parts, part) in parts.iter_mut().zip(strip) {
            parts.push(part);
        }
    }
    for (lane, parts) in lanes.iter().zip(parts) {
        planes[lane.component] = PlaneDecoder::join(parts);
    }
    planes.into_iter().collect()
}

/// State that all workers share.
struct Work {
    data: Arc<Unstuffed>,
    /// MCUs per row.
    across: usize,
    lanes: Vec<Lane>,
    strips: Vec<Mutex<Option<Strip>>>,
    left: Mutex<Left>,
    /// Whether the rest of the work is no longer needed.
    stopped: AtomicBool,
}

struct Left {
    /// Indices of the strips that no worker has taken.
    strips: Range<usize>,
    /// Number of workers that share these strips.
    workers: usize,
}

/// Reader of the scan at 1/8 that finds where strips begin.
struct Index {
    coders: Vec<Coder>,
    streams: Streams,
    down: usize,
}

impl Index {
    fn new(scan: &Scan<'_>) -> Option<Self> {
        // Nothing is written to them.
        let planes = (0..scan.frame.components.len())
            .map(|index| PlaneDecoder::new(scan.frame, index, std::iter::empty()));
        let planes: Vec<_> = planes.collect();
        let coders = coders(scan.tables, scan.frame, scan.header, &planes, Symbols::One);
        let (coders, _) = coders.ok()?;
        let streams = Streams::new(scan, &coders);
        Some(Self {
            streams: streams?,
            coders,
            down: scan.size.1 as usize,
        })
    }
}

impl Work {
    /// Returns the planes of all strips from top to bottom, or the first error in the order of the file. Everything
    /// before that error was decoded.
    fn in_order(&self, mut made: Vec<Made>) -> Result<Vec<Vec<PlaneDecoder>>> {
        made.sort_unstable_by_key(|&(strip, _)| strip);
        let mut strips = Vec::with_capacity(made.len());
        for (strip, planes) in made {
            if strip != strips.len() {
                return Err(Error::UNSUPPORTED);
            }
            strips.push(planes?);
        }
        Some(strips)
            .filter(|strips| strips.len() == self.strips.len())
            .ok_or(Error::UNSUPPORTED)
    }

    /// Decodes the strips together with the `top` worker, which has already begun, and with idle cores. The result is
    /// in any order.
    fn share(
        self: &Arc<Self>,
        top: Offered<Vec<Made>>,
        index: Index,
        rows: usize,
        coders: &[Coder],
        wanted: &Request<'_>,
    ) -> Result<Vec<Made>> {
        let mut others = vec![top];
        let entries = Arc::new(self.entries(index, rows, wanted)?);
        while others.len() <= MOST_HELPERS {
            let (work, entries, coders) = (self.clone(), entries.clone(), anew(coders));
            let other = Offered::to(wanted.cores, move || {
                work.decode_from_bottom(&entries, coders, &|| false)
            });
            if !other.is_taken() {
                break;
            }
            others.push(other);
            lock(&self.left).workers += 1;
        }
        let mut made = self.decode_from_bottom(&entries, anew(coders), wanted.interrupted);
        for other in others {
            let other = other.wait_unless(wanted.interrupted);
            made.extend(other.map_err(|why| match why {
                Unfinished::Interrupted => Error::Interrupted,
                // A panic of ours: libjpeg may know better.
                Unfinished::Panicked => Error::UNSUPPORTED,
            })?);
        }
        Ok(made)
    }

    /// Returns where each strip of `rows` rows of MCUs begins, as far as that is known and worth knowing. Fails only if
    /// interrupted: errors in the data are found by the top worker, too.
    fn entries(
        &self,
        index: Index,
        rows: usize,
        wanted: &Request<'_>,
    ) -> Result<Vec<Option<Entry>>> {
        let Index {
            mut coders,
            mut streams,
            down,
        } = index;
        let length = 8 * self.data.len() as u64;
        let part = |sixteenths: u64| (length / 16 * sixteenths) as u32;
        streams.begin_with(part(FIRST_WINDOW), part(NEXT_WINDOW));
        let mut entries = Vec::with_capacity(self.strips.len());
        let Some(mut bits) = self.data.reader(0) else {
            return Ok(entries);
        };
        for row in 0..down {
            if (wanted.interrupted)() {
                return Err(Error::Interrupted);
            }
            if row.is_multiple_of(rows) {
                entries.push(streams.entry(&coders, &bits));
                if !streams.are_shared() && self.are_enough(&entries, length) {
                    break;
                }
            }
            for coder in &mut coders {
                coder.row.fill(0);
            }
            let read = streams.decode_row(&self.data, &mut coders, bits, wanted);
            match read.and_then(|bits| check(&bits).map(|()| bits)) {
                Ok(after) => bits = after,
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) => break,
            }
        }
        Ok(entries)
    }

    /// Returns whether the work beyond the last entry is no more than what is left before it. If so, the requesting
    /// thread decodes the former as one run, while the top worker is busy with the rest.
    fn are_enough(&self, entries: &[Option<Entry>], length: u64) -> bool {
        let Range { start: top, end } = lock(&self.left).strips.clone();
        if top >= end {
            return true;
        }
        let (Some(Some(last)), Some(Some(begun))) = (entries.last(), entries.get(top)) else {
            return false;
        };
        // Bits and samples are about as much work.
        let share = |bits: u64, strips: usize| {
            bits as f64 / length as f64 + strips as f64 / self.strips.len() as f64
        };
        let (position, strip) = (u64::from(last.position), entries.len() - 1);
        let before = position.saturating_sub(begun.position.into());
        share(length.saturating_sub(position), self.strips.len() - strip)
            <= share(before, strip - top)
    }

    /// Decodes one strip after the other from the top.
    fn decode_from_top(&self, mut coders: Vec<Coder>) -> Vec<Made> {
        let mut made = Vec::new();
        let Some(mut bits) = self.data.reader(0) else {
            return made;
        };
        while let Some(strip) = self.next() {
            let planes = self.decode(strip, &mut coders, &mut bits);
            if planes.is_err() {
                // Nothing behind an error matters.
                self.stop();
            }
            made.push((strip, planes));
        }
        made
    }

    /// Decodes runs of strips from the bottom.
    fn decode_from_bottom(
        &self,
        entries: &[Option<Entry>],
        mut coders: Vec<Coder>,
        interrupted: &dyn Fn() -> bool,
    ) -> Vec<Made> {
        let mut made = Vec::new();
        while let Some((entry, run)) = self.next_run(entries) {
            let bits = self.enter(&entry, &mut coders);
            let Ok(mut bits) = bits else {
                made.push((run.start, bits.map(|_| Vec::new())));
                return made;
            };
            for strip in run {
                if interrupted() || self.stopped.load(Ordering::Relaxed) {
                    return made;
                }
                let planes = self.decode(strip, &mut coders, &mut bits);
                let failed = planes.is_err();
                made.push((strip, planes));
                if failed {
                    return made;
                }
            }
        }
        made
    }

    /// Takes the topmost strip that is left.
    fn next(&self) -> Option<usize> {
        lock(&self.left).strips.next()
    }

    /// Takes a run of strips at the bottom: many at first, because at each entry a part of a row is decoded in vain.
    fn next_run(&self, entries: &[Option<Entry>]) -> Option<(Entry, Range<usize>)> {
        let mut left = lock(&self.left);
        let Range { start, end } = left.strips.clone();
        let first = end.checked_sub(((end - start) / (2 * left.workers)).max(1))?;
        let mut known = (start..=first).rev();
        let (first, entry) = known.find_map(|strip| Some((strip, (*entries.get(strip)?)?)))?;
        left.strips.end = first;
        Some((entry, first..end))
    }

    /// Tells the workers to stop, and gives up the strips that no worker has taken.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let left = &mut lock(&self.left).strips;
        left.end = left.start;
    }

    /// Returns a reader at the beginning of the entry's strip, and sets the coders' predictions.
    fn enter(&self, entry: &Entry, coders: &mut [Coder]) -> Result<Bits<'_>> {
        let bits = self.data.reader_at(entry.position);
        for (coder, prediction) in coders.iter_mut().zip(entry.predictions) {
            coder.prediction = prediction.into();
        }
        let before = self.across - entry.before..self.across;
        let bits = decode_mcus(coders, before, &mut Intervals::endless(&self.data), bits)?;
        for coder in coders {
            coder.row.fill(0);
        }
        Ok(bits)
    }

    /// Computes the samples of a strip that was taken. It begins where `bits` stands.
    fn decode<'a>(
        &'a self,
        strip: usize,
        coders: &mut [Coder],
        bits: &mut Bits<'a>,
    ) -> Result<Vec<PlaneDecoder>> {
        let strip = lock(&self.strips[strip]).take();
        let mut strip = strip.ok_or(Error::UNSUPPORTED)?;
        let mut intervals = Intervals::endless(&self.data);
        for _ in 0..strip.rows {
            *bits = decode_mcus(coders, 0..self.across, &mut intervals, *bits)?;
            check(bits)?;
            for ((lane, plane), coder) in self.lanes.iter().zip(&mut strip.planes).zip(&mut *coders)
            {
                lane.write(plane, &coder.row);
                coder.row.fill(0);
            }
        }
        Ok(strip.planes)
    }
}
