//! Clients of `object_store` for buckets, whose connections go only to permitted addresses.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper_util::client::legacy;
use object_store::aws::AmazonS3Builder;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{ClientOptions, Error, ObjectStore, RetryConfig};

use super::http::connect::{Connector, pool};
use super::platform::{ForAws, ForAzure, ForGoogle, Issued};
use super::secrets::{Keys, keys};
use crate::config::{BucketConfig, Store};
use crate::net::{Cidr, Guard};

/// Limits for the requests to a bucket.
pub(super) struct Reach {
    /// Addresses that are permitted in addition to those of the public internet.
    pub(super) allow: Vec<Cidr>,
    /// Maximum bytes of a response. Longer ones are errors.
    pub(super) most_bytes: usize,
    /// How long a failed request is retried.
    pub(super) retry: Duration,
}

/// Creates a client of `object_store` for a bucket, whose connections go only to permitted addresses. Does not connect
/// to anything yet.
pub(super) fn object_store(
    store: Store,
    config: &BucketConfig,
    reach: Reach,
) -> Result<Arc<dyn ObjectStore>, String> {
    let message = |error: Error| error.to_string();
    let connector = Connector::new(guard(config, reach.allow), config.ca.as_deref(), CONNECT)?;
    let http = pool(IDLE_CONNECTIONS).build(connector);
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
            Arc::new(store.map_err(message)?)
        }
        Store::Gcs => {
            let builder = gcs(config, keys).with_retry(retry);
            let store = builder.with_http_connector(connection).build();
            Arc::new(store.map_err(message)?)
        }
        Store::Azure => {
            let builder = azure(config, keys).with_retry(retry);
            let store = builder.with_http_connector(connection).build();
            Arc::new(store.map_err(message)?)
        }
    })
}

/// Returns the guard that decides which addresses may be connected to for a bucket. `allow` lists further permitted
/// addresses.
pub(super) fn guard(config: &BucketConfig, allow: Vec<Cidr>) -> Guard {
    let endpoint = config.endpoint.as_ref();
    let port = endpoint.and_then(|endpoint| endpoint.0.port_or_known_default());
    Guard::allowing(allow, vec![port.unwrap_or(443)])
}

/// Returns the `object_store` builder for an S3 bucket.
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
        Keys::Platform(Issued::Aws(keys)) => builder.with_credentials(Arc::new(ForAws(keys))),
        _ => builder.with_skip_signature(true),
    };
    match &config.endpoint {
        Some(_) => builder.with_endpoint(config.endpoint_of(Store::S3, &config.bucket)),
        // Amazon serves new buckets only under host names of their own.
        None => builder.with_virtual_hosted_style_request(true),
    }
}

/// Returns the `object_store` builder for a bucket of Google Cloud Storage.
pub(super) fn gcs(config: &BucketConfig, keys: Keys) -> GoogleCloudStorageBuilder {
    let builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(&config.bucket)
        .with_base_url(&config.endpoint_of(Store::Gcs, &config.bucket));
    match keys {
        Keys::Google(key) if key.trim_start().starts_with('{') => {
            builder.with_service_account_key(key)
        }
        Keys::Google(path) => builder.with_service_account_path(path),
        Keys::Platform(Issued::Token(tokens)) => {
            builder.with_credentials(Arc::new(ForGoogle(tokens)))
        }
        _ => builder.with_skip_signature(true),
    }
}

/// Returns the `object_store` builder for a container of Azure Blob Storage.
pub(super) fn azure(config: &BucketConfig, keys: Keys) -> MicrosoftAzureBuilder {
    let builder = MicrosoftAzureBuilder::new()
        .with_account(config.account.as_deref().unwrap_or_default())
        .with_container_name(&config.bucket)
        .with_endpoint(config.endpoint_of(Store::Azure, &config.bucket))
        .with_allow_http(true);
    match keys {
        Keys::Azure(key) => builder.with_access_key(key),
        Keys::Sas(sas) => builder.with_config(AzureConfigKey::SasKey, sas),
        Keys::Platform(Issued::Token(tokens)) => {
            builder.with_credentials(Arc::new(ForAzure(tokens)))
        }
        _ => builder.with_skip_signature(true),
    }
}

/// HTTP connections for `object_store`, which go only to addresses that a [`Guard`] permits.
#[derive(Clone, Debug)]
struct Connection {
    http: legacy::Client<Connector, HttpRequestBody>,
    /// Maximum bytes of a response.
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

const CONNECT: Duration = Duration::from_secs(2);
const IDLE_CONNECTIONS: usize = 64;
