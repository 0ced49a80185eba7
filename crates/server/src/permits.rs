//! Permits whose number a reload may change: to read a number of files, to hold a number of bytes.
//!
//! If the number is reduced, permits that are held stay valid: the surplus vanishes as permits are returned.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// A resizable number of permits. Clones share the same permits.
#[derive(Clone, Debug)]
pub(crate) struct Permits(Arc<Shared>);

/// A number of permits that are held until this is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    some: OwnedSemaphorePermit,
    from: Permits,
}

#[derive(Debug)]
struct Shared {
    semaphore: Arc<Semaphore>,
    total: watch::Sender<u32>,
    /// Number of surplus permits that are still held after a reduction.
    owed: Mutex<u32>,
}

impl Permits {
    pub(crate) fn new(total: u32) -> Self {
        let total = total.min(most());
        Self(Arc::new(Shared {
            semaphore: Arc::new(Semaphore::new(total as usize)),
            total: watch::Sender::new(total),
            owed: Mutex::new(0),
        }))
    }

    /// Creates one permit per slot. Numbers beyond 32 bits are cut.
    pub(crate) fn of(slots: usize) -> Self {
        Self::new(in_range(slots))
    }

    /// Returns the intended number of permits.
    pub(crate) fn total(&self) -> u32 {
        *self.0.total.borrow()
    }

    /// Returns the number of permits that are free.
    pub(crate) fn available(&self) -> usize {
        self.0.semaphore.available_permits()
    }

    /// Waits for `wanted` permits, or for all of them if there are fewer.
    pub(crate) async fn acquire(&self, wanted: u32) -> Permit {
        let mut total = self.0.total.subscribe();
        loop {
            let wanted = wanted.min(*total.borrow_and_update());
            let some = self.0.semaphore.clone().acquire_many_owned(wanted);
            tokio::select! {
                biased;
                Ok(some) = some => return self.permit(some),
                // Who waits for all of them would wait for ever for more than there are now.
                Ok(()) = total.changed() => self.collect(),
            }
        }
    }

    /// Takes `wanted` permits, or all of them if there are fewer. Returns `None` if too few are free.
    pub(crate) fn try_acquire(&self, wanted: u32) -> Option<Permit> {
        let wanted = wanted.min(self.total());
        let some = self.0.semaphore.clone().try_acquire_many_owned(wanted);
        Some(self.permit(some.ok()?))
    }

    /// Changes the number of permits to `total`.
    pub(crate) fn resize(&self, total: u32) {
        let total = total.min(most());
        let before = self.0.total.send_replace(total);
        let mut owed = self.0.owed.lock().unwrap_or_else(PoisonError::into_inner);
        let more = total.saturating_sub(before);
        let kept = more.min(*owed);
        *owed = *owed - kept + before.saturating_sub(total);
        self.0.semaphore.add_permits((more - kept) as usize);
        drop(owed);
        self.collect();
    }

    /// Changes the number of permits to one per slot.
    pub(crate) fn resize_to(&self, slots: usize) {
        self.resize(in_range(slots));
    }

    /// Removes surplus permits from those that are free.
    fn collect(&self) {
        let mut owed = self.0.owed.lock().unwrap_or_else(PoisonError::into_inner);
        *owed -= self.0.semaphore.forget_permits(*owed as usize) as u32;
    }

    fn permit(&self, some: OwnedSemaphorePermit) -> Permit {
        Permit {
            some,
            from: self.clone(),
        }
    }
}

/// Returns the maximum number of permits: that of a semaphore, or of 32 bits if that is less.
fn most() -> u32 {
    u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX)
}

fn in_range(slots: usize) -> u32 {
    u32::try_from(slots).unwrap_or(u32::MAX)
}

impl Permit {
    /// Returns how many permits are held here.
    pub(crate) fn count(&self) -> usize {
        self.some.num_permits()
    }

    /// Adds the permits of another guard of the same `Permits`.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if let Some(all) = other.some.split(other.count()) {
            self.some.merge(all);
        }
    }

    /// Gives `count` permits back.
    pub(crate) fn give_back(&mut self, count: usize) {
        if let Some(some) = self.some.split(count) {
            drop(self.from.permit(some));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let shared = &self.from.0;
        let mut owed = shared.owed.lock().unwrap_or_else(PoisonError::into_inner);
        // At once, because whoever waits for permits gets those that come back.
        let kept = self.some.num_permits().min(*owed as usize);
        if let Some(kept) = self.some.split(kept) {
            *owed -= kept.num_permits() as u32;
            kept.forget();
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
