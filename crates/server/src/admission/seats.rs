//! What each worker thread is at, and by when it was to be done: kept for who watches, at the price of one counted
//! reference a job.
//!
//! A thread does one job at a time and cannot be interrupted from outside; jobs ask whether they are still wanted, mostly
//! once per band of rows. A thread that is at a job whose deadline passed `GRACE` ago neither finished nor asked since:
//! it is stuck. A thread that is busy with a long job, and even one that is late with it, is not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_pixels::Plan;

use super::calibration::Kind;
use crate::error::{Stuck, Threads};

/// The worker threads that there are; a thread has the same place from its start to its end.
#[derive(Debug, Default)]
pub(super) struct Seats(Vec<Option<Seat>>);

/// A worker thread.
#[derive(Debug, Default)]
struct Seat {
    /// Its job; nothing while it is idle, or does a part of another thread's job.
    work: Option<AtWork>,
    /// When nobody waits any longer for what it is at; nothing while it is idle.
    deadline: Option<Instant>,
}

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
        self.0[place] = Some(Seat::default());
        place
    }

    /// Its thread has ended.
    pub(super) fn leave(&mut self, place: usize) {
        if let Some(seat) = self.0.get_mut(place) {
            *seat = None;
        }
    }

    /// Its thread begins with a job that is wanted until `deadline`.
    pub(super) fn is_at(&mut self, place: usize, work: AtWork, deadline: Option<Instant>) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat {
                work: Some(work),
                deadline,
            };
        }
    }

    /// Its thread begins with a part of another one's job.
    pub(super) fn helps(&mut self, place: usize, deadline: Option<Instant>) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat {
                work: None,
                deadline,
            };
        }
    }

    /// Its thread has nothing to do.
    pub(super) fn is_idle(&mut self, place: usize) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat::default();
        }
    }

    /// When nobody waits any longer for what a thread is at.
    pub(super) fn deadline(&self, place: usize) -> Option<Instant> {
        self.0.get(place)?.as_ref()?.deadline
    }

    /// All threads, in the order of their places.
    pub(super) fn all(&self) -> Vec<Option<AtWork>> {
        let seats = self.0.iter().flatten();
        seats.map(|seat| seat.work.clone()).collect()
    }

    /// Which of them are stuck.
    pub(super) fn stuck(&self, now: Instant) -> StuckSeats {
        let late = |seat: &Seat| {
            let late = now.checked_duration_since(seat.deadline?)?;
            late.checked_sub(GRACE)
        };
        let mut stuck = StuckSeats::default();
        let mut since: Option<Duration> = None;
        for seat in self.0.iter().flatten() {
            stuck.of += 1;
            if let Some(late) = late(seat) {
                stuck.count += 1;
                since = Some(since.map_or(late, |since| since.min(late)));
            }
        }
        stuck.since = since.unwrap_or_default();
        stuck
    }
}

/// How many worker threads are stuck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StuckSeats {
    pub(super) count: usize,
    pub(super) of: usize,
    /// For how long the one has been that is stuck for the shortest time.
    since: Duration,
}

impl StuckSeats {
    /// All of them are.
    pub(super) fn all(&self) -> Option<Stuck> {
        (self.count > 0 && self.count == self.of).then_some(Stuck {
            threads: Threads::Workers,
            count: self.count,
            since: self.since,
        })
    }
}

/// How long after its deadline a job may take to notice it: longer than any piece of work of sound images that asks nothing
/// meanwhile, such as the encoding of a large AVIF.
pub(super) const GRACE: Duration = Duration::from_secs(10);

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
        seats.is_at(1, work(), None);
        seats.leave(0);
        let busy: Vec<bool> = seats.all().iter().map(Option::is_some).collect();
        assert_eq!(busy, [true, false]);
        assert_eq!(seats.take(), 0);
        seats.is_idle(1);
        assert!(seats.all().iter().all(Option::is_none));
        assert_eq!(seats.all().len(), 3);
    }

    #[test]
    fn a_thread_is_stuck_when_its_work_was_to_be_done_long_ago_and_only_all_of_them_are_the_end() {
        let mut seats = Seats::default();
        let (one, two) = (seats.take(), seats.take());
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let deadline = began + 30 * second;
        let stuck = |seats: &Seats, after: Duration| seats.stuck(began + after);
        seats.is_at(one, work(), Some(deadline));
        let late = 30 * second + GRACE;
        assert_eq!(stuck(&seats, late - second).count, 0, "busy, and then late");
        assert_eq!(stuck(&seats, late + second).count, 1);
        assert_eq!(stuck(&seats, late + second).all(), None, "the other works");

        seats.helps(two, Some(deadline + 2 * second));
        let all = stuck(&seats, late + 9 * second).all();
        assert_eq!(all.map(|all| all.since), Some(7 * second));
        seats.is_idle(one);
        assert_eq!(stuck(&seats, late + 9 * second).all(), None);
    }
}
