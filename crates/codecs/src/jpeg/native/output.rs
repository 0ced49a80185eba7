//! From rows of MCUs to samples: here, or on an idle core while the next row is decoded.

use std::sync::mpsc::{self, Receiver, Sender};

use andon_pixels::Cores;
use andon_pixels::cores::{Offered, receive_soon};

use super::Refused;
use super::plane::PlaneDecoder;
use super::sequential::Coder;

/// What one component of a scan needs on its way to samples.
#[derive(Clone)]
pub(super) struct Lane {
    /// Index in the frame.
    pub(super) component: usize,
    /// Rows of blocks in a row of MCUs.
    pub(super) rows: usize,
    pub(super) quant: [u16; 64],
}

/// The coefficients of a row of MCUs: a list for each component of the scan.
type Row = Vec<Vec<i16>>;

/// Where samples are made.
pub(super) enum Output {
    /// By whoever decodes.
    Here(Vec<PlaneDecoder>),
    /// By another core.
    There(There),
}

pub(super) struct There {
    batches: Sender<Batch>,
    /// Batches of rows of zeros, to be decoded into.
    empty: Receiver<Batch>,
    /// Coefficients of each component in a row.
    lengths: Vec<usize>,
    /// How many batches were made, and how many may be.
    made: usize,
    most: usize,
    /// The one that is being filled, and how many of its rows are.
    batch: Batch,
    filled: usize,
    planes: Offered<Vec<PlaneDecoder>>,
}

/// Rows of MCUs: several where they are short, for each batch costs a message.
type Batch = Vec<Row>;

/// How many may be under way at least: one here, one there, and one between, so that neither waits for the other at every
/// one.
const BATCHES: usize = 3;

/// Bytes of the coefficients in a batch, at least.
const BATCH_BYTES: usize = 96 << 10;

/// Bytes of the coefficients that may be under way, so that one core may fall behind the other for a while.
const BYTES_UNDER_WAY: usize = 3 << 19;

impl Output {
    /// On an idle core, if there is one.
    pub(super) fn offered(
        mut planes: Vec<PlaneDecoder>,
        cores: &dyn Cores,
        lanes: &[Lane],
        coders: &[Coder],
    ) -> Result<Self, Refused> {
        let (batches, incoming) = mpsc::channel::<Batch>();
        let (emptied, empty) = mpsc::channel();
        let work = {
            let lanes = lanes.to_vec();
            move || {
                while let Ok(mut batch) = receive_soon(&incoming) {
                    for row in &mut batch {
                        for (lane, row) in lanes.iter().zip(row) {
                            lane.write(&mut planes[lane.component], row);
                            row.fill(0);
                        }
                    }
                    // Fails when no more rows are needed.
                    let _ = emptied.send(batch);
                }
                planes
            }
        };
        let planes = Offered::to(cores, work);
        if !planes.is_taken() {
            drop(batches);
            return Ok(Self::Here(planes.wait().map_err(|_| Refused::Unsupported)?));
        }
        let lengths: Vec<_> = coders.iter().map(|coder| coder.row.len()).collect();
        Ok(Self::There(There {
            batches,
            empty,
            batch: zeros(&lengths),
            most: BATCHES.max(BYTES_UNDER_WAY / bytes(&lengths).max(BATCH_BYTES)),
            lengths,
            made: 1,
            filled: 0,
            planes,
        }))
    }

    /// Takes the coders' rows, which are a row of MCUs, and leaves zeros.
    pub(super) fn take(&mut self, lanes: &[Lane], coders: &mut [Coder]) -> Result<(), Refused> {
        match self {
            Self::Here(planes) => {
                for (lane, coder) in lanes.iter().zip(coders) {
                    lane.write(&mut planes[lane.component], &coder.row);
                    coder.row.fill(0);
                }
                Ok(())
            }
            Self::There(there) => {
                let row = &mut there.batch[there.filled];
                for (coder, row) in coders.iter_mut().zip(row) {
                    std::mem::swap(&mut coder.row, row);
                }
                there.filled += 1;
                if there.filled == there.batch.len() {
                    let sent = there.batches.send(std::mem::take(&mut there.batch));
                    sent.map_err(|_| Refused::Unsupported)?;
                    there.batch = there.next_batch()?;
                    there.filled = 0;
                }
                Ok(())
            }
        }
    }

    /// The planes with all that was taken.
    pub(super) fn planes(self) -> Result<Vec<PlaneDecoder>, Refused> {
        match self {
            Self::Here(planes) => Ok(planes),
            Self::There(mut there) => {
                there.batch.truncate(there.filled);
                let sent = there.batches.send(there.batch);
                sent.map_err(|_| Refused::Unsupported)?;
                drop(there.batches);
                // A panic of ours: libjpeg may know better.
                there.planes.wait().map_err(|_| Refused::Unsupported)
            }
        }
    }
}

impl There {
    /// One that is empty again, or another one while there may be more.
    fn next_batch(&mut self) -> Result<Batch, Refused> {
        if let Ok(batch) = self.empty.try_recv() {
            return Ok(batch);
        }
        if self.made < self.most {
            self.made += 1;
            return Ok(zeros(&self.lengths));
        }
        receive_soon(&self.empty).map_err(|_| Refused::Unsupported)
    }
}

/// A batch of zeroed rows; `lengths` are the coefficients per row of each component.
fn zeros(lengths: &[usize]) -> Batch {
    let rows = BATCH_BYTES.div_ceil(bytes(lengths));
    let row = || lengths.iter().map(|&length| vec![0; length]).collect();
    (0..rows).map(|_| row()).collect()
}

/// Bytes of a row's coefficients.
fn bytes(lengths: &[usize]) -> usize {
    lengths.iter().map(|length| 2 * length).sum()
}

impl Lane {
    /// Makes samples of a row of MCUs of its component.
    pub(super) fn write(&self, plane: &mut PlaneDecoder, row: &[i16]) {
        let length = plane.stride * plane.kept.count();
        // There is one more slot behind them, which may be as long as a row.
        for blocks in row.chunks_exact(length).take(self.rows) {
            plane.write_row(blocks, &self.quant);
        }
    }
}
