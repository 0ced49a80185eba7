//! Credentials of the platform for clients of `object_store`. By default these clients look for credentials themselves,
//! and cannot say when those expire.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use object_store::aws::AwsCredential;
use object_store::azure::AzureCredential;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::GcpCredential;
use object_store::{ClientOptions, CredentialProvider, Error};

use super::{Aws, Tokens};
use crate::config::Store;

/// Credentials for a client of S3.
#[derive(Debug)]
pub(in crate::origins) struct ForAws(pub(in crate::origins) Aws);

/// Tokens for a client of Google Cloud Storage.
#[derive(Debug)]
pub(in crate::origins) struct ForGoogle(pub(in crate::origins) Tokens);

/// Tokens for a client of Azure Blob Storage.
#[derive(Debug)]
pub(in crate::origins) struct ForAzure(pub(in crate::origins) Tokens);

/// The future type that `object_store` expects from a credential provider.
type CredentialFuture<'a, K> =
    Pin<Box<dyn Future<Output = object_store::Result<Arc<K>>> + Send + 'a>>;

impl CredentialProvider for ForAws {
    type Credential = AwsCredential;

    fn get_credential<'s, 'a>(&'s self) -> CredentialFuture<'a, AwsCredential>
    where
        's: 'a,
        Self: 'a,
    {
        Box::pin(async {
            let keys = self.0.keys().await.map_err(failed(Store::S3))?;
            Ok(Arc::new(AwsCredential {
                key_id: keys.access_key_id.clone(),
                secret_key: keys.secret_access_key.clone(),
                token: keys.session_token.clone(),
            }))
        })
    }
}

impl CredentialProvider for ForGoogle {
    type Credential = GcpCredential;

    fn get_credential<'s, 'a>(&'s self) -> CredentialFuture<'a, GcpCredential>
    where
        's: 'a,
        Self: 'a,
    {
        Box::pin(async {
            let token = self.0.keys().await.map_err(failed(Store::Gcs))?;
            let bearer = token.0.clone();
            Ok(Arc::new(GcpCredential { bearer }))
        })
    }
}

impl CredentialProvider for ForAzure {
    type Credential = AzureCredential;

    fn get_credential<'s, 'a>(&'s self) -> CredentialFuture<'a, AzureCredential>
    where
        's: 'a,
        Self: 'a,
    {
        Box::pin(async {
            let token = self.0.keys().await.map_err(failed(Store::Azure))?;
            Ok(Arc::new(AzureCredential::BearerToken(token.0.clone())))
        })
    }
}

fn failed(store: Store) -> impl FnOnce(String) -> Error {
    let store = match store {
        Store::S3 => "S3",
        Store::Gcs => "GCS",
        Store::Azure => "MicrosoftAzure",
    };
    move |error| Error::Generic {
        store,
        source: format!("no credentials of the platform: {error}").into(),
    }
}

/// The network connector of clients that only sign. It refuses every request, because all requests go through the
/// client for credentials or that of an origin.
#[derive(Debug)]
pub(in crate::origins) struct NoConnection;

impl HttpConnector for NoConnection {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Self))
    }
}

impl HttpService for NoConnection {
    fn call<'a, 'b>(
        &'a self,
        _: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let error = std::io::Error::other("this store signs and never asks");
        Box::pin(std::future::ready(Err(HttpError::new(
            HttpErrorKind::Unknown,
            error,
        ))))
    }
}
