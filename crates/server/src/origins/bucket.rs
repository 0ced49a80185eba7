//! Images in a bucket of S3 or a store with the same API, of Google Cloud Storage, or of Azure Blob Storage, which
//! calls a bucket a container.
//!
//! `reqsign` signs the URLs of S3, and `object_store` those of the other stores. `object_store` does not accept every
//! object key. Credentials of the platform expire, so they are put into headers when a request is sent. The requests go
//! through the same client as those of all other origins, so that the guard against connections to addresses that are
//! not permitted, the deadlines, the byte limit and the rule that only complete bodies count apply here, too.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use andon_dialects::Refusal;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Uri};
use object_store::path::{Path, PathPart};
use object_store::signer::Signer;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use reqsign_aws_v4::{Credential, RequestSigner, StaticCredentialProvider};
use reqsign_core::{Context, SignRequest};

use super::budget::Budget;
use super::http::client::{self, Ask, Authorize, Authorizing, Client, Rules};
use super::names::ESCAPED;
use super::platform::{AwsKeys, Issued, NoConnection};
use super::secrets::{Keys, keys};
use super::source::{Fetched, SourceValidators};
use super::stores::{azure, gcs, guard};
use crate::config::{BucketConfig, Store};
use crate::error::{Error, OriginError};
use crate::net::Cidr;

/// An origin whose images are in one bucket, or in the buckets that match its patterns.
#[derive(Debug)]
pub(crate) struct BucketOrigin {
    access: Access,
    store: Store,
    config: Box<BucketConfig>,
    headers: HeaderMap,
    client: Client,
}

/// How requests for objects are authorized.
#[derive(Debug)]
enum Access {
    /// S3 with keys, whose signer signs URLs.
    Aws(reqsign_core::Signer<Credential>),
    /// Another store with keys, whose signer makes the whole URL.
    Signed(Box<dyn Signer>),
    /// No keys: URLs are not signed. If there is a shared access signature, it is the query of each URL.
    Plain(Option<String>),
    /// Temporary credentials that the cloud platform issues (AWS keys or a bearer token), sent in request headers.
    Platform(Headers),
}

/// Creates request headers from temporary credentials that the cloud platform issues: AWS keys or a bearer token.
#[derive(Debug)]
struct Headers {
    issued: Issued,
    signer: RequestSigner,
}

impl BucketOrigin {
    /// Reads the credentials. Does not connect to anything yet.
    ///
    /// # Errors
    /// A sentence about the configuration key that cannot work.
    pub(crate) fn new(
        store: Store,
        config: &BucketConfig,
        allow: &[Cidr],
        rules: Rules,
    ) -> Result<Self, String> {
        let rules = Rules {
            // A signature is valid for one host only, so redirects cannot be followed.
            redirects: 0,
            retries: config.retries,
            ..rules
        };
        let guard = guard(config, allow.to_vec());
        let mut headers = HeaderMap::new();
        if store == Store::Azure {
            // Without this header, entity tags have the format of 2009, without quotes.
            headers.insert(AZURE_VERSION, HeaderValue::from_static("2021-08-06"));
        }
        Ok(Self {
            access: access(store, config)?,
            store,
            config: Box::new(config.clone()),
            headers,
            client: Client::new(config.ca.as_deref(), guard, rules)?,
        })
    }

    /// Returns the client for the requests to this origin.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Requests an object below the configured folder, unless it still has these `validators`. `path` is the object's
    /// percent-decoded key, with or without a slash before it, or `//` and the key as it is escaped in a URL. The
    /// segments of a key have no special meaning. For an origin of several buckets, `path` is the object's URL, such as
    /// `s3://BUCKET/KEY`.
    ///
    /// # Errors
    /// The errors of [`Client::get`]; `Missing` also for an empty key; `Target` for a key that the store's signatures
    /// cannot express, or that may lead out of the folder.
    pub(crate) async fn fetch(
        &self,
        path: &str,
        validators: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (bucket, below) = self.bucket_of(path)?;
        let key = self.key(path, below)?;
        let ask = Ask {
            path,
            name: &format!("{}://{bucket}/{key}", self.store),
            uri: self.uri(bucket, &key).await?,
            headers: &self.headers,
            authorize: match &self.access {
                Access::Platform(headers) => Some(headers),
                _ => None,
            },
            validators,
            patterns: &[],
            store: Some(self.store),
        };
        self.client.get(&ask, budget).await
    }

    /// Returns the bucket of `path`, and the path inside the bucket.
    fn bucket_of<'a>(&'a self, path: &'a str) -> Result<(&'a str, Below<'a>), Error> {
        if !self.config.buckets.is_empty() {
            let parts = named_in_url(self.store, path);
            let missing = || Error::Missing {
                path: path.to_owned(),
            };
            let (bucket, key) = parts.ok_or_else(missing)?;
            return Ok((bucket, Below::Escaped(key)));
        }
        let below = match path.strip_prefix(ESCAPED) {
            Some(raw) => Below::Escaped(raw),
            None => Below::Decoded(path.strip_prefix('/').unwrap_or(path)),
        };
        Ok((&self.config.bucket, below))
    }

    /// Returns the key of an object, including the configured folder. `path` is only for error messages.
    fn key<'a>(&self, path: &str, below: Below<'a>) -> Result<Cow<'a, str>, Error> {
        let key = match below {
            Below::Escaped(raw) => percent_decode_str(raw).decode_utf8_lossy(),
            Below::Decoded(key) => key.into(),
        };
        if key.is_empty() || key.contains(char::is_control) {
            return Err(Error::Missing {
                path: path.to_owned(),
            });
        }
        let folder = self.config.folder.trim_matches('/');
        if folder.is_empty() {
            return Ok(key);
        }
        // Some stores resolve these segments, which leads out of the folder.
        if key.split('/').any(|segment| matches!(segment, "." | "..")) {
            let why = "below `folder` of a bucket a key may not have the segments `.` and `..`";
            return Err(Error::Target(Refusal::new(&key, why)));
        }
        Ok(format!("{folder}/{key}").into())
    }

    /// Returns the URL of the object with this key. It is signed if the origin has keys.
    async fn uri(&self, bucket: &str, key: &str) -> Result<Uri, Error> {
        let unsigned = |error: Box<dyn StdError + Send + Sync>| Error::Io(io::Error::other(error));
        let plain = || object(&bucket_url(self.store, &self.config, bucket), key);
        Ok(match &self.access {
            Access::Plain(None) | Access::Platform(_) => plain()?,
            Access::Plain(Some(query)) => with_query(&plain()?, query)?,
            Access::Aws(signer) => {
                let mut head = Request::new(()).into_parts().0;
                head.uri = plain()?;
                let result = signer.sign(&mut head, Some(SIGNATURE)).await;
                result.map_err(|error| unsigned(error.into()))?;
                head.uri
            }
            Access::Signed(signer) => {
                // `object_store` does not escape keys in Google's URLs.
                let path = match self.store {
                    Store::Gcs => object_path(&escape(key)),
                    Store::S3 | Store::Azure => object_path(key),
                };
                let path = path.map_err(|_| {
                    let why = "a key of this store may not begin with a slash, nor have the segments `.` and `..`";
                    Error::Target(Refusal::new(key, why))
                })?;
                let result = signer.signed_url(Method::GET, &path, SIGNATURE).await;
                client::target(&result.map_err(|error| unsigned(error.into()))?)?
            }
        })
    }
}

/// A path inside a bucket.
#[derive(Clone, Copy)]
enum Below<'a> {
    Escaped(&'a str),
    Decoded(&'a str),
}

/// Returns the bucket and the escaped key of an object URL, such as `s3://BUCKET/KEY`. A URL with a query or a fragment
/// is not an object URL, because both characters are escaped in a key.
fn named_in_url(store: Store, url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix(store.scheme())?.strip_prefix("://")?;
    let (bucket, key) = rest.split_once('/')?;
    (!key.contains(['?', '#'])).then_some((bucket, key))
}

impl Authorize for Headers {
    fn authorize<'a>(&'a self, uri: &'a Uri) -> Authorizing<'a> {
        Box::pin(async {
            let failed = OriginError::Credentials;
            match &self.issued {
                Issued::Aws(keys) => {
                    let keys = keys.keys().await.map_err(failed)?;
                    let headers = self.sign(uri, &keys).await;
                    headers.map_err(|error| failed(error.to_string()))
                }
                Issued::Token(tokens) => {
                    let token = tokens.keys().await.map_err(failed)?;
                    let value = HeaderValue::from_str(&format!("Bearer {}", token.0));
                    let mut value = value.map_err(|_| {
                        failed("the token that was issued cannot be sent in a header".to_owned())
                    })?;
                    value.set_sensitive(true);
                    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
                }
            }
        })
    }
}

impl Headers {
    /// Returns the headers that sign a GET of this URL.
    async fn sign(&self, uri: &Uri, keys: &AwsKeys) -> Result<HeaderMap, reqsign_core::Error> {
        // The rotation decides how long keys are used. `reqsign` would refuse them in their last 10 s.
        let keys = AwsKeys {
            expires_in: None,
            ..keys.clone()
        };
        let mut head = Request::new(()).into_parts().0;
        head.uri = uri.clone();
        let (context, signer) = (Context::new(), &self.signer);
        signer
            .sign_request(&context, &mut head, Some(&keys), None)
            .await?;
        Ok(head.headers)
    }
}

fn access(store: Store, config: &BucketConfig) -> Result<Access, String> {
    let message = |error: object_store::Error| error.to_string();
    let requests = RequestSigner::new("s3", config.region());
    let signer: Box<dyn Signer> = match keys(store, config)? {
        Keys::Platform(issued) => {
            return Ok(Access::Platform(Headers {
                issued,
                signer: requests,
            }));
        }
        Keys::None => return Ok(Access::Plain(None)),
        Keys::Sas(sas) => {
            let query = sas.trim_start_matches('?').to_owned();
            return Ok(Access::Plain(Some(query)));
        }
        Keys::S3 {
            access,
            secret,
            token,
        } => {
            let keys = StaticCredentialProvider::new(&access, &secret);
            let keys = match token {
                Some(token) => keys.with_session_token(&token),
                None => keys,
            };
            let signer = reqsign_core::Signer::new(Context::new(), keys, requests);
            return Ok(Access::Aws(signer));
        }
        keys @ Keys::Google(_) => {
            let builder = gcs(config, keys).with_http_connector(NoConnection);
            Box::new(builder.build().map_err(message)?)
        }
        keys @ Keys::Azure(_) => {
            let builder = azure(config, keys).with_http_connector(NoConnection);
            Box::new(builder.build().map_err(message)?)
        }
    };
    Ok(Access::Signed(signer))
}

/// Returns a bucket's URL, without a trailing slash.
fn bucket_url(store: Store, config: &BucketConfig, bucket: &str) -> String {
    let endpoint = config.endpoint_of(store, bucket);
    match (store, &config.endpoint) {
        // The endpoint contains the bucket's name.
        (Store::S3, None) => endpoint,
        _ => format!("{endpoint}/{}", escape(bucket)),
    }
}

/// Returns the URL of the object with this key, where `bucket` is the bucket's URL.
fn object(bucket: &str, key: &str) -> Result<Uri, Error> {
    let uri = format!("{bucket}/{}", escape(key)).parse();
    uri.map_err(|_| OriginError::Garbled.into())
}

fn with_query(uri: &Uri, query: &str) -> Result<Uri, Error> {
    let uri = format!("{uri}?{query}").parse();
    uri.map_err(|_| OriginError::Garbled.into())
}

/// Percent-encodes a key for URLs of stores: everything but slashes and unreserved characters, because signatures are
/// computed over this form.
fn escape(key: &str) -> String {
    let segments: Vec<String> = key
        .split('/')
        .map(|segment| utf8_percent_encode(segment, KEY).to_string())
        .collect();
    segments.join("/")
}

const KEY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Converts a key to a path of `object_store`, which accepts every segment except `.` and `..`, and no leading slash.
fn object_path(key: &str) -> Result<Path, object_store::path::Error> {
    let empty = |path: &str| object_store::path::Error::EmptySegment {
        path: path.to_owned(),
    };
    let mut path = Path::default();
    for (at, segment) in key.split('/').enumerate() {
        if at == 0 && segment.is_empty() {
            return Err(empty(key));
        }
        let part = PathPart::parse(segment);
        path = path.join(part.map_err(|_| empty(key))?);
    }
    Ok(path)
}

const AZURE_VERSION: HeaderName = HeaderName::from_static("x-ms-version");

/// How long a signature is valid. This is longer than any fetch, because a store would refuse a signature that has
/// expired while the fetch waited for a free request slot.
const SIGNATURE: Duration = Duration::from_secs(3600);
