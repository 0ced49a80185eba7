//! What each worker thread is at: kept for who watches, at the price of one counted reference a job.

use std::sync::Arc;
use std::time::Instant;

use andon_pixels::Plan;

use super::calibration::Kind;

/// The worker threads that there are; a thread has the same place from its start to its end.
#[derive(Debug, Default)]
pub(super) struct Seats(Vec<Option<Seat>>);

/// A worker thread: at a job, or idle.
type Seat = Option<AtWork>;

/// A job on a worker thread.
#[derive(Clone, Debug)]
pub(crate) struct AtWork {
    /// What kind of work it is, by the formats that it is about.
    pub(crate) kind: Kind,
    /// What is made, unless pixels are only looked at.
    pub(crate) plan: Option<Arc<Plan>>,
    /// How many results are made along with it.
    pub(crate) along: usize,
    pub(crate) since: Instant,
}

impl Seats {
    /// The place of a new thread.
    pub(super) fn take(&mut self) -> usize {
        let free = self.0.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[place] = Some(None);
        place
    }

    /// Its thread has ended.
    pub(super) fn leave(&mut self, place: usize) {
        if let Some(seat) = self.0.get_mut(place) {
            *seat = None;
        }
    }

    /// Its thread begins with a job, or has nothing to do.
    pub(super) fn is_at(&mut self, place: usize, work: Option<AtWork>) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = work;
        }
    }

    /// All threads, in the order of their places.
    pub(super) fn all(&self) -> Vec<Option<AtWork>> {
        self.0.iter().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> AtWork {
        AtWork {
            kind: ("jpeg", "webp"),
            plan: None,
            along: 0,
            since: Instant::now(),
        }
    }

    #[test]
    fn a_place_is_one_threads_until_it_ends() {
        let mut seats = Seats::default();
        assert_eq!([seats.take(), seats.take(), seats.take()], [0, 1, 2]);
        seats.is_at(1, Some(work()));
        seats.leave(0);
        let busy: Vec<bool> = seats.all().iter().map(Option::is_some).collect();
        assert_eq!(busy, [true, false]);
        assert_eq!(seats.take(), 0);
        seats.is_at(1, None);
        assert!(seats.all().iter().all(Option::is_none));
        assert_eq!(seats.all().len(), 3);
    }
}
