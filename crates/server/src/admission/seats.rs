//! The current work of each worker thread and its deadlines, for monitoring. For each job, this costs cloning a few
//! `Arc`s.
//!
//! A thread runs one job at a time and cannot be interrupted from outside. Jobs check by themselves whether they are
//! cancelled, usually once per band of rows. If a thread is still running a job whose deadline passed more than `GRACE`
//! ago, the job has neither finished nor checked since: the thread is stuck. A thread with a long job that is only a
//! little late is not stuck.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::Deadline;
use andon_pixels::Plan;

use super::work::Kind;
use crate::error::{Stuck, Threads};

thread_local! {
    /// Index of this thread in [`Seats`]; `None` on threads that are not worker threads.
    pub(super) static SEAT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The existing worker threads by their indexes; `None` for a free index. A thread keeps its index from its start to
/// its end.
#[derive(Debug, Default)]
pub(super) struct Seats(Vec<Option<Seat>>);

/// The current work of one worker thread.
#[derive(Debug, Default)]
struct Seat {
    /// The thread's job; `None` while it is idle or runs a part of another thread's job.
    work: Option<AtWork>,
    /// The deadlines of all results of the thread's current work; none while the thread is idle.
    deadlines: Arc<[Deadline]>,
}

/// A job that a worker thread is running.
#[derive(Clone, Debug)]
pub(crate) struct AtWork {
    /// The kind of work, usually named by the formats of source and result.
    pub(crate) kind: Kind,
    /// The plan of the result; `None` if pixels are only measured, without making an image.
    pub(crate) plan: Option<Arc<Plan>>,
    /// Number of further results that are made together with this one.
    pub(crate) along: usize,
    pub(crate) since: Instant,
}

impl Seats {
    /// Assigns a free index to a new thread, and returns it.
    pub(super) fn take(&mut self) -> usize {
        let free = self.0.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[place] = Some(Seat::default());
        place
    }

    /// Frees the index `place`, because its thread has ended.
    pub(super) fn leave(&mut self, place: usize) {
        if let Some(seat) = self.0.get_mut(place) {
            *seat = None;
        }
    }

    /// Records that the thread with the index `place` starts jobs with these deadlines.
    pub(super) fn set_work(&mut self, place: usize, work: AtWork, deadlines: Arc<[Deadline]>) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat {
                work: Some(work),
                deadlines,
            };
        }
    }

    /// Records that the thread with the index `place` starts a part of another thread's job.
    pub(super) fn set_helping(&mut self, place: usize, deadlines: Arc<[Deadline]>) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat {
                work: None,
                deadlines,
            };
        }
    }

    /// Records that the thread with the index `place` has become idle.
    pub(super) fn set_idle(&mut self, place: usize) {
        if let Some(Some(seat)) = self.0.get_mut(place) {
            *seat = Seat::default();
        }
    }

    /// Returns the deadlines of all results of the current work of the thread with the index `place`; `None` if there
    /// is no such thread.
    pub(super) fn deadlines(&self, place: usize) -> Option<Arc<[Deadline]>> {
        Some(self.0.get(place)?.as_ref()?.deadlines.clone())
    }

    /// Returns the current job of each existing thread, in the order of their indexes; `None` for a thread that is idle
    /// or runs a part of another thread's job.
    pub(super) fn all(&self) -> Vec<Option<AtWork>> {
        let seats = self.0.iter().flatten();
        seats.map(|seat| seat.work.clone()).collect()
    }

    /// Counts the threads that are stuck at `now`.
    pub(super) fn stuck(&self, now: Instant) -> StuckSeats {
        let lateness = |seat: &Seat| {
            let deadline = seat.deadlines.iter().map(Deadline::at).max()?;
            let lateness = now.checked_duration_since(deadline)?;
            lateness.checked_sub(GRACE)
        };
        let mut stuck = StuckSeats::default();
        let mut since: Option<Duration> = None;
        for seat in self.0.iter().flatten() {
            stuck.total += 1;
            if let Some(lateness) = lateness(seat) {
                stuck.count += 1;
                since = Some(since.map_or(lateness, |since| since.min(lateness)));
            }
        }
        stuck.since = since.unwrap_or_default();
        stuck
    }
}

/// The number of worker threads that are stuck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StuckSeats {
    pub(super) count: usize,
    pub(super) total: usize,
    /// How long all of the stuck threads have been stuck, which is the time since the last one got stuck.
    since: Duration,
}

impl StuckSeats {
    /// Returns details if there are threads and all of them are stuck.
    pub(super) fn all(&self) -> Option<Stuck> {
        (self.count > 0 && self.count == self.total).then_some(Stuck {
            threads: Threads::Workers,
            count: self.count,
            since: self.since,
        })
    }
}

/// How long after its deadline a job may take to notice it. This is longer than any single step on a sound image that
/// does not check the deadline, such as encoding a large AVIF.
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
        seats.set_work(1, work(), Arc::default());
        seats.leave(0);
        let busy: Vec<bool> = seats.all().iter().map(Option::is_some).collect();
        assert_eq!(busy, [true, false]);
        assert_eq!(seats.take(), 0);
        seats.set_idle(1);
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
        seats.set_work(one, work(), Arc::from([Deadline::from(deadline)]));
        let late = 30 * second + GRACE;
        assert_eq!(stuck(&seats, late - second).count, 0, "busy, and then late");
        assert_eq!(stuck(&seats, late + second).count, 1);
        assert_eq!(stuck(&seats, late + second).all(), None, "the other works");

        seats.set_helping(
            two,
            Arc::from([deadline, deadline + 2 * second].map(Deadline::from)),
        );
        let all = stuck(&seats, late + 9 * second).all();
        assert_eq!(all.map(|all| all.since), Some(7 * second));
        seats.set_idle(one);
        assert_eq!(stuck(&seats, late + 9 * second).all(), None);
    }
}
