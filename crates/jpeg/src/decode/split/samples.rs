//! Computes the samples of what the other core has decoded, once both decoders have synchronized. The components are
//! divided between both cores.

use std::ops::Range;
use std::sync::Arc;

use andon_kernels::cores::Offered;

use crate::decode::coder::{Coder, Lane};
use crate::decode::plane::PlaneDecoder;
use crate::decode::request::Request;
use crate::decode::split::decoded::{Decoded, SyncPoint};
use crate::error::{Error, Result};

/// The rest of a scan, as the other core has decoded it.
pub(in crate::decode) struct Rest {
    pub(super) decoded: Decoded,
    pub(super) place: SyncPoint,
    /// The MCUs that have no samples yet: whole rows.
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
    /// Computes the samples: those of the first component, which has as many as all others together in most files, on
    /// this core, and the others on an idle core.
    pub(in crate::decode) fn finish(
        self,
        coders: Vec<Coder>,
        lanes: &[Lane],
        planes: Vec<PlaneDecoder>,
        wanted: &Request<'_>,
    ) -> Result<Vec<PlaneDecoder>> {
        let place = self.place;
        let decoded = Arc::new(self.decoded);
        let mut planes: Vec<_> = planes.into_iter().map(Some).collect();
        let mut here = Vec::with_capacity(lanes.len());
        for (index, (coder, lane)) in coders.into_iter().zip(lanes).enumerate() {
            here.push(Part {
                index,
                coder,
                lane: lane.clone(),
                plane: planes[lane.component].take().ok_or(Error::UNSUPPORTED)?,
                decoded: decoded.clone(),
                place,
            });
        }
        let rows = self.mcus.step_by(decoded.across);
        let others = here.split_off(1.min(here.len()));
        let others = {
            let rows = rows.clone();
            Offered::to(wanted.cores, move || {
                let mut others = others;
                for part in &mut others {
                    rows.clone().for_each(|first| part.write_row(first));
                }
                others
            })
        };
        for part in &mut here {
            for first in rows.clone() {
                if (wanted.interrupted)() {
                    return Err(Error::Interrupted);
                }
                part.write_row(first);
            }
        }
        // A panic of ours: libjpeg may know better.
        let others = others.wait().map_err(|_| Error::UNSUPPORTED)?;
        for part in here.into_iter().chain(others) {
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
