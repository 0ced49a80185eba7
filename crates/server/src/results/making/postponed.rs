//! Results in formats that take too long to write, of those that a client accepts: it gets the next best, and they are
//! made once nobody waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_pixels::Error as PixelError;
use hyper::HeaderMap;
use tokio::sync::{Mutex, Semaphore};

use super::{Allowance, Maker};
use crate::admission::Gauges;
use crate::error::Error;
use crate::results::variant::RequestVariant;

/// What waits to be made, and what is being made of it: one after the other.
pub(crate) struct Behind {
    room: Arc<Semaphore>,
    turn: Mutex<()>,
}

impl Default for Behind {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(MOST)),
            turn: Mutex::default(),
        }
    }
}

/// Results that wait; of more the client asks again.
const MOST: usize = 64;

impl Maker {
    /// How long writing may take for a request that another format will do for as well: less while others wait.
    pub(super) fn patience(&self, known: &RequestVariant) -> Option<Duration> {
        if !known.asked.is_open {
            return None;
        }
        let waiting = self.admission.gauges().waiting > 0;
        Some(self.patience / if waiting { 8 } else { 1 })
    }

    /// What becomes of a result that was not made at once: `Postponed`, if it is its format's fault.
    pub(super) async fn put_off(
        self: &Arc<Self>,
        known: &Arc<RequestVariant>,
        error: Error,
    ) -> Error {
        let resolved = self.resolve_known(known).await;
        let too_large = resolved.filter(|resolved| match error.root() {
            // Another format may be written in the time that there is.
            Error::Pixels(PixelError::Limit { name: "cpu", .. }) => true,
            Error::Pixels(PixelError::Limit { name, .. }) => {
                let own = name.strip_prefix(resolved.format.as_str());
                own.is_some_and(|rest| rest.starts_with('_'))
            }
            _ => false,
        });
        if let Some(resolved) = too_large {
            let pause = self.results.config.negative.0;
            self.results.postponed.remember(resolved.key, (), pause);
            return Error::Postponed;
        }
        if matches!(error.root(), Error::Postponed) {
            self.make_behind(known).await;
        }
        error
    }

    /// Renders it in the background when the server is idle; after a failure, nothing tries again for a while.
    async fn make_behind(self: &Arc<Self>, known: &Arc<RequestVariant>) {
        let Some(resolved) = self.resolve_known(known).await else {
            return;
        };
        let key = resolved.key;
        let Ok(room) = self.behind.room.clone().try_acquire_owned() else {
            return;
        };
        if !self.results.keeps() || !self.results.postponed.claim(key, (), MOST_WAIT) {
            return;
        }
        let (maker, known) = (self.clone(), known.clone());
        tokio::spawn(async move {
            let _room = room;
            let postponed = &maker.results.postponed;
            let turn = maker.behind.turn.lock().await;
            let is_idle = |gauges: &Gauges| gauges.is_idle().then_some(());
            maker.admission.until(is_idle).await;
            let deadline = Instant::now() + maker.timeout;
            postponed.remember(key, (), maker.timeout);
            let headers = HeaderMap::new();
            let made = maker.obtain_within(Allowance::default(), &known, &headers, deadline);
            let made = tokio::time::timeout_at(deadline.into(), made).await;
            drop(turn);
            match made {
                Ok(Ok(_)) => postponed.forget(&key),
                _ => postponed.remember(key, (), maker.results.config.negative.0),
            }
        });
    }
}

/// Whoever has not had a turn by then is asked for anew.
const MOST_WAIT: Duration = Duration::from_secs(3600);
