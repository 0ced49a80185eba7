//! Credentials that expire: renewed ahead of time by one task, and used for as long as they are valid.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::config::Store;

/// Credentials as a provider issues them.
pub(super) struct Issued<K> {
    pub(super) keys: K,
    /// When they expire, by the clock of this machine; `None` if they do not.
    pub(super) expires_at: Option<SystemTime>,
    /// The provider's name in messages.
    pub(super) provider: &'static str,
}

/// Pending credentials. The error is a sentence that names the providers and why they failed.
pub(super) type Issuing<'a, K> =
    Pin<Box<dyn Future<Output = Result<Issued<K>, String>> + Send + 'a>>;

/// A source of credentials.
pub(super) trait Issuer<K>: Send + Sync {
    fn issue(&self) -> Issuing<'_, K>;
}

/// The current credentials of one issuer.
///
/// They are renewed by the first request after most of their life has passed. That request and all others use the old
/// ones until the new ones are there. Only when none are valid does a request wait for the renewal. A failed renewal is
/// repeated after a pause; until then requests without valid credentials fail at once with its error.
pub(in crate::origins) struct Rotation<K> {
    store: Store,
    issuer: Box<dyn Issuer<K>>,
    clock: fn() -> SystemTime,
    held: RwLock<Option<Held<K>>>,
    /// Whoever holds it renews.
    turn: Arc<Mutex<Failures>>,
}

/// Credentials in use.
struct Held<K> {
    keys: Arc<K>,
    provider: &'static str,
    expires_at: Option<SystemTime>,
    /// From when on a request has them renewed.
    renew_at: SystemTime,
    /// From when on no request uses them; `None` for never.
    usable_until: Option<SystemTime>,
}

/// The renewals that failed since the last that did not.
#[derive(Default)]
struct Failures {
    count: u32,
    /// The last one, and until when no other is tried.
    last: Option<(String, SystemTime)>,
}

impl<K: Send + Sync + 'static> Rotation<K> {
    pub(super) fn new(store: Store, issuer: impl Issuer<K> + 'static) -> Self {
        Self::with_clock(store, issuer, SystemTime::now)
    }

    fn with_clock(
        store: Store,
        issuer: impl Issuer<K> + 'static,
        clock: fn() -> SystemTime,
    ) -> Self {
        Self {
            store,
            issuer: Box::new(issuer),
            clock,
            held: RwLock::default(),
            turn: Arc::default(),
        }
    }

    /// Returns valid credentials. Waits only if there are none.
    ///
    /// # Errors
    /// A sentence that names the providers that were asked, and why they failed.
    pub(in crate::origins) async fn keys(self: &Arc<Self>) -> Result<Arc<K>, String> {
        let now = (self.clock)();
        if let Some((keys, is_due)) = self.usable(now) {
            if is_due
                && let Ok(turn) = self.turn.clone().try_lock_owned()
                && turn.may_try(now)
            {
                tokio::spawn(self.clone().renewed(turn));
            }
            return Ok(keys);
        }
        let turn = self.turn.clone().lock_owned().await;
        let now = (self.clock)();
        // Another request may have renewed them meanwhile, or failed to.
        if let Some((keys, _)) = self.usable(now) {
            return Ok(keys);
        }
        if let (false, Some((error, _))) = (turn.may_try(now), &turn.last) {
            return Err(error.clone());
        }
        // The task goes on if this request is given up.
        let renewal = tokio::spawn(self.clone().renewed(turn)).await;
        renewal.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Returns the credentials if they may be used at this time, and whether they are due for renewal.
    fn usable(&self, now: SystemTime) -> Option<(Arc<K>, bool)> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let held = held.as_ref()?;
        let is_usable = held.usable_until.is_none_or(|until| now < until);
        is_usable.then(|| (held.keys.clone(), now >= held.renew_at))
    }

    /// Has new credentials issued, and keeps them or the failure.
    async fn renewed(
        self: Arc<Self>,
        mut turn: OwnedMutexGuard<Failures>,
    ) -> Result<Arc<K>, String> {
        let issued = timeout(LONGEST, self.issuer.issue()).await;
        let issued = issued.unwrap_or_else(|_| Err(format!("no answer within {LONGEST:?}")));
        let now = (self.clock)();
        match issued.and_then(|issued| Held::of(issued, now)) {
            Ok(held) => {
                self.log_success(&held, &turn, now);
                *turn = Failures::default();
                let keys = held.keys.clone();
                *self.held.write().unwrap_or_else(PoisonError::into_inner) = Some(held);
                Ok(keys)
            }
            Err(error) => {
                turn.add(error.clone(), now);
                self.log_failure(&error, now);
                Err(error)
            }
        }
    }

    fn log_success(&self, new: &Held<K>, failures: &Failures, now: SystemTime) {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let is_news =
            failures.count > 0 || held.as_ref().map(|held| held.provider) != Some(new.provider);
        let (store, provider) = (self.store, new.provider);
        let seconds = new.expires_at.map(|end| seconds_until(end, now));
        match is_news {
            true => {
                tracing::info!(%store, provider, valid_seconds = seconds, "credentials of the platform in use");
            }
            false => {
                tracing::debug!(%store, provider, valid_seconds = seconds, "credentials of the platform renewed");
            }
        }
    }

    fn log_failure(&self, error: &str, now: SystemTime) {
        let store = self.store;
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let until = held.as_ref().and_then(|held| held.usable_until);
        match until.filter(|until| now < *until) {
            Some(until) => {
                let left = seconds_until(until, now);
                tracing::warn!(%store, error, valid_seconds = left, "credentials of the platform not renewed; those in use are still valid");
            }
            None => tracing::error!(%store, error, "no credentials of the platform"),
        }
    }
}

impl<K> Held<K> {
    fn of(issued: Issued<K>, now: SystemTime) -> Result<Self, String> {
        let Issued {
            keys,
            expires_at,
            provider,
        } = issued;
        let (renew_at, usable_until) = match expires_at {
            // Files may be written again at any time.
            None => (now + LOOK_AGAIN, None),
            Some(end) => {
                let life = end.duration_since(now).unwrap_or_default();
                if life.is_zero() {
                    return Err(format!(
                        "{provider}: the credentials had expired when they were issued, {} s ago; check the clock of this machine",
                        now.duration_since(end).unwrap_or_default().as_secs()
                    ));
                }
                let ahead = AHEAD.min(life / 2);
                (end - ahead, Some(end - ON_THE_WAY.min(life / 10)))
            }
        };
        Ok(Self {
            keys: Arc::new(keys),
            provider,
            expires_at,
            renew_at,
            usable_until,
        })
    }
}

impl Failures {
    fn may_try(&self, now: SystemTime) -> bool {
        self.last.as_ref().is_none_or(|(_, until)| now >= *until)
    }

    fn add(&mut self, error: String, now: SystemTime) {
        let pause = FIRST_PAUSE * 2u32.saturating_pow(self.count.min(16));
        // Nodes that failed together should not try again together.
        let random = RandomState::new().hash_one(0u8) % 500;
        let pause = pause.min(LONGEST_PAUSE) * (750 + random as u32) / 1000;
        self.count += 1;
        self.last = Some((error, now + pause));
    }
}

impl<K> fmt::Debug for Rotation<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rotation").field(&self.store).finish()
    }
}

fn seconds_until(end: SystemTime, now: SystemTime) -> u64 {
    end.duration_since(now).unwrap_or_default().as_secs()
}

/// How long before their end credentials are renewed, or half of their life if that is less. Amazon's metadata service
/// has new ones at least 5 minutes before the end of the old ones, Google's about as early.
const AHEAD: Duration = Duration::from_secs(300);

/// How long before their end credentials are no longer sent, or a tenth of their life if that is less: the store checks
/// them when the request arrives.
const ON_THE_WAY: Duration = Duration::from_secs(10);

/// After this time credentials that do not expire are read again.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Time limit for all providers together.
const LONGEST: Duration = Duration::from_secs(20);

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

#[cfg(test)]
#[path = "rotation_tests.rs"]
mod tests;
