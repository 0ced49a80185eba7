//! Pictures in a bucket of S3 or of a store that speaks like it.
//!
//! `object_store` knows how such stores are addressed and signs each URL; the request itself goes
//! through the same client as every other origin's, so that the guard, the deadlines, the byte limit
//! and the rule of whole bodies hold here too.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use hyper::{HeaderMap, Method};
use object_store::ClientOptions;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::path::Path;
use object_store::signer::Signer;
use url::Url;

use super::budget::Budget;
use super::http::client::{Ask, Client, Rules};
use super::http::{below, client, from_env};
use super::source::{Fetched, SourceValidators};
use crate::config::S3Config;
use crate::error::Error;
use crate::net::{Cidr, Guard};

/// A bucket.
#[derive(Debug)]
pub(crate) struct S3Origin {
    access: Access,
    bucket: String,
    folder: String,
    headers: HeaderMap,
    client: Client,
}

/// How an object's URL comes about.
#[derive(Debug)]
enum Access {
    /// With our keys.
    Signed(Box<AmazonS3>),
    /// As anybody may: the URL of the bucket.
    Public(Url),
}

impl S3Origin {
    /// Reads the credentials; connects to nothing yet.
    ///
    /// # Errors
    /// A sentence about the key that cannot work.
    pub(crate) fn new(config: &S3Config, allow: &[Cidr], rules: Rules) -> Result<Self, String> {
        let rules = Rules {
            // A signature is for one host: nothing can be asked elsewhere with it.
            redirects: 0,
            retries: config.retries,
            ..rules
        };
        let endpoint = config.endpoint.as_ref();
        let port = endpoint.and_then(|endpoint| endpoint.0.port_or_known_default());
        let guard = Guard::allowing(allow.to_vec(), vec![port.unwrap_or(443)]);
        Ok(Self {
            access: access(config)?,
            bucket: config.bucket.clone(),
            folder: config.folder.trim_matches('/').to_owned(),
            headers: HeaderMap::new(),
            client: client(config.ca.as_deref(), guard, rules)?,
        })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Asks for the object at `path` below the folder, percent-decoded already.
    ///
    /// # Errors
    /// As [`Client::get`]; `Missing` also for what cannot be a key here: empty or dotted segments.
    pub(crate) async fn fetch(
        &self,
        path: &str,
        known: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let missing = || Error::Missing {
            path: path.to_owned(),
        };
        let path = path.trim_start_matches('/');
        if path.is_empty() || path.contains(char::is_control) {
            return Err(missing());
        }
        let key = match self.folder.is_empty() {
            true => Path::parse(path),
            false => Path::parse(format!("{}/{path}", self.folder)),
        };
        let key = key.map_err(|_| missing())?;
        let url = match &self.access {
            Access::Public(bucket) => below(bucket, key.as_ref()).ok_or_else(missing)?,
            Access::Signed(store) => store
                .signed_url(Method::GET, &key, SIGNATURE)
                .await
                .map_err(|error| Error::Io(io::Error::other(error)))?,
        };
        let ask = Ask {
            path,
            name: &format!("s3://{}/{key}", self.bucket),
            url,
            headers: &self.headers,
            known,
            listed: &[],
        };
        self.client.get(&ask, budget).await
    }
}

fn access(config: &S3Config) -> Result<Access, String> {
    let (access, secret) = match (&config.access_key_env, &config.secret_key_env) {
        (Some(access), Some(secret)) => (access, secret),
        (None, None) => return bucket(config).map(Access::Public),
        _ => {
            return Err(
                "give `s3.access_key_env` and `s3.secret_key_env` together, or neither for a bucket \
                 that everybody may read"
                    .to_owned(),
            );
        }
    };
    let mut store = AmazonS3Builder::new()
        .with_bucket_name(&config.bucket)
        .with_region(&config.region)
        .with_access_key_id(from_env("s3.access_key_env", access)?)
        .with_secret_access_key(from_env("s3.secret_key_env", secret)?)
        .with_allow_http(true)
        .with_http_connector(SignaturesOnly);
    if let Some(token) = &config.session_token_env {
        store = store.with_token(from_env("s3.session_token_env", token)?);
    }
    store = match &config.endpoint {
        Some(endpoint) => store.with_endpoint(endpoint.0.as_str().trim_end_matches('/')),
        // Amazon serves new buckets under their own names only.
        None => store.with_virtual_hosted_style_request(true),
    };
    let store = store.build().map_err(|error| error.to_string())?;
    Ok(Access::Signed(Box::new(store)))
}

/// The URL of the bucket itself.
fn bucket(config: &S3Config) -> Result<Url, String> {
    let S3Config {
        bucket,
        region,
        endpoint,
        ..
    } = config;
    let url = match endpoint {
        Some(endpoint) => format!("{}/{bucket}", endpoint.0.as_str().trim_end_matches('/')),
        None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
    };
    Url::parse(&url).map_err(|error| format!("the bucket's URL {url} is none: {error}"))
}

/// Longer than any fetch: a signature that runs out while it waits for a slot would be refused.
const SIGNATURE: Duration = Duration::from_secs(3600);

/// The store's own way to a network, which there is none: what it wants to ask goes through our client
/// or nowhere.
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
