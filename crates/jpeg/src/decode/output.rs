//! Turns rows of MCUs into samples, on the same core or on an idle one while the next row is decoded.

use std::sync::mpsc::{self, Receiver, Sender};

use andon_kernels::cores::{Cores, Offered, receive_soon};

use crate::decode::coder::{Coder, Lane};
use crate::decode::plane::PlaneDecoder;
use crate::error::{Error, Result};

/// The coefficients of a row of MCUs, one vector for each component of the scan.
type Row = Vec<Vec<i16>>;

/// Where samples are made.
pub(super) enum Output {
    /// Samples are made on the thread that decodes.
    Here(Vec<PlaneDecoder>),
    /// On another core.
    There(There),
}

/// The way to another core that makes the samples, and the rows that are on it.
pub(super) struct There {
    batches: Sender<Batch>,
    /// Batches of zeroed rows that can be filled again.
    empty: Receiver<Batch>,
    /// The number of coefficients of each component in a row of MCUs.
    lengths: Vec<usize>,
    /// How many batches have been made, at most `most`.
    made: usize,
    most: usize,
    /// The batch that is being filled. The first `filled` of its rows are complete.
    batch: Batch,
    filled: usize,
    planes: Offered<Vec<PlaneDecoder>>,
}

/// Rows of MCUs that are sent together: several where they are short, because every batch costs a message.
type Batch = Vec<Row>;

/// The number of batches that may always be in use: one on each of the two cores and one between them, so that they
/// need not wait for each other at every batch.
const BATCHES: usize = 3;

/// The least bytes of coefficients in a batch.
const BATCH_BYTES: usize = 96 << 10;

/// Bytes of coefficients in all batches in use, so that one core may fall behind the other for a while.
const BYTES_UNDER_WAY: usize = 3 << 19;

impl Output {
    /// Makes the samples on an idle core if there is one, otherwise on this one.
    pub(super) fn offered(
        mut planes: Vec<PlaneDecoder>,
        cores: &dyn Cores,
        lanes: &[Lane],
        coders: &[Coder],
    ) -> Result<Self> {
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
            return Ok(Self::Here(planes.wait().map_err(|_| Error::UNSUPPORTED)?));
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

    /// Takes the coders' coefficients of one row of MCUs and leaves zeros in their place.
    pub(super) fn take(&mut self, lanes: &[Lane], coders: &mut [Coder]) -> Result<()> {
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
                    sent.map_err(|_| Error::UNSUPPORTED)?;
                    there.batch = there.next_batch()?;
                    there.filled = 0;
                }
                Ok(())
            }
        }
    }

    /// Returns the planes with the samples of all rows taken.
    pub(super) fn planes(self) -> Result<Vec<PlaneDecoder>> {
        match self {
            Self::Here(planes) => Ok(planes),
            Self::There(mut there) => {
                there.batch.truncate(there.filled);
                let sent = there.batches.send(there.batch);
                sent.map_err(|_| Error::UNSUPPORTED)?;
                drop(there.batches);
                // A panic of ours: libjpeg may know better.
                there.planes.wait().map_err(|_| Error::UNSUPPORTED)
            }
        }
    }
}

impl There {
    /// Returns an emptied batch, or a new one as long as more may be made. Otherwise waits for one.
    fn next_batch(&mut self) -> Result<Batch> {
        if let Ok(batch) = self.empty.try_recv() {
            return Ok(batch);
        }
        if self.made < self.most {
            self.made += 1;
            return Ok(zeros(&self.lengths));
        }
        receive_soon(&self.empty).map_err(|_| Error::UNSUPPORTED)
    }
}

/// Creates a batch of zeroed rows. `lengths` are the coefficients per row of each component.
fn zeros(lengths: &[usize]) -> Batch {
    let rows = BATCH_BYTES.div_ceil(bytes(lengths));
    let row = || lengths.iter().map(|&length| vec![0; length]).collect();
    (0..rows).map(|_| row()).collect()
}

/// Returns the bytes of the coefficients in a row of MCUs.
fn bytes(lengths: &[usize]) -> usize {
    lengths.iter().map(|length| 2 * length).sum()
}
