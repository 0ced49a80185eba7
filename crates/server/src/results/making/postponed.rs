//! Results in formats that take too long to encode, for clients that accept other formats, too. The client gets the
//! next best format, and the slow one is made when the server is idle.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_pixels::{Bound, BoundOn, Error as PixelError};
use hyper::HeaderMap;
use tokio::sync::{Mutex, Semaphore};

use super::{Allowance, Maker};
use crate::admission::Gauges;
use crate::error::Error;
use crate::results::variant::RequestVariant;

/// The queue of results that are made in the background, one after another.
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

/// Maximum number of results that wait to be made in the background. Further ones are not queued; a later request may
/// queue them.
const MOST: usize = 64;

impl Maker {
    /// Returns the maximum time for encoding if the client accepts several formats; `None` if the format is settled.
    /// The time is shorter while other requests wait.
    pub(super) fn patience(&self, variant: &RequestVariant) -> Option<Duration> {
        if !variant.asked.is_open {
            return None;
        }
        let waiting = self.admission.gauges().waiting > 0;
        Some(self.patience / if waiting { 8 } else { 1 })
    }

    /// Handles the error of a request whose format is open. Returns `Postponed` if another format may succeed,
    /// otherwise `error`. A result that takes too long to encode is queued to be made in the background.
    pub(super) async fn put_off(
        self: &Arc<Self>,
        variant: &Arc<RequestVariant>,
        error: Error,
    ) -> Error {
        let resolved = self.resolve_known(variant).await;
        let too_large = resolved.filter(|resolved| match error.root() {
            // Encoding another format may take less time.
            Error::Pixels(PixelError::Limit {
                bound: Bound::CPU, ..
            }) => true,
            Error::Pixels(PixelError::Limit { bound, .. }) => {
                matches!(bound.on, BoundOn::Format(format) if resolved.format.as_str() == format)
            }
            _ => false,
        });
        if let Some(resolved) = too_large {
            let pause = self.results.config.negative.0;
            self.results.postponed.insert_for(resolved.key, (), pause);
            return Error::Postponed;
        }
        if matches!(error.root(), Error::Postponed) {
            self.make_behind(variant).await;
        }
        error
    }

    /// Makes the result in the background when the server is idle. After a failure, it is not attempted again for a
    /// while.
    async fn make_behind(self: &Arc<Self>, variant: &Arc<RequestVariant>) {
        let Some(resolved) = self.resolve_known(variant).await else {
            return;
        };
        let key = resolved.key;
        let Ok(room) = self.behind.room.clone().try_acquire_owned() else {
            return;
        };
        let results = &self.results;
        if !results.keeps() || results.postponed.claim(key, (), MOST_WAIT).is_some() {
            return;
        }
        let (maker, variant) = (self.clone(), variant.clone());
        tokio::spawn(async move {
            let _room = room;
            let postponed = &maker.results.postponed;
            let turn = maker.behind.turn.lock().await;
            let is_idle = |gauges: &Gauges| gauges.is_idle().then_some(());
            maker.admission.until(is_idle).await;
            let deadline = Instant::now() + maker.timeout;
            postponed.insert_for(key, (), maker.timeout);
            let ctx = maker.context(variant, Allowance::until(deadline));
            let headers = HeaderMap::new();
            let result = maker.obtain_within(&ctx, &headers);
            let result = tokio::time::timeout_at(deadline.into(), result).await;
            drop(turn);
            match result {
                Ok(Ok(_)) => {
                    postponed.remove(&key);
                }
                _ => postponed.insert_for(key, (), maker.results.config.negative.0),
            }
        });
    }
}

/// How long a result may wait for its turn before a new request queues it again.
const MOST_WAIT: Duration = Duration::from_secs(3600);
