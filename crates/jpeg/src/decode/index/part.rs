//! Decodes a part of a JPEG image, with the help of an index of entry points into its scan.

use std::ops::Range;

use crate::decode::coder::{Coder, Symbols, coders};
use crate::decode::entropy::Unstuffed;
use crate::decode::index::format::Index;
use crate::decode::index::source::{at_scan, mcu, planes};
use crate::decode::output::Output;
use crate::decode::request::{Request, peak_bytes, within};
use crate::decode::row::decode_mcus;
use crate::decode::scan::{ENDS_EARLY, Intervals, check, mcus};
use crate::decode::segments::FrameHeader;
use crate::error::{Bound, Error, Result};
use crate::image::{Area, Plane};

/// Decodes a part of an image at the first of the requested sizes, with the help of an index of entry points into the
/// image's scan. `part` must come from [`Index::part`].
///
/// # Errors
/// Those of [`components`](crate::decode::components), and `Unsupported` for an index of another file.
pub fn decode_part(
    bytes: &[u8],
    index: &Index<'_>,
    part: Area,
    request: &Request<'_>,
) -> Result<Vec<Plane>> {
    let &[sizes, ..] = request.sizes else {
        return Ok(Vec::new());
    };
    let (segments, frame, scan) = at_scan(bytes)?;
    if !fits(index, &frame, part) {
        return Err(Error::UNSUPPORTED);
    }
    // From here on, the part is treated as an image of its own.
    let frame = FrameHeader {
        width: part.w,
        height: part.h,
        ..frame
    };
    within(
        Bound::Memory,
        peak_bytes(0, &frame, &[sizes]),
        request.memory,
    )?;
    let planes = planes(&frame, sizes);
    let (across, down) = mcus(&frame, &scan, &planes);
    let (mut coders, lanes) = coders(&segments.tables, &frame, &scan, &planes, Symbols::Several)?;
    let (left, top) = (part.x / index.mcu.0, part.y / index.mcu.1);
    let mut rows = Rows {
        index,
        coded: segments.entropy_coded(),
        columns: left..left + across,
        restart: segments.tables.restart,
        data: Unstuffed::default(),
    };
    let mut output = Output::Local(planes);
    for row in top..top + down {
        if (request.interrupted)() {
            return Err(Error::Interrupted);
        }
        rows.decode(row, &mut coders)?;
        output.take(&lanes, &mut coders)?;
    }
    let mut parts = Vec::new();
    for plane in output.planes()? {
        parts.extend(plane.finish()?.into_iter().map(|scaled| scaled.plane));
    }
    Ok(parts)
}

/// Returns whether the index belongs to an image with this frame, and has an entry where the part begins.
fn fits(index: &Index<'_>, frame: &FrameHeader, part: Area) -> bool {
    let (wide, high) = mcu(frame);
    (wide, high) == index.mcu
        && index.across == frame.width.div_ceil(wide)
        && index.down == frame.height.div_ceil(high)
        && part.x.is_multiple_of(wide * index.columns)
        && part.y.is_multiple_of(high)
        && part.w > 0
        && part.h > 0
        && u64::from(part.x) + u64::from(part.w) <= frame.width.into()
        && u64::from(part.y) + u64::from(part.h) <= frame.height.into()
}

/// The rows of MCUs of the part of an image that is decoded.
struct Rows<'a> {
    index: &'a Index<'a>,
    /// The entropy-coded data of the whole image.
    coded: &'a [u8],
    /// Range of the columns of MCUs of the image that the part covers.
    columns: Range<u32>,
    /// MCUs between restart markers; 0 for none.
    restart: u32,
    /// Buffer for the unstuffed data of a row.
    data: Unstuffed,
}

impl Rows<'_> {
    /// Decodes those MCUs of row `row` of the image that are in the part, into the buffer [`Coder::row`] of each
    /// component.
    fn decode(&mut self, row: u32, coders: &mut [Coder]) -> Result<()> {
        let piece = self.index.piece(self.coded, &self.columns, row);
        let (entry, coded) = piece.ok_or(Error::UNSUPPORTED)?;
        let first = u64::from(row) * u64::from(self.index.across) + u64::from(self.columns.start);
        let (interval, mcus_left) = match u64::from(self.restart) {
            0 => (0, u32::MAX),
            // At most the length of an interval, which is a u32.
            restart => (
                (first / restart) as usize,
                (restart - first % restart) as u32,
            ),
        };
        self.data.read_from(coded, interval);
        let mut bits = self.data.reader(0).ok_or(ENDS_EARLY)?;
        bits.take(entry.bit.into());
        for (coder, prediction) in coders.iter_mut().zip(entry.predictions) {
            coder.prediction = prediction.into();
        }
        let mut intervals = Intervals::inside(&self.data, self.restart, mcus_left);
        let bits = decode_mcus(coders, 0..self.columns.len(), &mut intervals, bits)?;
        check(&bits)
    }
}
