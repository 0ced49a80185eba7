//! Sequential (baseline and extended) scans: each row of MCUs is turned into samples right after it is decoded.

use std::sync::Arc;

use crate::decode::bits::Bits;
use crate::decode::coder::{Coder, Lane, Symbols, coders};
use crate::decode::entropy::Unstuffed;
use crate::decode::output::Output;
use crate::decode::plane::PlaneDecoder;
use crate::decode::request::{Request, Scans, within};
use crate::decode::route::{Facts, Route, routes};
use crate::decode::row::decode_mcus;
use crate::decode::scan::{ENDS_EARLY, Intervals, Scan, check};
use crate::decode::segments::{FrameHeader, Segment, Segments};
use crate::decode::split::Tail;
use crate::decode::streams::Streams;
use crate::decode::strips;
use crate::error::{Bound, Error, Result};

/// Decodes the scans of a sequential image until every component is complete.
pub(super) fn decode(
    segments: &mut Segments<'_>,
    frame: &FrameHeader,
    mut planes: Vec<PlaneDecoder>,
    request: &Request<'_>,
) -> Result<Vec<PlaneDecoder>> {
    let mut scans = 0;
    while let Segment::Scan(header) = segments.next()? {
        scans += 1;
        within(Bound::Scans, scans, request.scans.into())?;
        let mut data = Unstuffed::default();
        let length = data.read(segments.entropy_coded());
        let scan = Scan::new(Arc::new(data), &segments.tables, frame, &header, &planes);
        planes = decode_scan(&scan, planes, request)?;
        segments.pass(length);
        if planes.iter().all(|plane| plane.complete) {
            // With `Scans::All`, the file is read to its end. A small image has everything it needs once its components
            // are complete, unless another scan may follow.
            let reads_all = request.followed == Scans::All;
            if reads_all || scans > 1 || planes.iter().any(|plane| plane.selection.side == 8) {
                segments.ends(scans)?;
            }
            return Ok(planes);
        }
    }
    // libjpeg defines what becomes of components that are in no scan.
    Err(if segments.ended() {
        Error::UNSUPPORTED
    } else {
        Error::Broken("it ends before every component was seen")
    })
}

/// Decodes a scan in the first of the ways that suit it ([`Route`]) that succeeds.
fn decode_scan(
    scan: &Scan<'_>,
    mut planes: Vec<PlaneDecoder>,
    request: &Request<'_>,
) -> Result<Vec<PlaneDecoder>> {
    let mut routes = routes(&Facts::of(scan, &planes, request.cores)).peekable();
    let symbols = match routes.peek() {
        Some(Route::Elsewhere) => return Err(Error::UNSUPPORTED),
        // Streams usually leave only a few MCUs to decode one by one.
        Some(Route::Streams) if scan.data.len() < TABLES_WORTH_IT => Symbols::One,
        _ => Symbols::Several,
    };
    let coders_of = |planes: &[PlaneDecoder], symbols| {
        coders(scan.tables, scan.frame, scan.header, planes, symbols)
    };
    let (mut coders, lanes) = coders_of(&planes, symbols)?;
    let (reader, output) = loop {
        match routes.next() {
            Some(Route::Strips) => match strips::decode(scan, &coders, &lanes, planes, request) {
                Ok(decoded) => return decoded,
                Err(same_planes) => planes = same_planes,
            },
            Some(Route::Streams) => match Streams::new(scan, &coders) {
                Some(streams) => break (Reader::Streams(streams), Output::Local(planes)),
                None => coders = coders_of(&planes, Symbols::Several)?.0,
            },
            Some(Route::Split) => {
                if let Some(tail) = Tail::offer(scan, &coders, request.cores) {
                    break (Reader::Split(tail), Output::Local(planes));
                }
            }
            Some(Route::SamplesApart) => {
                let output = Output::on_idle_core(planes, request.cores, &lanes, &coders)?;
                break (Reader::Plain, output);
            }
            Some(Route::Plain | Route::Elsewhere) | None => {
                break (Reader::Plain, Output::Local(planes));
            }
        }
    };
    decode_rows(scan, (coders, &lanes), reader, output, request)
}

/// Minimum size in bytes of a scan for which tables that decode several symbols per look-up are built although parallel
/// streams decode the scan. Building them takes a small part of the scan's time, and pays if the streams leave more
/// than a few MCUs to decode one by one.
const TABLES_WORTH_IT: usize = 1 << 20;

/// How the rows of a scan are read.
enum Reader {
    /// One MCU after the other, on this core.
    Plain,
    Streams(Streams),
    /// Together with another core, which started in the middle of the scan.
    Split(Tail),
}

/// Decodes a scan row by row.
fn decode_rows(
    scan: &Scan<'_>,
    (mut coders, lanes): (Vec<Coder>, &[Lane]),
    mut reader: Reader,
    mut output: Output,
    request: &Request<'_>,
) -> Result<Vec<PlaneDecoder>> {
    let (across, down) = (scan.size.0 as usize, scan.size.1 as usize);
    let mut intervals = Intervals::new(&scan.data, scan.tables.restart);
    let mut bits = match reader {
        Reader::Streams(_) => scan.data.reader(0).ok_or(ENDS_EARLY)?,
        _ => Bits::new(&[]),
    };
    for row in 0..down {
        if (request.interrupted)() {
            return Err(Error::Interrupted);
        }
        bits = match &mut reader {
            Reader::Plain => decode_mcus(&mut coders, 0..across, &mut intervals, bits)?,
            Reader::Streams(streams) => {
                streams.decode_row(&scan.data, &mut coders, bits, request)?
            }
            Reader::Split(tail) => {
                tail.decode_row(&mut coders, row * across, &mut intervals, bits)?
            }
        };
        check(&bits)?;
        output.take(lanes, &mut coders)?;
        if let Reader::Split(tail) = &mut reader
            && let Some(rest) = tail.rest(row + 1)
        {
            return rest.finish(coders, lanes, output.planes()?, request);
        }
    }
    output.planes()
}
