//! From rows of MCUs to samples: here, or on an idle core while the next row is decoded.

use std::sync::mpsc::{self, Receiver, Sender};

use andon_pixels::Cores;
use andon_pixels::cores::Offered;

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
    rows: Sender<(u32, Row)>,
    /// Rows of zeros, to be decoded into: as many as are under way at most.
    empty: Receiver<Row>,
    planes: Offered<Vec<PlaneDecoder>>,
}

/// Rows of MCUs that are under way: enough for neither to wait for the other at every row.
const ROWS: usize = 6;

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
        let (rows, incoming) = mpsc::channel::<(u32, Row)>();
        let (emptied, empty) = mpsc::channel();
        let work = {
            let (lanes, emptied) = (lanes.to_vec(), emptied.clone());
            move || {
                for (mcu_row, mut row) in incoming {
                    for (lane, row) in lanes.iter().zip(&mut row) {
                        lane.write(&mut planes, mcu_row, row);
                        row.fill(0);
                    }
                    // Fails when no more rows are needed.
                    let _ = emptied.send(row);
                }
                planes
            }
        };
        let planes = Offered::to(cores, work);
        if !planes.is_taken() {
            drop(rows);
            return Ok(Self::Here(planes.wait().map_err(|_| Refused::Unsupported)?));
        }
        for _ in 0..ROWS {
            let zeros = |coder: &Coder| vec![0; coder.row.len()];
            // Its receiver is right here.
            let _ = emptied.send(coders.iter().map(zeros).collect());
        }
        Ok(Self::There(There {
            rows,
            empty,
            planes,
        }))
    }

    /// Takes the coders' rows, which are a row of MCUs, and leaves zeros.
    pub(super) fn take(
        &mut self,
        mcu_row: u32,
        lanes: &[Lane],
        coders: &mut [Coder],
    ) -> Result<(), Refused> {
        match self {
            Self::Here(planes) => {
                for (lane, coder) in lanes.iter().zip(coders) {
                    lane.write(planes, mcu_row, &coder.row);
                    coder.row.fill(0);
                }
                Ok(())
            }
            Self::There(there) => {
                let mut row = there.empty.recv().map_err(|_| Refused::Unsupported)?;
                for (coder, row) in coders.iter_mut().zip(&mut row) {
                    std::mem::swap(&mut coder.row, row);
                }
                let sent = there.rows.send((mcu_row, row));
                sent.map_err(|_| Refused::Unsupported)
            }
        }
    }

    /// The planes with all that was taken.
    pub(super) fn planes(self) -> Result<Vec<PlaneDecoder>, Refused> {
        match self {
            Self::Here(planes) => Ok(planes),
            Self::There(there) => {
                drop(there.rows);
                // A panic of ours: libjpeg may know better.
                there.planes.wait().map_err(|_| Refused::Unsupported)
            }
        }
    }
}

impl Lane {
    fn write(&self, planes: &mut [PlaneDecoder], mcu_row: u32, row: &[i16]) {
        let plane = &mut planes[self.component];
        let length = plane.stride * plane.kept.count();
        let first = mcu_row * self.rows as u32;
        for (v, blocks) in (0..).zip(row.chunks_exact(length)) {
            plane.write_row(first + v, blocks, &self.quant);
        }
    }
}
