//! What one fetch may take: time, and bytes that are held meanwhile.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;

/// What one fetch may take.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Nobody waits any longer.
    pub deadline: Instant,
    /// Where its bytes are counted while they are held.
    pub held: Held,
}

/// A ceiling on the bytes of sources that are held at a time, by all requests together.
#[derive(Clone, Debug)]
pub struct Held {
    room: Arc<Semaphore>,
    most: u32,
}

/// The right to hold so many bytes.
#[derive(Debug)]
pub struct Hold(OwnedSemaphorePermit);

impl Held {
    /// Room for this many bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let most = kibibytes(bytes);
        Self {
            room: Arc::new(Semaphore::new(most as usize)),
            most,
        }
    }

    /// Waits until so many bytes may be held; whoever wants more than there is takes all.
    ///
    /// # Errors
    /// `Busy`, if there will never be room again.
    pub async fn take(&self, bytes: u64) -> Result<Hold, Error> {
        let share = kibibytes(bytes).min(self.most);
        let permit = self.room.clone().acquire_many_owned(share).await;
        permit.map(Hold).map_err(|_| Error::Busy)
    }

    /// Takes so many bytes if there is room for them right now.
    ///
    /// # Errors
    /// `Busy`, if there is not.
    pub fn try_take(&self, bytes: u64) -> Result<Hold, Error> {
        let share = kibibytes(bytes).min(self.most);
        let permit = self.room.clone().try_acquire_many_owned(share);
        permit.map(Hold).map_err(|_| Error::Busy)
    }
}

impl Hold {
    /// How many bytes may be held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.0.num_permits() as u64) << 10
    }

    /// Takes another one's room of the same ceiling in.
    pub fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Gives back what is over `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let over = self
            .0
            .num_permits()
            .saturating_sub(kibibytes(bytes) as usize);
        drop(self.0.split(over));
    }
}

/// Semaphores count in 32 bits: whole KiB reach far enough.
fn kibibytes(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(1024))
        .unwrap_or(u32::MAX)
        .min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn no_more_is_held_than_the_ceiling() {
        let held = Held::new(10 << 10);
        let first = held.take(8 << 10).await.unwrap();
        let second = tokio::time::timeout(Duration::ZERO, held.take(8 << 10)).await;
        assert!(second.is_err(), "8 KiB and 8 KiB of 10");
        drop(first);
        held.take(8 << 10).await.unwrap();
    }

    #[tokio::test]
    async fn what_turned_out_not_to_be_needed_is_there_for_others() {
        let held = Held::new(10 << 10);
        let mut first = held.take(u64::MAX).await.unwrap();
        first.shrink_to(2 << 10);
        held.take(8 << 10).await.unwrap();
    }
}
