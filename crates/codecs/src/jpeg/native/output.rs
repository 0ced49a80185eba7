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
    /// Batches of rows of zeros, to be decoded into: as many as are under way at most.
    empty: Receiver<Batch>,
    /// The one that is being filled, and how many of its rows are.
    batch: Batch,
    filled: usize,
    planes: Offered<Vec<PlaneDecoder>>,
}

/// Rows of MCUs. To wake the other core takes as long as to decode a row, so it gets several at a time.
type Batch = Vec<Row>;

/// How many are under way: one here, one there, and one between, so that neither waits for the other at every one.
const BATCHES: usize = 3;

/// Bytes of the coefficients in a batch, at least.
const BATCH_BYTES: usize = 512 << 10;

impl Output {
    /// The same on an idle core, if there is one.
    pub(super) fn offered(
        self,
        cores: &dyn Cores,
        lanes: &[Lane],
        coders: &[Coder],
    ) -> Result<Self, Refused> {
        let Self::Here(mut planes) = self else {
            return Ok(self);
        };
        let (batches, incoming) = mpsc::channel::<Batch>();
        let (emptied, empty) = mpsc::channel();
        let work = {
            let (lanes, emptied) = (lanes.to_vec(), emptied.clone());
            move || {
                while let Ok(mut batch) = receive_soon(&incoming) {
                    for row in &mut batch {
                        for (lane, row) in lanes.iter().zip(row) {
                            lane.write(&mut planes, row);
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
        let bytes: usize = coders.iter().map(|coder| 2 * coder.row.len()).sum();
        let rows = BATCH_BYTES.div_ceil(bytes);
        let zeros = || {
            coders
                .iter()
                .map(|coder| vec![0; coder.row.len()])
                .collect()
        };
        let fresh = || (0..rows).map(|_| zeros()).collect();
        for _ in 1..BATCHES {
            // Its receiver is right here.
            let _ = emptied.send(fresh());
        }
        Ok(Self::There(There {
            batches,
            empty,
            batch: fresh(),
            filled: 0,
            planes,
        }))
    }

    /// Takes the coders' rows, which are a row of MCUs, and leaves zeros.
    pub(super) fn take(&mut self, lanes: &[Lane], coders: &mut [Coder]) -> Result<(), Refused> {
        match self {
            Self::Here(planes) => {
                for (lane, coder) in lanes.iter().zip(coders) {
                    lane.write(planes, &coder.row);
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
                    there.batch = receive_soon(&there.empty).map_err(|_| Refused::Unsupported)?;
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

impl Lane {
    fn write(&self, planes: &mut [PlaneDecoder], row: &[i16]) {
        let plane = &mut planes[self.component];
        let length = plane.stride * plane.kept.count();
        // There is one more slot behind them, which may be as long as a row.
        for blocks in row.chunks_exact(length).take(self.rows) {
            plane.write_row(blocks, &self.quant);
        }
    }
}
