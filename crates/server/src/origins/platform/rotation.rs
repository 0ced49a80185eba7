//! Rotation of credentials that expire: a task renews them ahead of time, and they are used while they are valid.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::config::Store;

/// Credentials that a provider has issued.
pub(super) struct Issued<K> {
    pub(super) keys: K,
    /// When the credentials expire, by the clock of this machine; `None` if they do not.
    pub(super) expires_at: Option<SystemTime>,
    /// The provider's name in messages.
    pub(super) provider: &'static str,
}

/// The future of issued credentials. The error is a message that names the providers and why they failed.
pub(super) type IssueFuture<'a, K> =
    Pin<Box<dyn Future<Output = Result<Issued<K>, String>> + Send + 'a>>;

/// A source of credentials.
pub(super) trait Issuer<K>: Send + Sync {
    fn issue(&self) -> IssueFuture<'_, K>;
}

/// The current credentials of one issuer, and their renewal.
///
/// The first request after most of the credentials' life has passed renews them. That request and all others use the
/// old credentials until the new ones arrive. A request waits for the renewal only if no credentials are valid. A
/// failed renewal is repeated after a pause. Until then, requests without valid credentials fail at once with its
/// error.
pub(in crate::origins) struct Rotation<K> {
    store: Store,
    issuer: Box<dyn Issuer<K>>,
    clock: fn() -> SystemTime,
    current: RwLock<Option<Credentials<K>>>,
    /// The renewals that have failed since the last success. Locked during a renewal, so that only one runs at a time.
    failures: Arc<Mutex<Failures>>,
}

/// Credentials in use.
struct Credentials<K> {
    keys: Arc<K>,
    provider: &'static str,
    expires_at: Option<SystemTime>,
    /// The time from which a request renews the credentials.
    renew_at: SystemTime,
    /// The time from which no request uses the credentials; `None` for never.
    usable_until: Option<SystemTime>,
}

/// The renewals that have failed since the last success.
#[derive(Default)]
struct Failures {
    count: u32,
    /// The last error, and the time until which no other renewal is attempted.
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
            current: RwLock::default(),
            failures: Arc::default(),
        }
    }

    /// Returns valid credentials. Waits only if there are none.
    ///
    /// # Errors
    /// A message that names the providers that were tried, and why they failed.
    pub(in crate::origins) async fn keys(self: &Arc<Self>) -> Result<Arc<K>, String> {
        let now = (self.clock)();
        if let Some((keys, is_due)) = self.usable(now) {
            if is_due
                && let Ok(failures) = self.failures.clone().try_lock_owned()
                && failures.may_try(now)
            {
                tokio::spawn(self.clone().renew(failures));
            }
            return Ok(keys);
        }
        let failures = self.failures.clone().lock_owned().await;
        let now = (self.clock)();
        // Another request may have renewed the credentials meanwhile, or failed to.
        if let Some((keys, _)) = self.usable(now) {
            return Ok(keys);
        }
        if let (false, Some((error, _))) = (failures.may_try(now), &failures.last) {
            return Err(error.clone());
        }
        // The task continues even if this request is cancelled.
        let renewal = tokio::spawn(self.clone().renew(failures)).await;
        renewal.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Returns the credentials if they may be used at this time, and whether they are due for renewal.
    fn usable(&self, now: SystemTime) -> Option<(Arc<K>, bool)> {
        let credentials = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let credentials = credentials.as_ref()?;
        let is_usable = credentials.usable_until.is_none_or(|until| now < until);
        is_usable.then(|| (credentials.keys.clone(), now >= credentials.renew_at))
    }

    /// Requests new credentials, and stores them or the failure.
    async fn renew(
        self: Arc<Self>,
        mut failures: OwnedMutexGuard<Failures>,
    ) -> Result<Arc<K>, String> {
        let result = timeout(LONGEST, self.issuer.issue()).await;
        let result = result.unwrap_or_else(|_| Err(format!("no answer within {LONGEST:?}")));
        let now = (self.clock)();
        match result.and_then(|issued| Credentials::of(issued, now)) {
            Ok(credentials) => {
                self.log_success(&credentials, &failures, now);
                *failures = Failures::default();
                let keys = credentials.keys.clone();
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(credentials);
                Ok(keys)
            }
            Err(error) => {
                failures.add(error.clone(), now);
                self.log_failure(&error, now);
                Err(error)
            }
        }
    }

    fn log_success(&self, new: &Credentials<K>, failures: &Failures, now: SystemTime) {
        let credentials = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let is_news = failures.count > 0
            || credentials.as_ref().map(|credentials| credentials.provider) != Some(new.provider);
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
        let credentials = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let until = credentials
            .as_ref()
            .and_then(|credentials| credentials.usable_until);
        match until.filter(|until| now < *until) {
            Some(until) => {
                let remaining = seconds_until(until, now);
                tracing::warn!(%store, error, valid_seconds = remaining, "credentials of the platform not renewed; those in use are still valid");
            }
            None => tracing::error!(%store, error, "no credentials of the platform"),
        }
    }
}

impl<K> Credentials<K> {
    fn of(issued: Issued<K>, now: SystemTime) -> Result<Self, String> {
        let Issued {
            keys,
            expires_at,
            provider,
        } = issued;
        let (renew_at, usable_until) = match expires_at {
            // The provider may read a file, which can change at any time.
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
        // Nodes that failed at the same time should not retry at the same time.
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

/// Credentials are renewed this long before they expire, or when half of their life has passed if that is later.
/// Amazon's metadata service has new ones at least 5 minutes before the old ones expire, Google's about as early.
const AHEAD: Duration = Duration::from_secs(300);

/// Credentials are not used any more this long before they expire, or when nine tenths of their life have passed if
/// that is later: the store checks them only when the request arrives.
const ON_THE_WAY: Duration = Duration::from_secs(10);

/// Time after which credentials that do not expire are read again.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Time limit for all providers together.
const LONGEST: Duration = Duration::from_secs(20);

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

#[cfg(test)]
#[path = "rotation_tests.rs"]
mod tests;
