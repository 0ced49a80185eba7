//! Limits of one fetch: its time, and the memory for the fetched bytes.

use std::time::Duration;

use andon_cache::Deadline;

use crate::error::Error;
use crate::permits::{Permit, Permits};

/// Limits of one fetch: its time, and the memory for the fetched bytes.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The latest time at which the fetch is given up.
    pub deadline: Deadline,
    /// The memory limit to which the fetched bytes count.
    pub held: SourceMemory,
}

impl Budget {
    /// Waits until the fetch has to be given up. That is a little before the deadline, so that the fetch can report the
    /// cause. If both ended at the same time, the caller might time out before the report arrives.
    pub(crate) async fn is_spent(&self) {
        self.deadline.approaches(TIME_TO_REPORT).await;
    }
}

/// How long before the deadline a fetch ends: several ticks of the runtime's timers, which have a resolution of a
/// millisecond.
const TIME_TO_REPORT: Duration = Duration::from_millis(20);

/// Limits how many bytes of sources all requests together have in memory at a time.
#[derive(Clone, Debug)]
pub struct SourceMemory(Permits);

/// A number of reserved bytes of memory, released on drop.
#[derive(Debug)]
pub struct Reservation(Permit);

impl SourceMemory {
    /// Creates a limit of this many bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self(Permits::new(kibibytes(bytes)))
    }

    /// Changes the limit to this many bytes. Existing reservations stay valid.
    pub fn resize(&self, bytes: u64) {
        self.0.resize(kibibytes(bytes));
    }

    /// Waits until `bytes` are available, and reserves them. If `bytes` exceeds the limit, everything up to the limit
    /// is reserved.
    pub async fn take(&self, bytes: u64) -> Reservation {
        Reservation(self.0.acquire(kibibytes(bytes)).await)
    }

    /// Reserves `bytes` if they are available right now.
    ///
    /// # Errors
    /// `NoRoom` if they are not.
    pub fn try_take(&self, bytes: u64) -> Result<Reservation, Error> {
        let permit = self.0.try_acquire(kibibytes(bytes));
        permit.map(Reservation).ok_or(Error::NoRoom)
    }
}

impl Reservation {
    /// Returns the number of reserved bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.0.count() as u64) << 10
    }

    /// Takes over the bytes of another reservation from the same [`SourceMemory`].
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Releases the bytes in excess of `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let rest = kibibytes(bytes) as usize;
        self.0.give_back(self.0.count().saturating_sub(rest));
    }
}

/// Converts bytes to KiB, rounded up. Permits are counted in 32 bits, which is enough in KiB.
fn kibibytes(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_more_is_held_than_the_ceiling() {
        let held = SourceMemory::new(10 << 10);
        let first = held.take(8 << 10).await;
        let second = tokio::time::timeout(Duration::ZERO, held.take(8 << 10)).await;
        assert!(second.is_err(), "8 KiB and 8 KiB of 10");
        drop(first);
        held.take(8 << 10).await;
    }

    #[tokio::test]
    async fn what_turned_out_not_to_be_needed_is_there_for_others() {
        let held = SourceMemory::new(10 << 10);
        let mut first = held.take(u64::MAX).await;
        first.shrink_to(2 << 10);
        held.take(8 << 10).await;
    }
}
