//! Credentials of the platform on which the server runs: those of a cloud's machine, container, pod or function, or of
//! files and variables of an administrator.
//!
//! Each cloud has a list of providers, which are tried in the order of the cloud's own SDKs until one has credentials
//! ([`chain`]). Issued credentials expire, and are renewed before that ([`rotation`]). A separate client sends the
//! requests to the providers ([`client`]). It alone may connect to metadata services.
//!
//! The environment belongs to the process, and so do the credentials: all origins and the shared store use the same
//! ones, and they are kept across reloads.

mod aws;
mod azure;
mod chain;
mod client;
mod external_account;
mod google;
mod object_store;
mod rotation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) use self::object_store::{ForAws, ForAzure, ForGoogle, NoConnection};

use self::chain::{Chain, Platform};
use self::rotation::Rotation;
use crate::config::{Environment, Store};

/// Amazon's keys, which sign requests.
pub(super) type AwsKeys = reqsign_aws_v4::Credential;

/// A token for the `Authorization` header of requests.
pub(super) struct Bearer(pub(super) String);

/// Credentials for a store, which are renewed before they expire.
#[derive(Clone, Debug)]
pub(super) enum Issued {
    /// Keys that sign requests to S3.
    Aws(Aws),
    /// Tokens for Google or Azure.
    Token(Tokens),
}

/// Returns the process's credentials for a store. `region` is that of Amazon's token service, unless the environment
/// names one.
///
/// # Errors
/// A message about a variable of the environment that cannot work.
pub(super) fn of_store(store: Store, region: &str) -> Result<Issued, String> {
    Ok(match store {
        Store::S3 => Issued::Aws(aws(region)?),
        Store::Gcs => Issued::Token(google()?),
        Store::Azure => Issued::Token(azure()?),
    })
}

/// Credentials that sign requests to S3.
pub(super) type Aws = Arc<Rotation<AwsKeys>>;

/// Tokens for Google Cloud Storage or Azure Blob Storage.
pub(super) type Tokens = Arc<Rotation<Bearer>>;

/// Returns the process's credentials for S3; see [`of_store`].
///
/// # Errors
/// Those of [`of_store`].
pub(super) fn aws(region: &str) -> Result<Aws, String> {
    shared(&AWS, region, |environment| {
        let platform = Platform::new(environment, region)?;
        let chain = Chain::new(platform, aws::PROVIDERS);
        Ok(Rotation::new(Store::S3, chain))
    })
}

/// Returns the process's tokens for Google Cloud Storage.
///
/// # Errors
/// Those of [`of_store`].
pub(super) fn google() -> Result<Tokens, String> {
    shared(&TOKENS, "gcs", |environment| {
        let chain = Chain::new(Platform::new(environment, "")?, google::PROVIDERS);
        Ok(Rotation::new(Store::Gcs, chain))
    })
}

/// Returns the process's tokens for Azure Blob Storage.
///
/// # Errors
/// Those of [`of_store`].
pub(super) fn azure() -> Result<Tokens, String> {
    shared(&TOKENS, "azure", |environment| {
        let chain = Chain::new(Platform::new(environment, "")?, azure::PROVIDERS);
        Ok(Rotation::new(Store::Azure, chain))
    })
}

/// Credentials of the process that are renewed before they expire, by cloud or region.
type Shared<K> = Mutex<BTreeMap<String, Arc<Rotation<K>>>>;

static AWS: Shared<AwsKeys> = Mutex::new(BTreeMap::new());
static TOKENS: Shared<Bearer> = Mutex::new(BTreeMap::new());

fn shared<K>(
    all: &Shared<K>,
    name: &str,
    make: impl FnOnce(Environment) -> Result<Rotation<K>, String>,
) -> Result<Arc<Rotation<K>>, String> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rotation) = all.get(name) {
        return Ok(rotation.clone());
    }
    let rotation = Arc::new(make(Environment::of_process())?);
    all.insert(name.to_owned(), rotation.clone());
    Ok(rotation)
}
