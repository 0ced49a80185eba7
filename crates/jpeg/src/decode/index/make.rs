//! Builds the index of a JPEG file, from which a part of the image can be decoded without the rest.

use andon_kernels::cpu::with_modern_instructions;

use crate::decode::bits::Bits;
use crate::decode::coder::{Coder, Symbols, coders};
use crate::decode::entropy::Unstuffed;
use crate::decode::index::format::{
    ENTRY, HEAD, MAGIC, MOST_ACROSS, MOST_ENTRIES, MOST_INDEX_BYTES,
};
use crate::decode::index::source::{at_scan, mcu, planes};
use crate::decode::request::{Request, peak_bytes, within};
use crate::decode::row::decode_row;
use crate::decode::scan::{Intervals, check, mcus};
use crate::error::{Bound, Error, Result};

/// Builds the index of a file, in serialised form (see [`Index`](crate::decode::Index)). `request.sizes` is ignored.
///
/// # Errors
/// Those of [`components`](crate::decode::components), and `Unsupported` for progressive files and files of several
/// scans. A file that has an index can be decoded at every scale.
pub fn index(bytes: &[u8], request: &Request<'_>) -> Result<Vec<u8>> {
    let (mut segments, frame, scan) = at_scan(bytes)?;
    let memory = peak_bytes(bytes.len(), &frame, &[[1, 1]]) + 2 * MOST_INDEX_BYTES;
    within(Bound::Memory, memory, request.memory)?;
    let coded = segments.entropy_coded();
    let mut data = Unstuffed::default();
    let length = data.read(coded);
    if data.has_fill_bytes_inside() || u32::try_from(length).is_err() {
        return Err(Error::UNSUPPORTED);
    }
    let planes = planes(&frame, [1, 1]);
    let (across, down) = mcus(&frame, &scan, &planes);
    let (coders, _) = coders(&segments.tables, &frame, &scan, &planes, Symbols::Several)?;
    let columns = across.div_ceil((MOST_ENTRIES / down).clamp(1, MOST_ACROSS));
    let walk = Walk {
        data: &data,
        restart: segments.tables.restart,
        across,
        columns,
    };
    let starts = walk.starts(coders, down, request)?;
    segments.pass(length);
    segments.ends(1)?;

    let mut index = Vec::with_capacity(HEAD + starts.len() * ENTRY);
    index.extend(MAGIC);
    index.extend((bytes.len() as u64).to_be_bytes());
    let (wide, high) = mcu(&frame);
    for number in [across, down, wide, high, columns] {
        index.extend(number.to_be_bytes());
    }
    let mut starts = starts.into_iter().peekable();
    let mut run = (0, 0);
    data.read_runs_of(coded, |end, next| {
        while let Some(Start { bit, predictions }) = starts.next_if(|it| it.bit / 8 < end as u64) {
            // The offset is within the coded bytes, whose number fits a u32.
            let offset = run.1 + (bit / 8) as usize - run.0;
            index.extend((offset as u32).to_be_bytes());
            index.push((bit % 8) as u8);
            index.extend(predictions.iter().flat_map(|it| it.to_be_bytes()));
        }
        run = (end, next);
    });
    Ok(index)
}

/// A pass over a scan that records where its MCUs begin.
struct Walk<'a> {
    data: &'a Unstuffed,
    /// MCUs between restart markers; 0 for none.
    restart: u32,
    /// MCUs per row.
    across: u32,
    /// Distance in MCUs between two neighbouring MCUs of a row whose positions are recorded.
    columns: u32,
}

/// Where an MCU begins, in bits from the beginning of the unstuffed data, and the DC predictions there.
struct Start {
    bit: u64,
    predictions: [i16; 3],
}

impl Walk<'_> {
    /// Decodes all `down` rows of MCUs. Returns where one in every `columns` MCUs of each row begins.
    fn starts(
        &self,
        mut coders: Vec<Coder>,
        down: u32,
        request: &Request<'_>,
    ) -> Result<Vec<Start>> {
        let across = self.across as usize;
        let mut starts = Vec::with_capacity(down as usize * across.div_ceil(self.columns as usize));
        let mut intervals = Intervals::new(self.data, self.restart);
        let mut bits = Bits::new(&[]);
        for row in 0..down {
            if (request.interrupted)() {
                return Err(Error::Interrupted);
            }
            let mut due = 0;
            bits = with_modern_instructions(
                #[inline(always)]
                || {
                    decode_row(
                        &mut coders,
                        0..across,
                        &mut intervals,
                        bits,
                        #[inline(always)]
                        |mcu, at, coders| {
                            if mcu == due {
                                due += self.columns as usize;
                                starts.push(self.start(row as usize * across + mcu, at, coders));
                            }
                            false
                        },
                    )
                },
            )?;
            check(&bits)?;
        }
        Ok(starts)
    }

    /// Returns where MCU `number` of the scan begins. The previous MCU ended at bit `at` of the unstuffed data.
    #[inline(never)]
    fn start(&self, number: usize, at: u64, coders: &[Coder]) -> Start {
        let restart = self.restart as usize;
        if restart > 0 && number.is_multiple_of(restart) {
            let interval = self.data.range(number / restart).unwrap_or_default();
            return Start {
                bit: interval.start as u64 * 8,
                predictions: [0; 3],
            };
        }
        // Coefficients are the lower 16 bits of predictions.
        let prediction = |index: usize| coders.get(index).map_or(0, |it| it.prediction as i16);
        Start {
            bit: at,
            predictions: [0, 1, 2].map(prediction),
        }
    }
}
