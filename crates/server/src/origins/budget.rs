//! What one fetch may take: time, and bytes that are held meanwhile.

use std::time::Instant;

use crate::error::Error;
use crate::permits::{Permit, Permits};

/// What one fetch may take.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Nobody waits any longer.
    pub deadline: Instant,
    /// The account in which the fetched bytes are counted while they are held.
    pub held: SourceMemory,
}

/// A ceiling on the bytes of sources that are held at a time, by all requests together.
#[derive(Clone, Debug)]
pub struct SourceMemory(Permits);

/// The right to hold so many bytes.
#[derive(Debug)]
pub struct Reservation(Permit);

impl SourceMemory {
    /// Room for this many bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self(Permits::new(kibibytes(bytes)))
    }

    /// Room for this many bytes from now on; whoever holds some keeps them.
    pub fn resize(&self, bytes: u64) {
        self.0.resize(kibibytes(bytes));
    }

    /// Waits until so many bytes may be held; whoever wants more than there is takes all.
    pub async fn take(&self, bytes: u64) -> Reservation {
        Reservation(self.0.acquire(kibibytes(bytes)).await)
    }

    /// Takes so many bytes if there is room for them right now.
    ///
    /// # Errors
    /// `Busy`, if there is not.
    pub fn try_take(&self, bytes: u64) -> Result<Reservation, Error> {
        let permit = self.0.try_acquire(kibibytes(bytes));
        permit.map(Reservation).ok_or(Error::Busy)
    }
}

impl Reservation {
    /// How many bytes may be held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.0.count() as u64) << 10
    }

    /// Takes another one's room of the same ceiling in.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Gives back what is over `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let kept = kibibytes(bytes) as usize;
        self.0.give_back(self.0.count().saturating_sub(kept));
    }
}

/// Permits are counted in 32 bits: whole KiB reach far enough.
fn kibibytes(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
