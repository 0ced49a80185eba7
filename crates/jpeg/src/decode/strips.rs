//! Decodes a scan at full size in strips of rows, on all idle cores.
//!
//! Where a row of MCUs begins in the data is unknown until everything above it has been read. So one worker, the top
//! worker, decodes strips from the top on. Meanwhile the requesting thread searches the data for the beginnings of
//! strips. It reads the scan as if for a result at 1/8, with `streams`, which takes a fraction of the time of a full
//! decode because hardly any coefficients are kept. At the beginning of each strip, it records the position and the DC
//! predictions. It stops as soon as the rest of the data is no more work than what the top worker still has to do
//! above. Then it decodes strips from the bottom, as do other workers, until they meet the top worker. All samples are
//! written directly to their final place.
//!
//! Where streams cannot be used, the search would take too long. Then `split` or `output` share the work instead.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use andon_kernels::cores::{Offered, Unfinished};

use crate::decode::bits::Bits;
use crate::decode::coder::{Coder, Lane, Symbols, coders, fresh_copies};
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

/// Size of the first part of the data in which the beginnings of strips are searched, in sixteenths of the data. For
/// two workers, slightly less would suffice, because one of them decodes strips from the top during the search.
const FIRST_WINDOW: u64 = 10;
/// Size of each further part of the data in which the beginnings of strips are searched until enough are found, in
/// sixteenths of the data.
const NEXT_WINDOW: u64 = 2;

/// Maximum number of workers that take strips from the bottom, besides the requesting thread.
const MOST_HELPERS: usize = 6;

/// Decodes a scan without restart markers in strips, if another core is idle and streams support the scan. Otherwise
/// returns the planes unchanged, as `Err`.
pub(super) fn decode(
    scan: &Scan<'_>,
    coders: &[Coder],
    lanes: &[Lane],
    planes: Vec<PlaneDecoder>,
    request: &Request<'_>,
) -> Result<Result<Vec<PlaneDecoder>>, Vec<PlaneDecoder>> {
    let Some(index) = Index::new(scan) else {
        return Err(planes);
    };
    let rows = (scan.size.1 as usize * SAMPLES_OF_STRIP).div_ceil(scan.samples.max(1));
    let (strips, other_planes) = cut(scan.size.1 as usize, rows, lanes, planes);
    let work = Arc::new(Work {
        data: scan.data.clone(),
        across: scan.size.0 as usize,
        lanes: lanes.to_vec(),
        queue: Mutex::new(Queue {
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
        let (work, coders) = (work.clone(), fresh_copies(coders));
        Offered::to(request.cores, move || work.decode_from_top(coders))
    };
    if !top.is_taken() {
        let strips = work.strips.iter().filter_map(|strip| lock(strip).take());
        let planes = join(strips.map(|strip| strip.planes), lanes, other_planes);
        return planes.map_or(Ok(Err(Error::UNSUPPORTED)), Err);
    }
    let results = work.share(top, index, rows, coders, request);
    if results.is_err() {
        // Workers may still be running.
        work.stop();
    }
    let strips = results.and_then(|results| work.in_order(results));
    Ok(strips
        .and_then(|strips| join(strips.into_iter(), lanes, other_planes).ok_or(Error::UNSUPPORTED)))
}

/// A strip of rows of MCUs, and the planes that it is decoded to.
struct Strip {
    rows: usize,
    /// The plane decoders, one for each component of the scan.
    planes: Vec<PlaneDecoder>,
}

/// A strip's index, and its decoded planes or the error.
type StripResult = (usize, Result<Vec<PlaneDecoder>>);

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

/// The scan, the strips that are left, and all other state that the workers share.
struct Work {
    data: Arc<Unstuffed>,
    /// MCUs per row.
    across: usize,
    lanes: Vec<Lane>,
    strips: Vec<Mutex<Option<Strip>>>,
    queue: Mutex<Queue>,
    /// Whether the rest of the work is no longer needed.
    stopped: AtomicBool,
}

struct Queue {
    /// Indices of the strips that no worker has taken.
    strips: Range<usize>,
    /// Number of workers that take strips, including the one that starts at the top and the requesting thread.
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
        // These planes have no sizes, because only the positions in the data are of interest.
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
    /// Returns the planes of all strips from top to bottom, or the first error in the order of the file. If there is an
    /// error, everything before it was decoded.
    fn in_order(&self, mut results: Vec<StripResult>) -> Result<Vec<Vec<PlaneDecoder>>> {
        results.sort_unstable_by_key(|&(strip, _)| strip);
        let mut strips = Vec::with_capacity(results.len());
        for (strip, planes) in results {
            if strip != strips.len() {
                return Err(Error::UNSUPPORTED);
            }
            strips.push(planes?);
        }
        Some(strips)
            .filter(|strips| strips.len() == self.strips.len())
            .ok_or(Error::UNSUPPORTED)
    }

    /// Decodes the strips together with `top`, the worker that has already started to decode them from the top, and
    /// with idle cores. The results are in no particular order.
    fn share(
        self: &Arc<Self>,
        top: Offered<Vec<StripResult>>,
        index: Index,
        rows: usize,
        coders: &[Coder],
        request: &Request<'_>,
    ) -> Result<Vec<StripResult>> {
        let mut workers = vec![top];
        let entries = Arc::new(self.entries(index, rows, request)?);
        while workers.len() <= MOST_HELPERS {
            let (work, entries, coders) = (self.clone(), entries.clone(), fresh_copies(coders));
            let worker = Offered::to(request.cores, move || {
                work.decode_from_bottom(&entries, coders, &|| false)
            });
            if !worker.is_taken() {
                break;
            }
            workers.push(worker);
            lock(&self.queue).workers += 1;
        }
        let mut results =
            self.decode_from_bottom(&entries, fresh_copies(coders), request.interrupted);
        for worker in workers {
            let worker_results = worker.wait_unless(request.interrupted);
            results.extend(worker_results.map_err(|why| match why {
                Unfinished::Interrupted => Error::Interrupted,
                // A panic is a bug of this decoder: libjpeg may be able to decode the file.
                Unfinished::Panicked => Error::UNSUPPORTED,
            })?);
        }
        Ok(results)
    }

    /// Returns where each strip of `rows` rows of MCUs begins, as far as the search has come; `None` for a strip whose
    /// beginning was not found. Fails only if interrupted: errors in the data are found and reported by the worker that
    /// decodes strips from the top.
    fn entries(
        &self,
        index: Index,
        rows: usize,
        request: &Request<'_>,
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
            if (request.interrupted)() {
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
            let result = streams.decode_row(&self.data, &mut coders, bits, request);
            match result.and_then(|bits| check(&bits).map(|()| bits)) {
                Ok(next) => bits = next,
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) => break,
            }
        }
        Ok(entries)
    }

    /// Returns whether decoding everything from the last known beginning of a strip on is no more work than what the
    /// worker that decodes strips from the top still has to do before it. If so, the requesting thread decodes that
    /// part in one run, while the other worker is busy with the rest.
    fn are_enough(&self, entries: &[Option<Entry>], length: u64) -> bool {
        let Range { start: top, end } = lock(&self.queue).strips.clone();
        if top >= end {
            return true;
        }
        let (Some(Some(last)), Some(Some(first))) = (entries.last(), entries.get(top)) else {
            return false;
        };
        // A bit and a sample are about the same amount of work.
        let share = |bits: u64, strips: usize| {
            bits as f64 / length as f64 + strips as f64 / self.strips.len() as f64
        };
        let (position, strip) = (u64::from(last.position), entries.len() - 1);
        let bits_before = position.saturating_sub(first.position.into());
        share(length.saturating_sub(position), self.strips.len() - strip)
            <= share(bits_before, strip - top)
    }

    /// Decodes one strip after the other from the top.
    fn decode_from_top(&self, mut coders: Vec<Coder>) -> Vec<StripResult> {
        let mut results = Vec::new();
        let Some(mut bits) = self.data.reader(0) else {
            return results;
        };
        while let Some(strip) = self.next() {
            let planes = self.decode(strip, &mut coders, &mut bits);
            if planes.is_err() {
                // After an error, the rest of the image is not needed.
                self.stop();
            }
            results.push((strip, planes));
        }
        results
    }

    /// Decodes runs of neighbouring strips, the last run of the image first.
    fn decode_from_bottom(
        &self,
        entries: &[Option<Entry>],
        mut coders: Vec<Coder>,
        interrupted: &dyn Fn() -> bool,
    ) -> Vec<StripResult> {
        let mut results = Vec::new();
        while let Some((entry, run)) = self.next_run(entries) {
            let bits = self.enter(&entry, &mut coders);
            let Ok(mut bits) = bits else {
                results.push((run.start, bits.map(|_| Vec::new())));
                return results;
            };
            for strip in run {
                if interrupted() || self.stopped.load(Ordering::Relaxed) {
                    return results;
                }
                let planes = self.decode(strip, &mut coders, &mut bits);
                let is_error = planes.is_err();
                results.push((strip, planes));
                if is_error {
                    return results;
                }
            }
        }
        results
    }

    /// Takes the topmost strip that no worker has taken.
    fn next(&self) -> Option<usize> {
        lock(&self.queue).strips.next()
    }

    /// Takes a run of neighbouring strips at the bottom, and returns where to begin to decode. The first runs are long,
    /// because each run begins with some MCUs of the row before it, which are decoded and then discarded.
    fn next_run(&self, entries: &[Option<Entry>]) -> Option<(Entry, Range<usize>)> {
        let mut queue = lock(&self.queue);
        let Range { start, end } = queue.strips.clone();
        let first = end.checked_sub(((end - start) / (2 * queue.workers)).max(1))?;
        let mut candidates = (start..=first).rev();
        let (first, entry) = candidates.find_map(|strip| Some((strip, (*entries.get(strip)?)?)))?;
        queue.strips.end = first;
        Some((entry, first..end))
    }

    /// Stops the workers, and discards the strips that no worker has taken.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let queue = &mut lock(&self.queue).strips;
        queue.end = queue.start;
    }

    /// Decodes the MCUs from an entry to the beginning of the strip that it belongs to, to set the coders' DC
    /// predictions. Returns a reader at the beginning of the strip.
    fn enter(&self, entry: &Entry, coders: &mut [Coder]) -> Result<Bits<'_>> {
        let bits = self.data.reader_at(entry.position);
        for (coder, prediction) in coders.iter_mut().zip(entry.predictions) {
            coder.prediction = prediction.into();
        }
        let mcus_before = self.across - entry.before..self.across;
        let bits = decode_mcus(
            coders,
            mcus_before,
            &mut Intervals::endless(&self.data),
            bits,
        )?;
        for coder in coders {
            coder.row.fill(0);
        }
        Ok(bits)
    }

    /// Decodes a strip and computes its samples. The strip begins at the position of `bits`.
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
