//! Turns rows of MCUs into samples, on the same core or on an idle one while the next row is decoded.

use std::sync::mpsc::{self, Receiver, Sender};

use andon_kernels::cores::{Cores, Offered, receive_soon};

use crate::decode::coder::{Coder, Lane};
use crate::decode::plane::PlaneDecoder;
use crate::error::{Error, Result};

/// The coefficients of a row of MCUs, one vector for each component of the scan.
type Row = Vec<Vec<i16>>;

/// Where the samples of a scan are computed.
pub(super) enum Output {
    /// Samples are computed on the thread that decodes.
    Local(Vec<PlaneDecoder>),
    /// Samples are computed on another core.
    Remote(Remote),
}

/// The connection to another core that computes the samples, and the batches of rows in flight.
pub(super) struct Remote {
    batches: Sender<Batch>,
    /// Receives emptied batches: zeroed rows that can be filled again.
    empty_batches: Receiver<Batch>,
    /// The number of coefficients of each component in a row of MCUs.
    lengths: Vec<usize>,
    /// Number of batches created so far, at most `max_batches`.
    batch_count: usize,
    /// Maximum number of batches.
    max_batches: usize,
    /// The batch that is being filled.
    batch: Batch,
    /// Number of rows at the beginning of `batch` that are complete.
    complete_rows: usize,
    planes: Offered<Vec<PlaneDecoder>>,
}

/// Rows of MCUs that are sent together. Short rows are grouped, because each message has a cost.
type Batch = Vec<Row>;

/// Minimum number of batches that may be in use at the same time: one for the core that decodes, one for the core that
/// computes samples, and one on its way, so that neither core has to wait for the other at every batch.
const BATCHES: usize = 3;

/// Minimum size in bytes of the coefficients in a batch.
const BATCH_BYTES: usize = 96 << 10;

/// Total size in bytes of the coefficients in all batches in use. It lets the core that computes samples fall behind
/// the core that decodes for a while.
const BYTES_UNDER_WAY: usize = 3 << 19;

impl Output {
    /// Computes the samples on an idle core if there is one, otherwise on this one.
    pub(super) fn on_idle_core(
        mut planes: Vec<PlaneDecoder>,
        cores: &dyn Cores,
        lanes: &[Lane],
        coders: &[Coder],
    ) -> Result<Self> {
        let (batches, incoming) = mpsc::channel::<Batch>();
        let (empties, empty_batches) = mpsc::channel();
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
                    // Sending fails when the decoder needs no more rows.
                    let _ = empties.send(batch);
                }
                planes
            }
        };
        let planes = Offered::to(cores, work);
        if !planes.is_taken() {
            drop(batches);
            return Ok(Self::Local(planes.wait().map_err(|_| Error::UNSUPPORTED)?));
        }
        let lengths: Vec<_> = coders.iter().map(|coder| coder.row.len()).collect();
        Ok(Self::Remote(Remote {
            batches,
            empty_batches,
            batch: zeros(&lengths),
            max_batches: BATCHES.max(BYTES_UNDER_WAY / bytes(&lengths).max(BATCH_BYTES)),
            lengths,
            batch_count: 1,
            complete_rows: 0,
            planes,
        }))
    }

    /// Takes the coders' coefficients of one row of MCUs and leaves zeros in their place.
    pub(super) fn take(&mut self, lanes: &[Lane], coders: &mut [Coder]) -> Result<()> {
        match self {
            Self::Local(planes) => {
                for (lane, coder) in lanes.iter().zip(coders) {
                    lane.write(&mut planes[lane.component], &coder.row);
                    coder.row.fill(0);
                }
                Ok(())
            }
            Self::Remote(remote) => {
                let row = &mut remote.batch[remote.complete_rows];
                for (coder, row) in coders.iter_mut().zip(row) {
                    std::mem::swap(&mut coder.row, row);
                }
                remote.complete_rows += 1;
                if remote.complete_rows == remote.batch.len() {
                    let result = remote.batches.send(std::mem::take(&mut remote.batch));
                    result.map_err(|_| Error::UNSUPPORTED)?;
                    remote.batch = remote.next_batch()?;
                    remote.complete_rows = 0;
                }
                Ok(())
            }
        }
    }

    /// Returns the planes, after the samples of all decoded rows have been computed and written to them.
    pub(super) fn planes(self) -> Result<Vec<PlaneDecoder>> {
        match self {
            Self::Local(planes) => Ok(planes),
            Self::Remote(mut remote) => {
                remote.batch.truncate(remote.complete_rows);
                let result = remote.batches.send(remote.batch);
                result.map_err(|_| Error::UNSUPPORTED)?;
                drop(remote.batches);
                // A panic is a bug of this decoder: libjpeg may be able to decode the file.
                remote.planes.wait().map_err(|_| Error::UNSUPPORTED)
            }
        }
    }
}

impl Remote {
    /// Returns an emptied batch, or a new one while more may be created. Otherwise waits for one.
    fn next_batch(&mut self) -> Result<Batch> {
        if let Ok(batch) = self.empty_batches.try_recv() {
            return Ok(batch);
        }
        if self.batch_count < self.max_batches {
            self.batch_count += 1;
            return Ok(zeros(&self.lengths));
        }
        receive_soon(&self.empty_batches).map_err(|_| Error::UNSUPPORTED)
    }
}

/// Creates a batch of zeroed rows. `lengths` are the numbers of coefficients per row of each component.
fn zeros(lengths: &[usize]) -> Batch {
    let rows = BATCH_BYTES.div_ceil(bytes(lengths));
    let row = || lengths.iter().map(|&length| vec![0; length]).collect();
    (0..rows).map(|_| row()).collect()
}

/// Returns the size in bytes of the coefficients in a row of MCUs.
fn bytes(lengths: &[usize]) -> usize {
    lengths.iter().map(|length| 2 * length).sum()
}
