//! Memory for replies on HTTP/2 connections. Their clients can request a hundred at a time and keep all flow-control
//! windows closed, so all replies together are limited to a share of the memory budget.
//!
//! If there is no room for the next reply, the connection whose client has taken nothing of its replies for the longest
//! time is ended. If all clients take theirs, the reply waits for a moment, and then its request is refused.

use std::time::Duration;

use tokio::time::timeout;

use super::connections::ConnectionSlot;
use super::timeout_stream::Held;
use crate::error::Error;
use crate::origins::{Reservation, SourceMemory};

/// Memory for all replies together. Clones share the same memory.
#[derive(Clone, Debug)]
pub(crate) struct ReplyMemory(SourceMemory);

/// The memory that is reserved for one reply.
#[derive(Debug)]
pub(crate) struct ReplyHold {
    _room: Reservation,
    _held: Held,
}

impl ReplyMemory {
    pub(crate) fn new(bytes: u64) -> Self {
        Self(SourceMemory::new(bytes))
    }

    /// Changes the limit to `bytes`.
    pub(crate) fn resize(&self, bytes: u64) {
        self.0.resize(bytes);
    }

    /// Reserves memory for a reply of this many bytes on this connection. Returns `None` for a reply that is too short
    /// to be counted.
    ///
    /// # Errors
    /// [`Error::NoRoom`], if the memory does not become free in time.
    pub(crate) async fn hold(
        &self,
        bytes: u64,
        connection: &ConnectionSlot,
    ) -> Result<Option<ReplyHold>, Error> {
        if bytes <= NOTHING {
            return Ok(None);
        }
        let mut room = self.0.try_take(bytes).ok();
        while room.is_none() {
            let made_room = connection.end_stalled(STALLED);
            match timeout(MOST_WAIT, self.0.take(bytes)).await {
                Ok(reservation) => room = Some(reservation),
                // Try again: the memory that the ended connection released was not enough.
                Err(_) if made_room => {}
                Err(_) => break,
            }
        }
        let room = room.ok_or(Error::NoRoom)?;
        Ok(Some(ReplyHold {
            _room: room,
            _held: connection.activity.hold(),
        }))
    }
}

/// Maximum length in bytes of a reply that is not counted, such as an error message or a redirect.
const NOTHING: u64 = 1024;

/// Time without progress after which the connection of a client may be ended to make room for other replies.
const STALLED: Duration = Duration::from_secs(4);

/// How long a reply waits for room.
const MOST_WAIT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::http::{Ceilings, Connections};
    use crate::net::Peer;

    fn enter(connections: &Arc<Connections>) -> ConnectionSlot {
        let ceilings = Ceilings {
            connections: 10,
            per_client: 0,
        };
        connections.enter(Some(Peer::Unix), &ceilings).slot.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_makes_room_and_whoever_takes_something_does_not() {
        let memory = ReplyMemory::new(10 << 10);
        let connections = Arc::<Connections>::default();
        let (stalled, other) = (enter(&connections), enter(&connections));
        let hold = memory.hold(8 << 10, &stalled).await.unwrap();
        let refused = memory.hold(8 << 10, &other).await;
        assert!(matches!(refused, Err(Error::NoRoom)), "it may just be slow");
        assert!(memory.hold(NOTHING, &other).await.unwrap().is_none());

        tokio::time::advance(STALLED).await;
        let ending = async {
            stalled.activity.eviction().await;
            drop(hold);
        };
        let (held, ()) = tokio::join!(memory.hold(8 << 10, &other), ending);
        assert!(held.unwrap().is_some());
        assert_eq!(other.activity.stall_time(), None);
    }
}
