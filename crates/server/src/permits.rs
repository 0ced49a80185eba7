//! Permits for limited resources, such as files that are read at a time, or bytes in memory. A reload may change their
//! number.
//!
//! If the number is reduced, permits that are held stay valid: the surplus vanishes as permits are returned.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// A resizable number of permits. Clones share the same permits.
#[derive(Clone, Debug)]
pub(crate) struct Permits(Arc<Shared>);

/// A guard that holds a number of permits until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    permits: OwnedSemaphorePermit,
    from: Permits,
}

#[derive(Debug)]
struct Shared {
    semaphore: Arc<Semaphore>,
    total: watch::Sender<u32>,
    /// Number of surplus permits that are still held after a reduction.
    surplus: Mutex<u32>,
}

impl Permits {
    pub(crate) fn new(total: u32) -> Self {
        let total = total.min(max_permits());
        Self(Arc::new(Shared {
            semaphore: Arc::new(Semaphore::new(total as usize)),
            total: watch::Sender::new(total),
            surplus: Mutex::new(0),
        }))
    }

    /// Creates one permit per slot, at most `u32::MAX`.
    pub(crate) fn of(slots: usize) -> Self {
        Self::new(in_range(slots))
    }

    /// Returns the total number of permits. After a reduction, more may still be held.
    pub(crate) fn total(&self) -> u32 {
        *self.0.total.borrow()
    }

    /// Returns the number of permits that are free.
    pub(crate) fn available(&self) -> usize {
        self.0.semaphore.available_permits()
    }

    /// Waits for `count` permits, or for all permits if there are fewer.
    pub(crate) async fn acquire(&self, count: u32) -> Permit {
        let mut total = self.0.total.subscribe();
        loop {
            let count = count.min(*total.borrow_and_update());
            let permits = self.0.semaphore.clone().acquire_many_owned(count);
            tokio::select! {
                biased;
                Ok(permits) = permits => return self.permit(permits),
                // Start again: a task that waits for more permits than there are now would wait for ever.
                Ok(()) = total.changed() => self.collect(),
            }
        }
    }

    /// Takes `count` permits, or all permits if there are fewer. Returns `None` if too few are free.
    pub(crate) fn try_acquire(&self, count: u32) -> Option<Permit> {
        let count = count.min(self.total());
        let permits = self.0.semaphore.clone().try_acquire_many_owned(count);
        Some(self.permit(permits.ok()?))
    }

    /// Changes the number of permits to `total`.
    pub(crate) fn resize(&self, total: u32) {
        let total = total.min(max_permits());
        let before = self.0.total.send_replace(total);
        let mut surplus = self
            .0
            .surplus
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let growth = total.saturating_sub(before);
        let cancelled = growth.min(*surplus);
        *surplus = *surplus - cancelled + before.saturating_sub(total);
        self.0.semaphore.add_permits((growth - cancelled) as usize);
        drop(surplus);
        self.collect();
    }

    /// Changes the number of permits to one per slot.
    pub(crate) fn resize_to(&self, slots: usize) {
        self.resize(in_range(slots));
    }

    /// Removes surplus permits from those that are free.
    fn collect(&self) {
        let mut surplus = self
            .0
            .surplus
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *surplus -= self.0.semaphore.forget_permits(*surplus as usize) as u32;
    }

    fn permit(&self, permits: OwnedSemaphorePermit) -> Permit {
        Permit {
            permits,
            from: self.clone(),
        }
    }
}

/// Returns the maximum number of permits: that of tokio's semaphore, or `u32::MAX` if that is less.
fn max_permits() -> u32 {
    u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX)
}

fn in_range(slots: usize) -> u32 {
    u32::try_from(slots).unwrap_or(u32::MAX)
}

impl Permit {
    /// Returns how many permits this guard holds.
    pub(crate) fn count(&self) -> usize {
        self.permits.num_permits()
    }

    /// Adds the permits of another guard of the same `Permits`.
    pub(crate) fn merge(&mut self, mut guard: Self) {
        if let Some(permits) = guard.permits.split(guard.count()) {
            self.permits.merge(permits);
        }
    }

    /// Gives `count` permits back.
    pub(crate) fn give_back(&mut self, count: usize) {
        if let Some(permits) = self.permits.split(count) {
            drop(self.from.permit(permits));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let shared = &self.from.0;
        let mut surplus = shared
            .surplus
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Remove surplus permits before they are returned, because a waiting task would get them at once.
        let excess = self.permits.num_permits().min(*surplus as usize);
        if let Some(excess) = self.permits.split(excess) {
            *surplus -= excess.num_permits() as u32;
            excess.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Polls `acquire` once and returns its permits if they are free.
    fn at_once(permits: &Permits, wanted: u32) -> Option<Permit> {
        let permit = pin!(permits.acquire(wanted));
        match permit.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[test]
    fn more_permits_are_there_at_once() {
        let permits = Permits::new(1);
        let _one = at_once(&permits, 1).unwrap();
        assert!(at_once(&permits, 1).is_none());
        permits.resize(3);
        let _two = at_once(&permits, 2).unwrap();
        assert!(permits.try_acquire(1).is_none());
    }

    #[test]
    fn fewer_permits_leave_those_that_are_taken_and_never_come_back() {
        let permits = Permits::new(4);
        let mut all: Vec<_> = (0..4).map(|_| at_once(&permits, 1).unwrap()).collect();
        permits.resize(2);
        for left in [3, 2] {
            all.pop();
            assert_eq!((all.len(), permits.available()), (left, 0));
        }
        all.pop();
        assert_eq!(permits.available(), 1);
        all.clear();
        assert_eq!((permits.available(), permits.total()), (2, 2));
    }

    #[test]
    fn fewer_and_more_again_is_as_if_nothing_had_been() {
        let permits = Permits::new(4);
        let taken = at_once(&permits, 3).unwrap();
        permits.resize(1);
        permits.resize(5);
        assert_eq!(permits.available(), 2);
        drop(taken);
        assert_eq!(permits.available(), 5);
    }

    #[tokio::test]
    async fn whoever_waits_for_more_than_there_are_now_gets_all_there_are() {
        let permits = Permits::new(4);
        let one = permits.acquire(1).await;
        let waiting = tokio::spawn({
            let permits = permits.clone();
            async move { permits.acquire(4).await.count() }
        });
        tokio::task::yield_now().await;
        permits.resize(2);
        drop(one);
        assert_eq!(waiting.await.unwrap(), 2);
        assert_eq!(permits.available(), 2);
    }

    #[test]
    fn permits_are_merged_and_given_back_in_parts() {
        let permits = Permits::new(6);
        let mut some = permits.try_acquire(2).unwrap();
        some.merge(permits.try_acquire(3).unwrap());
        assert_eq!((some.count(), permits.available()), (5, 1));
        permits.resize(4);
        some.give_back(3);
        assert_eq!((some.count(), permits.available()), (2, 2));
        drop(some);
        assert_eq!(permits.available(), 4);
    }
}
