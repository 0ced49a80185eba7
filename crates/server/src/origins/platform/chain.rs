//! The credential providers of a cloud, tried one after the other.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use super::client::Client;
use super::rotation::{IssueFuture, Issued, Issuer};
use crate::config::Environment;

/// The resources of all providers: the environment, and the client for requests.
#[derive(Debug)]
pub(super) struct Platform {
    pub(super) environment: Environment,
    pub(super) client: Arc<Client>,
    /// The region of Amazon's token service, unless the environment names one.
    pub(super) region: String,
}

/// The result of a provider.
pub(super) enum Found<K> {
    /// Credentials, and the time at which they expire; `None` if they do not.
    Issued(K, Option<SystemTime>),
    /// The provider is not configured here, for this reason.
    Absent(String),
}

/// The future of a provider's result. The error is a message about a provider that is configured and failed.
pub(super) type Answer<'a, K> = Pin<Box<dyn Future<Output = Result<Found<K>, String>> + Send + 'a>>;

/// One way to get credentials.
pub(super) struct Provider<K: 'static> {
    /// The provider's name in messages.
    pub(super) name: &'static str,
    pub(super) ask: fn(&Platform) -> Answer<'_, K>,
}

/// A cloud's providers, in the order in which they are tried.
pub(super) struct Chain<K: 'static> {
    platform: Platform,
    providers: &'static [Provider<K>],
}

impl Platform {
    /// Creates the client for the providers of this environment.
    ///
    /// # Errors
    /// A message about a variable that cannot work.
    pub(super) fn new(environment: Environment, region: &str) -> Result<Self, String> {
        Ok(Self {
            client: Arc::new(Client::new(&environment)?),
            environment,
            region: region.to_owned(),
        })
    }
}

impl<K> Chain<K> {
    pub(super) fn new(platform: Platform, providers: &'static [Provider<K>]) -> Self {
        Self {
            platform,
            providers,
        }
    }
}

impl<K: Send> Issuer<K> for Chain<K> {
    /// Tries the providers in turn. A provider that is configured but fails ends the search, because the next one would
    /// act with another identity and other rights.
    fn issue(&self) -> IssueFuture<'_, K> {
        Box::pin(async {
            let mut reasons = Vec::new();
            for provider in self.providers {
                let name = provider.name;
                match (provider.ask)(&self.platform).await {
                    Ok(Found::Issued(keys, expires_at)) => {
                        return Ok(Issued {
                            keys,
                            expires_at,
                            provider: name,
                        });
                    }
                    Ok(Found::Absent(why)) => reasons.push(format!("{name}: {why}")),
                    Err(why) if reasons.is_empty() => return Err(format!("{name}: {why}")),
                    Err(why) => {
                        return Err(format!("{name}: {why} (before it, {})", reasons.join("; ")));
                    }
                }
            }
            Err(format!("no provider is set up: {}", reasons.join("; ")))
        })
    }
}

impl<K> fmt::Debug for Chain<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.providers.iter().map(|provider| provider.name);
        f.debug_list().entries(names).finish()
    }
}
