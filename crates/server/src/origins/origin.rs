//! One origin: the paths or URLs of its sources, and the folder, web server or bucket that has them.

use std::sync::Arc;

use super::bucket::BucketOrigin;
use super::folder::Folder;
use super::http::HttpOrigin;
use super::http::client::{Client, Rules};
use super::metrics::OriginMetrics;
use super::pace::Pace;
use crate::config::{OriginConfig, OriginKind, Place, RemoteConfig};
use crate::error::Error;
use crate::permits::Permits;

/// An origin and its metrics.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) place: Place,
    pub(super) backend: Backend,
    pub(super) figures: Arc<OriginMetrics>,
}

/// The store of an origin's images.
#[derive(Debug)]
pub(super) enum Backend {
    /// A folder of this machine.
    Folder(Folder),
    /// A web server.
    Http(HttpOrigin),
    /// A bucket.
    Bucket(BucketOrigin),
}

impl Origin {
    /// Opens an origin. If one of `former_origins` has the same prefix or the same patterns of URLs or buckets, its
    /// request slots are used again.
    ///
    /// # Errors
    /// A message about the configuration key that cannot work.
    pub(super) fn open(
        config: &OriginConfig,
        most_bytes: u64,
        former_origins: &[Self],
    ) -> Result<Self, String> {
        let place = config.place();
        let former = former_origins.iter().find(|it| it.place == place);
        let rules = |remote| rules(remote, most_bytes, former.and_then(Self::client));
        let backend = match &config.keeper {
            OriginKind::Fs(fs) => Backend::Folder(Folder::open(fs, most_bytes)?),
            OriginKind::Http(http, remote) => {
                Backend::Http(HttpOrigin::new(http, &remote.allow, rules(remote))?)
            }
            OriginKind::Bucket(store, bucket, remote) => {
                let rules = rules(remote);
                Backend::Bucket(BucketOrigin::new(*store, bucket, &remote.allow, rules)?)
            }
        };
        Ok(Self {
            place,
            backend,
            figures: Arc::default(),
        })
    }

    /// Returns the HTTP client of the origin, or `None` for a folder.
    pub(super) fn client(&self) -> Option<&Client> {
        match &self.backend {
            Backend::Folder(_) => None,
            Backend::Http(http) => Some(http.client()),
            Backend::Bucket(bucket) => Some(bucket.client()),
        }
    }

    /// Completes an error of this origin. If the error contains a path, it becomes the whole path, with the origin's
    /// prefix. For the log, the name of the origin and the file or path that failed are added.
    pub(super) fn complete_error(&self, error: Error, source: &str) -> Error {
        let path = source.trim_start_matches('/').to_owned();
        let origin = || format!("origin \"{}\"", self.place.name_for(source));
        match error {
            Error::Unkept(error) => Error::Unkept(Box::new(self.complete_error(*error, source))),
            Error::Missing { .. } => Error::Missing { path },
            Error::Forbidden { .. } => Error::Forbidden { path },
            Error::Withheld { why, .. } => Error::Withheld { path, why },
            Error::At { error, place } => Error::At {
                error: Box::new(match *error {
                    Error::Missing { .. } => Error::Missing { path },
                    Error::Forbidden { .. } => Error::Forbidden { path },
                    error => error,
                }),
                place: format!("{}, {place}", origin()),
            },
            error @ (Error::Io(_) | Error::Origin(_)) => error.at(|| match &self.backend {
                Backend::Folder(folder) => {
                    let below = self.place.rest(&path).unwrap_or(&path);
                    let file = folder.path.join(below.trim_start_matches('/'));
                    format!("{}, file {}", origin(), file.display())
                }
                Backend::Http(_) | Backend::Bucket(_) => {
                    format!("{}, /{path}", origin())
                }
            }),
            error => error,
        }
    }
}

fn rules(config: &RemoteConfig, most_bytes: u64, former: Option<&Client>) -> Rules {
    let fetches = config.fetches();
    Rules {
        timeouts: config.timeouts,
        fetches,
        slots: former.map_or_else(|| Permits::of(fetches), |former| former.slots().clone()),
        pace: config.fetches_per_second.map(|per_second| {
            let former = former.and_then(Client::pace);
            let reusable = former.filter(|it| it.per_second() == per_second);
            reusable.map_or_else(|| Arc::new(Pace::new(per_second)), Arc::clone)
        }),
        most_bytes: config
            .max_bytes
            .map_or(most_bytes, |max_bytes| max_bytes.0.min(most_bytes)),
        redirects: 0,
        retries: 0,
    }
}
