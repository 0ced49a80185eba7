//! Memory of replies on connections of HTTP/2, whose clients can ask for a hundred at a time and open no window for
//! any of them: all together hold no more than their share of the memory budget.
//!
//! Where there is no room for the next reply, the connection ends whose client has taken nothing of its own for
//! longest; if all clients take theirs, the reply waits for a moment, and its request is refused after that.

use std::time::Duration;

use tokio::time::timeout;

use super::connections::ConnectionSlot;
use super::timeout_stream::Held;
use crate::error::Error;
use crate::origins::{Reservation, SourceMemory};

/// The room for all of them. A clone has the same.
#[derive(Clone, Debug)]
pub(crate) struct ReplyMemory(SourceMemory);

/// The memory of one reply.
#[derive(Debug)]
pub(crate) struct ReplyHold {
    _room: Reservation,
    _held: Held,
}

impl ReplyMemory {
    pub(crate) fn new(bytes: u64) -> Self {
        Self(SourceMemory::new(bytes))
    }

    /// Room for so many bytes from now on.
    pub(crate) fn resize(&self, bytes: u64) {
        self.0.resize(bytes);
    }

    /// Room for a reply on this connection; a few bytes are nothing.
    ///
    /// # Errors
    /// `Busy`.
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
                Ok(taken) => room = Some(taken),
                // What it held was not enough.
                Err(_) if made_room => {}
                Err(_) => break,
            }
        }
        let room = room.ok_or(Error::Busy)?;
        Ok(Some(ReplyHold {
            _room: room,
            _held: connection.activity.hold(),
        }))
    }
}

/// An error in words, or a redirect.
const NOTHING: u64 = 1024;

/// A client that takes nothing for so long makes room for others.
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
        connections.enter(Peer::Unix, &ceilings).slot.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_makes_room_and_whoever_takes_something_does_not() {
        let memory = ReplyMemory::new(10 << 10);
        let connections = Arc::<Connections>::default();
        let (stalled, other) = (enter(&connections), enter(&connections));
        let hold = memory.hold(8 << 10, &stalled).await.unwrap();
        let refused = memory.hold(8 << 10, &other).await;
        assert!(matches!(refused, Err(Error::Busy)), "it may just be slow");
        assert!(memory.hold(NOTHING, &other).await.unwrap().is_none());

        tokio::time::advance(STALLED).await;
        let ending = async {
            stalled.activity.evicted().await;
            drop(hold);
        };
        let (held, ()) = tokio::join!(memory.hold(8 << 10, &other), ending);
        assert!(held.unwrap().is_some());
        assert_eq!(other.activity.stalls(), None);
    }
}
