//! The bucket through which nodes share results. It is also written to, and its requests pass the same guard as those
//! to origins.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use andon_cache::{
    Answer, Bucket, BucketError, FolderBucket, MOST_BYTES, Object, StoreConfig as Shared, Version,
};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, GetOptions, ObjectStore, PutMode, PutOptions, PutPayload, RetryConfig,
    UpdateVersion,
};

use super::bucket::{azure, gcs, keys, s3};
use super::http::connect::{Connector, SystemNames};
use super::http::{from_env, tls};
use crate::config::{BucketConfig, Store, StoreConfig, StorePlace};
use crate::net::{Cidr, Guard};

/// Opens the shared store of a configuration, for results of this revision. Does not connect to anything yet.
///
/// # Errors
/// A sentence about the configuration key that cannot work.
pub(crate) fn open(config: &StoreConfig, revision: &str) -> Result<Shared, String> {
    let secret = from_env("secret_env", &config.secret_env)?;
    if secret.len() < LEAST_SECRET {
        return Err(format!(
            "the secret in {} has {} bytes and needs {LEAST_SECRET} or more; `openssl rand -hex 32` prints a good one, \
             and all nodes need the same",
            config.secret_env,
            secret.len()
        ));
    }
    let (bucket, place): (Arc<dyn Bucket>, String) = match &config.place {
        StorePlace::Folder(root) => (
            Arc::new(FolderBucket::new(root.clone())),
            root.display().to_string(),
        ),
        StorePlace::Bucket(store, bucket) => (
            bucket_of(*store, bucket, &config.allow)?,
            format!(
                "{store}://{}/{} {}",
                bucket.bucket,
                bucket.folder,
                bucket.endpoint_of(*store)
            ),
        ),
    };
    Ok(Shared {
        bucket,
        place,
        secret,
        revision: revision.to_owned(),
        wait: config.wait.0,
        timeout: config.timeout.0,
        poll: config.poll.0,
        queue: config.queue.0,
    })
}

fn bucket_of(
    store: Store,
    config: &BucketConfig,
    allow: &[Cidr],
) -> Result<Arc<dyn Bucket>, String> {
    let reach = Reach {
        allow: allow.to_vec(),
        most_bytes: MOST_BYTES,
        retry: RETRY,
    };
    let folder = config.folder.trim_matches('/').to_owned();
    Path::parse(&folder).map_err(|error| format!("`{store}.folder` names no folder: {error}"))?;
    Ok(Arc::new(ObjectBucket {
        store: object_store(store, config, reach)?,
        folder,
    }))
}

/// Limits for the requests to a bucket.
pub(super) struct Reach {
    /// Addresses that the bucket may have in addition to those of the public internet.
    pub(super) allow: Vec<Cidr>,
    /// Maximum bytes of a reply; longer ones are errors.
    pub(super) most_bytes: usize,
    /// How long a failed request is retried.
    pub(super) retry: Duration,
}

/// Creates a client of `object_store` for a bucket that uses our own guarded connections. Does not connect to anything
/// yet.
pub(super) fn object_store(
    store: Store,
    config: &BucketConfig,
    reach: Reach,
) -> Result<Arc<dyn ObjectStore>, String> {
    let said = |error: Error| error.to_string();
    let endpoint = config.endpoint.as_ref();
    let port = endpoint.and_then(|endpoint| endpoint.0.port_or_known_default());
    let connector = Connector {
        guard: Arc::new(Guard::allowing(reach.allow, vec![port.unwrap_or(443)])),
        names: Arc::new(SystemNames),
        tls: tls::connector(config.ca.as_deref())?,
        timeout: CONNECT,
    };
    let http = legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_CONNECTION)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .build(connector);
    let connection = Connection {
        http,
        most_bytes: reach.most_bytes,
    };
    let retry = RetryConfig {
        max_retries: config.retries as usize,
        retry_timeout: reach.retry,
        ..RetryConfig::default()
    };
    let keys = keys(store, config)?;
    Ok(match store {
        Store::S3 => {
            let builder = s3(config, keys).with_retry(retry);
            let store = builder.with_http_connector(connection).build();
            Arc::new(store.map_err(said)?)
        }
        Store::Gcs => {
            let builder = gcs(config, keys).with_retry(retry);
            let store = builder.with_http_connector(connection).build();
            Arc::new(store.map_err(said)?)
        }
        Store::Azure => {
            let builder = azure(config, keys).with_retry(retry);
            let store = builder.with_http_connector(connection).build();
            Arc::new(store.map_err(said)?)
        }
    })
}

/// A bucket that is accessed through `object_store`.
#[derive(Debug)]
struct ObjectBucket {
    store: Arc<dyn ObjectStore>,
    folder: String,
}

impl ObjectBucket {
    fn path(&self, name: &str) -> Result<Path, BucketError> {
        let path = match self.folder.is_empty() {
            true => Path::parse(name),
            false => Path::parse(format!("{}/{name}", self.folder)),
        };
        path.map_err(|error| BucketError::Failed(error.to_string()))
    }
}

impl Bucket for ObjectBucket {
    fn get<'a>(&'a self, name: &'a str, known: Option<&'a Version>) -> Answer<'a, Object> {
        Box::pin(async move {
            let options = GetOptions {
                if_none_match: known.and_then(|known| known.tag.clone()),
                ..GetOptions::default()
            };
            let got = match self.store.get_opts(&self.path(name)?, options).await {
                Ok(got) => got,
                Err(Error::NotFound { .. }) => return Ok(Object::Missing),
                Err(Error::NotModified { .. }) => return Ok(Object::Unchanged),
                Err(error) => return Err(failed(&error)),
            };
            let version = Version {
                tag: got.meta.e_tag.clone(),
                number: got.meta.version.clone(),
            };
            // The whole of it, or an error: what breaks off is shorter than its declared length.
            let bytes = got.bytes().await.map_err(|error| failed(&error))?;
            Ok(Object::Here(bytes, version))
        })
    }

    fn put<'a>(&'a self, name: &'a str, body: Bytes, over: Option<&'a Version>) -> Answer<'a, ()> {
        Box::pin(async move {
            let mode = over.map_or(PutMode::Create, |over| {
                PutMode::Update(UpdateVersion {
                    e_tag: over.tag.clone(),
                    version: over.number.clone(),
                })
            });
            let options = PutOptions {
                mode,
                ..PutOptions::default()
            };
            let payload = PutPayload::from_bytes(body);
            match self.store.put_opts(&self.path(name)?, payload, options).await {
                Ok(_) => Ok(()),
                Err(
                    Error::AlreadyExists { .. }
                    | Error::Precondition { .. }
                    // Removed since its version was seen.
                    | Error::NotFound { .. },
                ) => Err(BucketError::Conflict),
                Err(error) => Err(failed(&error)),
            }
        })
    }
}

/// Converts an error together with its causes: a refused connection is only the cause of a cause.
fn failed(error: &Error) -> BucketError {
    BucketError::Failed(sentence(error))
}

/// Returns the message of a store's error in one line, with its causes.
pub(super) fn sentence(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    // A store's error page is no log line.
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_MESSAGE).collect()
}

/// Our own HTTP connections for `object_store`, each checked by the guard.
#[derive(Clone, Debug)]
struct Connection {
    http: legacy::Client<Connector, HttpRequestBody>,
    /// Maximum bytes of a reply.
    most_bytes: usize,
}

impl HttpConnector for Connection {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl HttpService for Connection {
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let (reply, most) = (self.http.request(request), self.most_bytes);
        Box::pin(async move {
            let reply = reply.await.map_err(|error| {
                let kind = match error.is_connect() {
                    true => HttpErrorKind::Connect,
                    false => HttpErrorKind::Interrupted,
                };
                HttpError::new(kind, error)
            })?;
            Ok(reply.map(|body| {
                let body = Limited::new(body, most);
                HttpResponseBody::new(body.map_err(|error| {
                    HttpError::new(HttpErrorKind::Interrupted, std::io::Error::other(error))
                }))
            }))
        })
    }
}

const LEAST_SECRET: usize = 16;
const CONNECT: Duration = Duration::from_secs(2);
const RETRY: Duration = Duration::from_secs(2);
/// How long an idle connection is kept: less than the usual keep-alive of servers, so that it is closed by us and not
/// by them.
const IDLE_CONNECTION: Duration = Duration::from_secs(20);
const IDLE_CONNECTIONS: usize = 64;
const MOST_MESSAGE: usize = 300;
