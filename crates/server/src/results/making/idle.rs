//! Requests of idle priority, which give way to all others: their results are made only while no other request waits
//! for a worker thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use andon_cache::Freshness;
use tokio::sync::Notify;

use super::Maker;
use crate::admission::Gauges;
use crate::error::Error;
use crate::results::variant::RequestVariant;

/// Counters of requests of idle priority, waiting and in progress.
#[derive(Debug, Default)]
pub(crate) struct Idle(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    waiting: usize,
    active: usize,
}

/// The right to make a result at idle priority. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct IdleTurn {
    idle: Arc<Idle>,
    /// Notified when the turn ends, because another one may then begin.
    load_change: Arc<Notify>,
}

/// Counts a request as waiting for its turn to be processed at idle priority, until this is dropped.
struct Place<'a>(&'a Idle);

impl Maker {
    /// Waits until a worker thread is free and no other request waits for one. After that, the request is processed
    /// like any other: requests that join its computation are not delayed by its priority.
    ///
    /// # Errors
    /// `NotIdle` if that takes longer than [`MOST_WAIT`] or half the time until the deadline, or if [`MOST_WAITING`]
    /// requests wait for their turn already.
    pub(crate) async fn idle_turn(&self, deadline: Instant) -> Result<IdleTurn, Error> {
        let now = Instant::now();
        // The other half of the time is for making the result.
        let until = now + (deadline.saturating_duration_since(now) / 2).min(MOST_WAIT);
        let _place = self.idle.place().ok_or_else(|| self.not_idle())?;
        let load_change = self.admission.load_change();
        let turn = self
            .admission
            .until(|gauges| self.idle.begin(gauges, &load_change));
        let turn = tokio::time::timeout_at(until.into(), turn).await;
        turn.map_err(|_| self.not_idle())
    }

    /// Whether the cache has a current result in memory or on disk.
    pub(crate) async fn has_fresh(self: &Arc<Self>, variant: &RequestVariant) -> bool {
        let Some(resolved) = self.resolve_known(variant).await else {
            return false;
        };
        let Some(hit) = self.results.cache.get(&resolved.key).await else {
            return false;
        };
        if variant.is_remote {
            return hit.freshness == Freshness::Fresh;
        }
        let deadline = Instant::now() + self.timeout;
        let input = self.open(&variant.asked.request, &deadline.into()).await;
        input.is_ok_and(|input| input.validators(&resolved.text).etag == hit.entry.etag)
    }

    fn not_idle(&self) -> Error {
        let wait = self.admission.gauges().predicted_wait.as_secs_f64().ceil();
        Error::NotIdle((wait as u32).clamp(1, LONGEST_RETRY))
    }
}

impl Idle {
    fn place(self: &Arc<Self>) -> Option<Place<'_>> {
        let mut counts = self.counts();
        (counts.waiting < MOST_WAITING).then(|| {
            counts.waiting += 1;
            Place(self)
        })
    }

    /// Begins an idle turn if no request waits and a worker thread is free. One of two or more worker threads is always
    /// left for other requests. `load_change` is notified when the turn ends.
    fn begin(self: &Arc<Self>, gauges: &Gauges, load_change: &Arc<Notify>) -> Option<IdleTurn> {
        let most = gauges.threads.saturating_sub(1).max(1);
        let mut counts = self.counts();
        let is_free = gauges.waiting == 0 && gauges.running.max(counts.active) < most;
        is_free.then(|| {
            counts.active += 1;
            IdleTurn {
                idle: self.clone(),
                load_change: load_change.clone(),
            }
        })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for IdleTurn {
    fn drop(&mut self) {
        self.idle.counts().active -= 1;
        self.load_change.notify_waiters();
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.counts().waiting -= 1;
    }
}

/// Longest time that a request of idle priority waits for its turn, shorter than the usual timeouts of proxies in front.
const MOST_WAIT: Duration = Duration::from_secs(5);

/// Maximum number of requests of idle priority that wait for their turn. Further ones are refused and told to retry
/// later.
const MOST_WAITING: usize = 64;

/// Longest time in seconds after which a refused client is told to retry.
const LONGEST_RETRY: u32 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_work_leaves_a_thread_free_and_begins_while_nobody_waits() {
        let idle = Arc::new(Idle::default());
        let eased = Arc::default();
        let gauges = |threads, running, waiting| Gauges {
            threads,
            running,
            waiting,
            ..Gauges::default()
        };
        assert!(idle.begin(&gauges(4, 0, 1), &eased).is_none());
        assert!(idle.begin(&gauges(4, 3, 0), &eased).is_none());
        let turns: Vec<_> = (0..5)
            .filter_map(|_| idle.begin(&gauges(4, 0, 0), &eased))
            .collect();
        assert_eq!(turns.len(), 3);
        drop(turns);
        // There is no other thread.
        assert!(idle.begin(&gauges(1, 1, 0), &eased).is_none());
        assert!(idle.begin(&gauges(1, 0, 0), &eased).is_some());
    }

    #[test]
    fn only_so_many_wait() {
        let idle = Arc::new(Idle::default());
        let places: Vec<_> = (0..MOST_WAITING).map(|_| idle.place()).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(idle.place().is_none());
        drop(places);
        assert!(idle.place().is_some());
    }
}
