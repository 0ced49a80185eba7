//! Pictures in a bucket: of S3 or a store that speaks like it, of Google Cloud Storage, or of Azure's Blob Storage,
//! where it is called a container.
//!
//! `object_store` knows how such stores are addressed and signs each URL; the request itself goes
//! through the same client as every other origin's, so that the guard, the deadlines, the byte limit
//! and the rule of whole bodies hold here too.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use object_store::ClientOptions;
use object_store::aws::AmazonS3Builder;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::signer::Signer;
use url::Url;

use super::budget::Budget;
use super::http::client::{Ask, Client, Rules};
use super::http::{below, client, encoded, from_env};
use super::source::{Fetched, SourceValidators};
use crate::config::{BucketConfig, Store};
use crate::error::Error;
use crate::net::{Cidr, Guard};

/// A bucket.
#[derive(Debug)]
pub(crate) struct BucketOrigin {
    access: Access,
    store: Store,
    bucket: String,
    folder: String,
    headers: HeaderMap,
    client: Client,
}

/// How an object's URL comes about.
#[derive(Debug)]
enum Access {
    /// With our keys.
    Signed(Box<dyn Signer>),
    /// Without keys: the bucket's URL, and the query of a shared access signature if there is one.
    Plain(Url, Option<String>),
}

impl BucketOrigin {
    /// Reads the credentials; connects to nothing yet.
    ///
    /// # Errors
    /// A sentence about the key that cannot work.
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
        let endpoint = config.endpoint.as_ref();
        let port = endpoint.and_then(|endpoint| endpoint.0.port_or_known_default());
        let guard = Guard::allowing(allow.to_vec(), vec![port.unwrap_or(443)]);
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
            Access::Plain(bucket, query) => {
                let mut url = below(bucket, key.as_ref()).ok_or_else(missing)?;
                url.set_query(query.as_deref());
                url
            }
            Access::Signed(signer) => {
                // Google's URLs are made of keys as they are given.
                let written = match self.store {
                    Store::Gcs => Path::parse(encoded(key.as_ref())).map_err(|_| missing())?,
                    Store::S3 | Store::Azure => key.clone(),
                };
                let signed = signer.signed_url(Method::GET, &written, SIGNATURE).await;
                signed.map_err(|error| Error::Io(io::Error::other(error)))?
            }
        };
        let ask = Ask {
            path,
            name: &format!("{}://{}/{key}", self.store, self.bucket),
            url,
            headers: &self.headers,
            known,
            listed: &[],
        };
        self.client.get(&ask, budget).await
    }
}

fn access(store: Store, config: &BucketConfig) -> Result<Access, String> {
    let endpoint = config.endpoint_of(store);
    let said = |error: object_store::Error| error.to_string();
    let signer: Box<dyn Signer> = match keys(store, config)? {
        Keys::None => return plain(store, config, &endpoint, None),
        Keys::Sas(sas) => return plain(store, config, &endpoint, Some(sas)),
        keys @ Keys::S3 { .. } => {
            let builder = s3(config, keys).with_http_connector(SignaturesOnly);
            Box::new(builder.build().map_err(said)?)
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

/// What opens a bucket.
pub(super) enum Keys {
    /// It is open to everybody.
    None,
    S3 {
        access: String,
        secret: String,
        token: Option<String>,
    },
    /// A service account's key, or the path of its file.
    Google(String),
    /// An account's key.
    Azure(String),
    /// A shared access signature.
    Sas(String),
}

/// Reads the keys that a bucket's configuration names.
///
/// # Errors
/// A sentence about the key that cannot work.
pub(super) fn keys(store: Store, config: &BucketConfig) -> Result<Keys, String> {
    let secret = |key: &str, name: &Option<String>| {
        let read = |name: &String| from_env(&format!("{store}.{key}"), name);
        name.as_ref().map(read).transpose()
    };
    let access_key = secret("access_key_env", &config.access_key_env)?;
    match store {
        Store::S3 => match (
            access_key,
            secret("secret_key_env", &config.secret_key_env)?,
        ) {
            (Some(access), Some(key)) => Ok(Keys::S3 {
                access,
                secret: key,
                token: secret("session_token_env", &config.session_token_env)?,
            }),
            (None, None) => Ok(Keys::None),
            _ => Err(
                "give `s3.access_key_env` and `s3.secret_key_env` together, or neither for a \
                 bucket that everybody may read"
                    .to_owned(),
            ),
        },
        Store::Gcs => {
            let credentials = secret("credentials_env", &config.credentials_env)?;
            Ok(credentials.map_or(Keys::None, Keys::Google))
        }
        Store::Azure => match (access_key, secret("sas_env", &config.sas_env)?) {
            (None, sas) => Ok(sas.map_or(Keys::None, Keys::Sas)),
            (Some(_), Some(_)) => {
                Err("give `azure.access_key_env` or `azure.sas_env`, not both".to_owned())
            }
            (Some(key), None) => Ok(Keys::Azure(key)),
        },
    }
}

pub(super) fn s3(config: &BucketConfig, keys: Keys) -> AmazonS3Builder {
    let builder = AmazonS3Builder::new()
        .with_bucket_name(&config.bucket)
        .with_region(config.region())
        .with_allow_http(true);
    let builder = match keys {
        Keys::S3 {
            access,
            secret,
            token,
        } => {
            let builder = builder
                .with_access_key_id(access)
                .with_secret_access_key(secret);
            match token {
                Some(token) => builder.with_token(token),
                None => builder,
            }
        }
        _ => builder.with_skip_signature(true),
    };
    match &config.endpoint {
        Some(_) => builder.with_endpoint(config.endpoint_of(Store::S3)),
        // Amazon serves new buckets under their own names only.
        None => builder.with_virtual_hosted_style_request(true),
    }
}

pub(super) fn gcs(config: &BucketConfig, keys: Keys) -> GoogleCloudStorageBuilder {
    let builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&config.bucket)
        .with_base_url(&config.endpoint_of(Store::Gcs));
    match keys {
        Keys::Google(key) if key.trim_start().starts_with('{') => {
            builder.with_service_account_key(key)
        }
        Keys::Google(path) => builder.with_service_account_path(path),
        _ => builder.with_skip_signature(true),
    }
}

pub(super) fn azure(config: &BucketConfig, keys: Keys) -> MicrosoftAzureBuilder {
    let builder = MicrosoftAzureBuilder::new()
        .with_account(config.account.as_deref().unwrap_or_default())
        .with_container_name(&config.bucket)
        .with_endpoint(config.endpoint_of(Store::Azure))
        .with_allow_http(true);
    match keys {
        Keys::Azure(key) => builder.with_access_key(key),
        Keys::Sas(sas) => builder.with_config(AzureConfigKey::SasKey, sas),
        _ => builder.with_skip_signature(true),
    }
}

/// The bucket's own URL, and what has to be the query of all its URLs.
fn plain(
    store: Store,
    config: &BucketConfig,
    endpoint: &str,
    query: Option<String>,
) -> Result<Access, String> {
    let url = match (store, &config.endpoint) {
        // It has the bucket's name in it.
        (Store::S3, None) => endpoint.to_owned(),
        _ => format!("{endpoint}/{}", config.bucket),
    };
    let parsed = Url::parse(&url);
    let url = parsed.map_err(|error| format!("the bucket's URL {url} is none: {error}"))?;
    let query = query.map(|query| query.trim_start_matches('?').to_owned());
    Ok(Access::Plain(url, query))
}

const AZURE_VERSION: HeaderName = HeaderName::from_static("x-ms-version");

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
