//! The bucket through which nodes share results. Unlike the buckets of origins, it is also written to. As for origins,
//! connections go only to permitted addresses.

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

/// Opens the shared store of a configuration, for results of code with this revision. Does not connect to anything yet.
///
/// # Errors
/// A message about the configuration key that cannot work.
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

    /// Converts an error of the store to a message for the log.
    fn failed(&self, error: &Error) -> BucketError {
        BucketError::Failed(self.reader.on_error(error))
    }

    /// Whether the bucket exists, given that an operation failed with a "not found" error.
    fn has_bucket(&self, error: &Error) -> bool {
        self.reader.on_missing_bucket(error).is_none()
    }
}

impl Bucket for ObjectBucket {
    fn get<'a>(&'a self, name: &'a str, version: Option<&'a Version>) -> Answer<'a, Object> {
        Box::pin(async move {
            let options = GetOptions {
                if_none_match: version.and_then(|version| version.tag.clone()),
                ..GetOptions::default()
            };
            let result = match self.store.get_opts(&self.path(name)?, options).await {
                Ok(result) => result,
                Err(error @ Error::NotFound { .. }) if self.has_bucket(&error) => {
                    return Ok(Object::Missing);
                }
                Err(Error::NotModified { .. }) => return Ok(Object::Unchanged),
                Err(error) => return Err(self.failed(&error)),
            };
            let version = Version {
                tag: result.meta.e_tag.clone(),
                number: result.meta.version.clone(),
            };
            // This returns all bytes or an error: a body that breaks off is shorter than its declared length.
            let bytes = result.bytes().await.map_err(|error| self.failed(&error))?;
            Ok(Object::Here(bytes, version))
        })
    }

    fn put<'a>(&'a self, name: &'a str, body: Bytes, old: Option<&'a Version>) -> Answer<'a, ()> {
        Box::pin(async move {
            let mode = old.map_or(PutMode::Create, |old| {
                PutMode::Update(UpdateVersion {
                    e_tag: old.tag.clone(),
                    version: old.number.clone(),
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
                // The object has been removed since its version was read.
                Err(error @ Error::NotFound { .. }) if self.has_bucket(&error) => {
                    Err(BucketError::Conflict)
                }
                Err(error) => Err(self.failed(&error)),
            }
        })
    }
}

/// Minimum length in bytes of the secret that all nodes share (`store.secret_env`).
const LEAST_SECRET: usize = 16;
const RETRY: Duration = Duration::from_secs(2);
