//! The bucket through which nodes share results. It is also written to, and its requests pass the same guard as those
//! to origins.

use std::sync::Arc;
use std::time::Duration;

use andon_cache::{
    Answer, Bucket, BucketError, FolderBucket, MOST_BYTES, Object, StoreConfig as Shared, Version,
};
use bytes::Bytes;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectStore, PutMode, PutOptions, PutPayload, UpdateVersion,
};

use super::advice::Reader;
use super::secrets::from_env;
use super::stores::{Reach, object_store};
use crate::config::{BucketConfig, Store, StoreConfig, StorePlace};
use crate::net::Cidr;

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
                bucket.endpoint_of(*store, &bucket.bucket)
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
        reader: Reader::Operator(store),
    }))
}

/// A bucket that is accessed through `object_store`.
#[derive(Debug)]
struct ObjectBucket {
    store: Arc<dyn ObjectStore>,
    folder: String,
    reader: Reader,
}

impl ObjectBucket {
    fn path(&self, name: &str) -> Result<Path, BucketError> {
        let path = match self.folder.is_empty() {
            true => Path::parse(name),
            false => Path::parse(format!("{}/{name}", self.folder)),
        };
        path.map_err(|error| BucketError::Failed(error.to_string()))
    }

    /// Converts an error of the store. That the bucket is missing is none that an object is.
    fn failed(&self, error: &Error) -> BucketError {
        BucketError::Failed(self.reader.on_error(error))
    }

    fn has_bucket(&self, error: &Error) -> bool {
        self.reader.on_missing_bucket(error).is_none()
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
                Err(error @ Error::NotFound { .. }) if self.has_bucket(&error) => {
                    return Ok(Object::Missing);
                }
                Err(Error::NotModified { .. }) => return Ok(Object::Unchanged),
                Err(error) => return Err(self.failed(&error)),
            };
            let version = Version {
                tag: got.meta.e_tag.clone(),
                number: got.meta.version.clone(),
            };
            // The whole of it, or an error: what breaks off is shorter than its declared length.
            let bytes = got.bytes().await.map_err(|error| self.failed(&error))?;
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
            match self
                .store
                .put_opts(&self.path(name)?, payload, options)
                .await
            {
                Ok(_) => Ok(()),
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                    Err(BucketError::Conflict)
                }
                // Removed since its version was seen.
                Err(error @ Error::NotFound { .. }) if self.has_bucket(&error) => {
                    Err(BucketError::Conflict)
                }
                Err(error) => Err(self.failed(&error)),
            }
        })
    }
}

const LEAST_SECRET: usize = 16;
const RETRY: Duration = Duration::from_secs(2);
