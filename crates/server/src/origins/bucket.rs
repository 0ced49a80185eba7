//! Images in a bucket: of S3 or a store with the same API, of Google Cloud Storage, or of Azure Blob Storage, where a
//! bucket is called a container.
//!
//! `reqsign` signs the URLs of S3, and `object_store` those of the other stores, whose keys it restricts. The request
//! itself goes through the same client as every other origin's, so that the guard, the deadlines, the byte limit and
//! the rule that only whole bodies count hold here too.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use andon_dialects::Refusal;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Uri};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::path::{Path, PathPart};
use object_store::signer::Signer;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use reqsign_aws_v4::{Credential, RequestSigner, StaticCredentialProvider};
use reqsign_core::Context;
use url::Url;

use super::budget::Budget;
use super::http::client::{self, Ask, Client, Rules};
use super::names::ESCAPED;
use super::secrets::{Keys, keys};
use super::source::{Fetched, SourceValidators};
use super::stores::{azure, gcs, guard};
use crate::config::{BucketConfig, Store};
use crate::error::{Error, OriginError};
use crate::net::Cidr;

/// An origin whose images are in a bucket.
#[derive(Debug)]
pub(crate) struct BucketOrigin {
    access: Access,
    store: Store,
    bucket: String,
    folder: String,
    headers: HeaderMap,
    client: Client,
}

/// How the URL of an object is made.
#[derive(Debug)]
enum Access {
    /// S3 with keys: the bucket's URL, which object URLs are below, and their signer.
    Aws(String, reqsign_core::Signer<Credential>),
    /// Another store with keys: its signer makes the whole URL.
    Signed(Box<dyn Signer>),
    /// Without keys: the bucket's URL, which object URLs are below, and the query of a shared access signature if there
    /// is one.
    Plain(String, Option<String>),
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
            // A signature is for one host: nothing can be asked elsewhere with it.
            redirects: 0,
            retries: config.retries,
            ..rules
        };
        let guard = guard(config, allow.to_vec());
        let mut headers = HeaderMap::new();
        if store == Store::Azure {
            // Without it, tags are those of 2009: not in quotes.
            headers.insert(AZURE_VERSION, HeaderValue::from_static("2021-08-06"));
        }
        Ok(Self {
            access: access(store, config)?,
            store,
            bucket: config.bucket.clone(),
            folder: config.folder.trim_matches('/').to_owned(),
            headers,
            client: Client::new(config.ca.as_deref(), guard, rules)?,
        })
    }

    /// Returns the client of its requests.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Requests the object at `path` below the configured folder. The path is either percent-decoded, or `//` and the
    /// path as it is escaped in a URL. What follows the slash behind the folder is the key, and none of its segments
    /// has a special meaning.
    ///
    /// # Errors
    /// Those of [`Client::get`]; `Missing` also for an empty key; `Target` for a key that the store's signatures cannot
    /// name, or that may lead out of the folder.
    pub(crate) async fn fetch(
        &self,
        path: &str,
        known: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let key = self.key(path)?;
        let ask = Ask {
            path,
            name: &format!("{}://{}/{key}", self.store, self.bucket),
            uri: self.uri(&key).await?,
            headers: &self.headers,
            known,
            listed: &[],
        };
        self.client.get(&ask, budget).await
    }

    /// Returns the key of the object at `path`, the folder included.
    fn key<'a>(&self, path: &'a str) -> Result<Cow<'a, str>, Error> {
        let key = match path.strip_prefix(ESCAPED) {
            Some(raw) => percent_decode_str(raw).decode_utf8_lossy(),
            None => path.strip_prefix('/').unwrap_or(path).into(),
        };
        if key.is_empty() || key.contains(char::is_control) {
            return Err(Error::Missing {
                path: path.to_owned(),
            });
        }
        if self.folder.is_empty() {
            return Ok(key);
        }
        // Some stores resolve them, which leads out of the folder.
        if key.split('/').any(|segment| matches!(segment, "." | "..")) {
            let why = "below `folder` of a bucket a key may not have the segments `.` and `..`";
            return Err(Error::Target(Refusal::new(&key, why)));
        }
        Ok(format!("{}/{key}", self.folder).into())
    }

    /// Returns the URL of the object with this key, signed if there are keys.
    async fn uri(&self, key: &str) -> Result<Uri, Error> {
        let unsigned = |error: Box<dyn StdError + Send + Sync>| Error::Io(io::Error::other(error));
        Ok(match &self.access {
            Access::Plain(bucket, None) => object(bucket, key)?,
            Access::Plain(bucket, Some(query)) => with_query(&object(bucket, key)?, query)?,
            Access::Aws(bucket, signer) => {
                let mut asked = Request::new(()).into_parts().0;
                asked.uri = object(bucket, key)?;
                let signed = signer.sign(&mut asked, Some(SIGNATURE)).await;
                signed.map_err(|error| unsigned(error.into()))?;
                asked.uri
            }
            Access::Signed(signer) => {
                // Google's URLs are made of keys as they are given.
                let written = match self.store {
                    Store::Gcs => named(&escaped(key)),
                    Store::S3 | Store::Azure => named(key),
                };
                let written = written.map_err(|_| {
                    let why = "a key of this store may not begin with a slash, nor have the segments `.` and `..`";
                    Error::Target(Refusal::new(key, why))
                })?;
                let signed = signer.signed_url(Method::GET, &written, SIGNATURE).await;
                client::target(&signed.map_err(|error| unsigned(error.into()))?)?
            }
        })
    }
}

fn access(store: Store, config: &BucketConfig) -> Result<Access, String> {
    let endpoint = config.endpoint_of(store);
    let said = |error: object_store::Error| error.to_string();
    let signer: Box<dyn Signer> = match keys(store, config)? {
        Keys::None => return plain(store, config, &endpoint, None),
        Keys::Sas(sas) => return plain(store, config, &endpoint, Some(sas)),
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
            let requests = RequestSigner::new("s3", config.region());
            let signer = reqsign_core::Signer::new(Context::new(), keys, requests);
            return Ok(Access::Aws(bucket_url(store, config, &endpoint)?, signer));
        }
        keys @ Keys::Google(_) => {
            let builder = gcs(config, keys).with_http_connector(SignaturesOnly);
            Box::new(builder.build().map_err(said)?)
        }
        keys @ Keys::Azure(_) => {
            let builder = azure(config, keys).with_http_connector(SignaturesOnly);
            Box::new(builder.build().map_err(said)?)
        }
    };
    Ok(Access::Signed(signer))
}

/// Returns the access without keys: the bucket's URL, and the query that all its URLs need.
fn plain(
    store: Store,
    config: &BucketConfig,
    endpoint: &str,
    query: Option<String>,
) -> Result<Access, String> {
    let query = query.map(|query| query.trim_start_matches('?').to_owned());
    Ok(Access::Plain(bucket_url(store, config, endpoint)?, query))
}

/// Returns a bucket's URL, without a slash at its end.
fn bucket_url(store: Store, config: &BucketConfig, endpoint: &str) -> Result<String, String> {
    let url = match (store, &config.endpoint) {
        // It has the bucket's name in it.
        (Store::S3, None) => endpoint.to_owned(),
        _ => format!("{endpoint}/{}", config.bucket),
    };
    let parsed = Url::parse(&url);
    let url = parsed.map_err(|error| format!("the bucket's URL {url} is none: {error}"))?;
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Returns the URL of the object with this key, where `bucket` is the bucket's URL.
fn object(bucket: &str, key: &str) -> Result<Uri, Error> {
    let uri = format!("{bucket}/{}", escaped(key)).parse();
    uri.map_err(|_| OriginError::Garbled.into())
}

fn with_query(uri: &Uri, query: &str) -> Result<Uri, Error> {
    let uri = format!("{uri}?{query}").parse();
    uri.map_err(|_| OriginError::Garbled.into())
}

/// Percent-encodes a key for URLs of stores: all but slashes and unreserved characters, because signatures are computed
/// over this form.
fn escaped(key: &str) -> String {
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

/// Converts a key to a path of `object_store`, which accepts every segment but `.` and `..`, and no slash at the
/// beginning.
fn named(key: &str) -> Result<Path, object_store::path::Error> {
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

/// How long a signature is valid: longer than any fetch, because a signature that expires while the fetch waits for a
/// slot would be refused.
const SIGNATURE: Duration = Duration::from_secs(3600);

/// The network connector given to `object_store`, which refuses every request: the store only signs, and requests go
/// through our own client or nowhere.
#[derive(Debug)]
struct SignaturesOnly;

impl HttpConnector for SignaturesOnly {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Self))
    }
}

impl HttpService for SignaturesOnly {
    fn call<'a, 'b>(
        &'a self,
        _: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let refused = io::Error::other("this store signs and never asks");
        Box::pin(std::future::ready(Err(HttpError::new(
            HttpErrorKind::Unknown,
            refused,
        ))))
    }
}
