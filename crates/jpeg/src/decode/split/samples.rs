//! Computes the samples of the second half of a scan, which another core has decoded to coefficients. Both cores
//! compute samples: one those of the first component, the other those of all others.

use std::ops::Range;
use std::sync::Arc;

use andon_kernels::cores::Offered;

use crate::decode::coder::{Coder, Lane};
use crate::decode::plane::PlaneDecoder;
use crate::decode::request::Request;
use crate::decode::split::decoded::{Decoded, SyncPoint};
use crate::error::{Error, Result};

/// The part of a scan whose coefficients were decoded by another core, and whose samples are still missing.
pub(in crate::decode) struct Rest {
    pub(super) decoded: Decoded,
    pub(super) place: SyncPoint,
    /// The MCUs whose samples are still missing, from the beginning of a row to the end of the scan.
    pub(super) mcus: Range<usize>,
}

/// One component of the scan, with what is needed to compute its samples.
struct Part {
    /// Index among the scan's components.
    index: usize,
    coder: Coder,
    lane: Lane,
    plane: PlaneDecoder,
    decoded: Arc<Decoded>,
    place: SyncPoint,
}

impl Rest {
    /// Computes the samples. This core takes the first component, which in most files has at least as many as all
    /// others together, and an idle core takes the others.
    pub(in crate::decode) fn finish(
        self,
        coders: Vec<Coder>,
        lanes: &[Lane],
        planes: Vec<PlaneDecoder>,
        request: &Request<'_>,
    ) -> Result<Vec<PlaneDecoder>> {
        let place = self.place;
        let decoded = Arc::new(self.decoded);
        let mut planes: Vec<_> = planes.into_iter().map(Some).collect();
        let mut local_parts = Vec::with_capacity(lanes.len());
        for (index, (coder, lane)) in coders.into_iter().zip(lanes).enumerate() {
            local_parts.push(Part {
                index,
                coder,
                lane: lane.clone(),
                plane: planes[lane.component].take().ok_or(Error::UNSUPPORTED)?,
                decoded: decoded.clone(),
                place,
            });
        }
        let rows = self.mcus.step_by(decoded.across);
        let remote_parts = local_parts.split_off(1.min(local_parts.len()));
        let remote_parts = {
            let rows = rows.clone();
            Offered::to(request.cores, move || {
                let mut parts = remote_parts;
                for part in &mut parts {
                    rows.clone().for_each(|first| part.write_row(first));
                }
                parts
            })
        };
        for part in &mut local_parts {
            for first in rows.clone() {
                if (request.interrupted)() {
                    return Err(Error::Interrupted);
                }
                part.write_row(first);
            }
        }
        // A panic is a bug of this decoder: libjpeg may be able to decode the file.
        let remote_parts = remote_parts.wait().map_err(|_| Error::UNSUPPORTED)?;
        for part in local_parts.into_iter().chain(remote_parts) {
            planes[part.lane.component] = Some(part.plane);
        }
        Ok(planes.into_iter().flatten().collect())
    }
}

impl Part {
    /// Computes the samples of the row of MCUs that begins with MCU `first`.
    fn write_row(&mut self, first: usize) {
        let theirs = self.place.theirs + first - self.place.ours;
        let theirs = theirs..theirs + self.decoded.across;
        self.decoded
            .copy(self.index, theirs, &self.place, &mut self.coder, 0);
        self.lane.write(&mut self.plane, &self.coder.row);
    }
}
