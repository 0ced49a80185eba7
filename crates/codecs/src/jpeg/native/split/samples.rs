//! Computes the samples of what the other core has decoded, once both decoders have synchronized. The components are
//! divided between both cores.

use std::sync::Arc;

use andon_pixels::cores::Offered;

use super::super::output::Lane;
use super::super::plane::PlaneDecoder;
use super::super::sequential::Coder;
use super::super::{Refused, Request};
use super::{Decoded, State, SyncPoint, Tail};

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

impl Tail {
    /// Computes the samples of the rows of MCUs from `row` to the end: those of the first component, which has as many
    /// as all others together in most files, on this core, and the others on an idle core. Both decoders must have
    /// synchronized.
    pub(in super::super) fn finish(
        self,
        row: usize,
        coders: Vec<Coder>,
        lanes: &[Lane],
        planes: Vec<PlaneDecoder>,
        wanted: &Request<'_>,
    ) -> Result<Vec<PlaneDecoder>, Refused> {
        let State::Met { decoded, place } = self.state else {
            return Err(Refused::Unsupported);
        };
        let decoded = Arc::new(decoded);
        let mut planes: Vec<_> = planes.into_iter().map(Some).collect();
        let mut here = Vec::with_capacity(lanes.len());
        for (index, (coder, lane)) in coders.into_iter().zip(lanes).enumerate() {
            here.push(Part {
                index,
                coder,
                lane: lane.clone(),
                plane: planes[lane.component].take().ok_or(Refused::Unsupported)?,
                decoded: decoded.clone(),
                place,
            });
        }
        let rows = (row * self.across..self.total).step_by(self.across);
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
                    return Err(Refused::Interrupted);
                }
                part.write_row(first);
            }
        }
        // A panic of ours: libjpeg may know better.
        let others = others.wait().map_err(|_| Refused::Unsupported)?;
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
