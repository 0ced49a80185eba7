//! Deadlines of requests, and of computations that several requests share.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::locks::Lock;

/// The moment at which a request or a computation is given up. Clones refer to the same deadline.
///
/// The deadline of one caller is fixed. The deadline of a shared computation is the latest one of the callers that have
/// joined it, so that no caller is cut short by another. It never exceeds twice the time that the first caller had, so
/// that callers who keep joining cannot keep a computation running for ever.
#[derive(Clone, Debug)]
pub struct Deadline(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Fixed(Instant),
    Shared(Arc<SharedDeadline>),
}

#[derive(Debug)]
struct SharedDeadline {
    latest: Mutex<Latest>,
    /// The latest moment to which the deadline may move.
    most: Instant,
}

/// Deadlines of all callers that wait for a shared computation.
#[derive(Debug)]
struct Latest {
    /// The latest deadline of the callers whose deadlines are fixed.
    fixed: Instant,
    /// Deadlines of other shared computations that wait for this one. They may move.
    shared: Vec<Deadline>,
}

impl From<Instant> for Deadline {
    fn from(instant: Instant) -> Self {
        Self(Kind::Fixed(instant))
    }
}

impl Deadline {
    /// Creates the deadline of a shared computation, which a caller with the deadline `first` starts now. Until another
    /// caller joins, it is the same moment as `first`. Callers with later deadlines extend it, to at most twice the
    /// time that is left now.
    pub(crate) fn shared(first: &Self) -> Self {
        let (now, until) = (Instant::now(), first.at());
        let latest = Latest {
            fixed: until,
            shared: Vec::new(),
        };
        let deadline = Self(Kind::Shared(Arc::new(SharedDeadline {
            latest: Mutex::new(latest),
            most: until + until.saturating_duration_since(now),
        })));
        deadline.join(first);
        deadline
    }

    /// Moves a shared deadline to the deadline of a further caller, if that is later. Does nothing to a fixed deadline.
    pub(crate) fn join(&self, caller: &Self) {
        let Kind::Shared(state) = &self.0 else {
            return;
        };
        let mut latest = state.latest.locked();
        match &caller.0 {
            Kind::Fixed(until) => latest.fixed = latest.fixed.max(*until),
            Kind::Shared(_) => latest.shared.push(caller.clone()),
        }
    }

    /// Returns the current deadline. That of a shared computation may be extended afterwards when another caller joins.
    pub fn at(&self) -> Instant {
        match &self.0 {
            Kind::Fixed(until) => *until,
            Kind::Shared(state) => {
                let latest = state.latest.locked();
                let shared = latest.shared.iter().map(Self::at);
                shared.fold(latest.fixed, Instant::max).min(state.most)
            }
        }
    }

    /// Returns whether the current deadline has passed.
    pub fn has_passed(&self) -> bool {
        Instant::now() >= self.at()
    }

    /// Waits until only `margin` is left before the deadline, even if the deadline is extended meanwhile. Needs a tokio
    /// runtime with timers.
    pub async fn approaches(&self, margin: Duration) {
        loop {
            let until = self.at();
            let until = until.checked_sub(margin).unwrap_or(until);
            if Instant::now() >= until {
                return;
            }
            tokio::time::sleep_until(until.into()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn fixed(seconds: u32) -> (Instant, Deadline) {
        let until = Instant::now() + seconds * SECOND;
        (until, Deadline::from(until))
    }

    #[test]
    fn a_shared_deadline_is_the_latest_of_those_who_have_joined() {
        let (first, caller) = fixed(60);
        let shared = Deadline::shared(&caller);
        assert_eq!(shared.at(), first);
        let (later, caller) = fixed(90);
        shared.join(&caller);
        assert_eq!(shared.at(), later);
        let (_, earlier) = fixed(30);
        shared.join(&earlier);
        assert_eq!(shared.at(), later);
    }

    #[test]
    fn nobody_moves_it_to_more_than_twice_the_first_ones_time() {
        let (first, caller) = fixed(60);
        let shared = Deadline::shared(&caller);
        for _ in 0..10 {
            shared.join(&fixed(600).1);
        }
        assert!(shared.at() <= first + 60 * SECOND);
        assert!(shared.at() > first + 59 * SECOND);
    }

    #[test]
    fn what_a_shared_computation_waits_for_lasts_as_long_as_that_one() {
        let (_, caller) = fixed(60);
        let outer = Deadline::shared(&caller);
        let inner = Deadline::shared(&outer);
        let (later, caller) = fixed(90);
        outer.join(&caller);
        assert_eq!(inner.at(), later);
    }

    #[tokio::test]
    async fn who_waits_for_a_deadline_waits_until_it_has_stopped_moving() {
        let later = Instant::now() + SECOND / 20;
        let shared = Deadline::shared(&Deadline::from(Instant::now() + SECOND / 25));
        let waiting = shared.approaches(Duration::ZERO);
        shared.join(&Deadline::from(later));
        waiting.await;
        assert!(Instant::now() >= later && shared.has_passed());
    }
}
