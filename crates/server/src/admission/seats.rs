//! What each worker thread is working on and its deadline, for monitoring. It costs one counted reference per job.
//!
//! A thread does one job at a time and cannot be interrupted from outside. Jobs check themselves whether they are still
//! wanted, usually once per band of rows. If a thread is still at a job whose deadline passed more than `GRACE` ago,
//! the job has neither finished nor checked since: the thread is stuck. A thread with a long job is not stuck, even if
//! it is a little late.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::Deadline;
use andon_pixels::Plan;

use super::work::Kind;
use crate::error::{Stuck, Threads};

thread_local! {
    /// The place of this thread in [`Seats`]; `None` on threads that are no worker threads.
    pub(super) static SEAT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The existing worker threads. A thread keeps its place from its start to its end.
#[derive(Debug, Default)]
pub(super) struct Seats(Vec<Option<Seat>>);

/// The place of one worker thread.
#[derive(Debug, Default)]
struct Seat {
    /// The thread's job; `None` while it is idle or runs a part of another thread's job.
    work: Option<AtWork>,
    /// When each result of the thread's current work is no longer wanted; none while it is idle.
    deadlines: Arc<[Deadline]>,
}

/// A job that a worker thread is running.
#[derive(Clone, Debug)]
pub(crate) struct AtWork {
    /// The kind of work, usually named by the formats of source and result.
    pub(crate) kind: Kind,
    /// The plan of the result; `None` if pixels are only read, without making an image.
    pub(crate) plan: Option<Arc<Plan>>,
    /// Number of further results that are made together with this one.
    pub(crate) along: usize,
    pub(crate) since: Instant,
}

impl Seats {
    /// Assigns a place to a new thread.
    pub(super) fn take(&mut self) -> usize {
        let free = self.0.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[place] = Some(Seat::default());
        place
    }

    /// Frees a place because its thread has ended.
    pub(super) fn leave(&mut self, place: usize) {
        if let Some(seat) = self.0.get_mut(place) {
            *seat = None;
        }
    }

    /// Notes that the thread at `place` begins jobs that are wanted until these deadlines.
    pub(super) fn is_at(&mut self, place: usize, work: AtWork, deadlines: Arc<[Deadline]>) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat {
                work: Some(work),
                deadlines,
            };
        }
    }

    /// Notes that the thread at `place` begins a part of another thread's job.
    pub(super) fn helps(&mut self, place: usize, deadlines: Arc<[Deadline]>) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat {
                work: None,
                deadlines,
            };
        }
    }

    /// Notes that the thread at `place` has nothing to do.
    pub(super) fn is_idle(&mut self, place: usize) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat::default();
        }
    }

    /// Returns when each result of the current work of the thread at `place` is no longer wanted.
    pub(super) fn deadlines(&self, place: usize) -> Option<Arc<[Deadline]>> {
        Some(self.0.get(place)?.as_ref()?.deadlines.clone())
    }

    /// Returns the current job of each thread, in the order of their places.
    pub(super) fn all(&self) -> Vec<Option<AtWork>> {
        let seats = self.0.iter().flatten();
        seats.map(|seat| seat.work.clone()).collect()
    }

    /// Counts the threads that are stuck at `now`.
    pub(super) fn stuck(&self, now: Instant) -> StuckSeats {
        let late = |seat: &Seat| {
            let deadline = seat.deadlines.iter().map(Deadline::at).max()?;
            let late = now.checked_duration_since(deadline)?;
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
    /// How long all of the stuck threads have been stuck, that is, the one that got stuck last.
    since: Duration,
}

impl StuckSeats {
    /// Returns `Some` if there are threads and all of them are stuck.
    pub(super) fn all(&self) -> Option<Stuck> {
        (self.count > 0 && self.count == self.of).then_some(Stuck {
            threads: Threads::Workers,
            count: self.count,
            since: self.since,
        })
    }
}

/// How long after its deadline a job may take to notice it. This is longer than any step on a sound image that does not
/// check in between, such as encoding a large AVIF.
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
        seats.is_at(1, work(), Arc::default());
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
        seats.is_at(one, work(), Arc::from([Deadline::from(deadline)]));
        let late = 30 * second + GRACE;
        assert_eq!(stuck(&seats, late - second).count, 0, "busy, and then late");
        assert_eq!(stuck(&seats, late + second).count, 1);
        assert_eq!(stuck(&seats, late + second).all(), None, "the other works");

        seats.helps(
            two,
            Arc::from([deadline, deadline + 2 * second].map(Deadline::from)),
        );
        let all = stuck(&seats, late + 9 * second).all();
        assert_eq!(all.map(|all| all.since), Some(7 * second));
        seats.is_idle(one);
        assert_eq!(stuck(&seats, late + 9 * second).all(), None);
    }
}
