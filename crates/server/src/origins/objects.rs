//! Access to the objects of an S3 bucket for commands. They list, read and write many objects at a time, each with a
//! blocking call.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectMeta, ObjectStore, PutOptions, PutPayload,
};
use tokio::runtime::{Builder, Runtime};

use super::advice::Reader;
use super::stores::{Reach, object_store};
use crate::config::{BaseUrl, BucketConfig, Credentials, Store};

/// An S3 bucket. Any number of threads may share it.
#[derive(Debug)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    bucket: String,
    runtime: Runtime,
}

/// Metadata of an object, available without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The object's key in the bucket.
    pub key: String,
    /// Length of the object in bytes.
    pub bytes: u64,
    /// The object's entity tag, or its modification time if it has none. It changes when the object is replaced.
    pub version: String,
}

impl Objects {
    /// Creates access to the bucket of this name, with endpoint, region and keys from the environment variables of
    /// Amazon's tools: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, `AWS_REGION` or `AWS_DEFAULT_REGION`,
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`. Without keys, the credentials of the platform
    /// are used if one of the variables for a profile, a web identity or a container's endpoint is set. Otherwise
    /// requests are anonymous. Objects of more than `most_bytes` are not read. Does not connect to anything yet.
    ///
    /// # Errors
    /// A message about the variable that cannot work.
    pub fn of_s3(bucket: &str, most_bytes: usize) -> Result<Self, String> {
        let value_of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let name_if_set = |name: &str| value_of(name).map(|_| name.to_owned());
        let endpoint = value_of("AWS_ENDPOINT_URL_S3").or_else(|| value_of("AWS_ENDPOINT_URL"));
        let config = BucketConfig {
            bucket: bucket.to_owned(),
            buckets: Vec::new(),
            credentials: issued_by_platform(&value_of).then_some(Credentials::Platform),
            folder: String::new(),
            region: value_of("AWS_REGION").or_else(|| value_of("AWS_DEFAULT_REGION")),
            account: None,
            endpoint: endpoint.map(BaseUrl::try_from).transpose()?,
            access_key_env: name_if_set("AWS_ACCESS_KEY_ID"),
            secret_key_env: name_if_set("AWS_SECRET_ACCESS_KEY"),
            session_token_env: name_if_set("AWS_SESSION_TOKEN"),
            credentials_env: None,
            sas_env: None,
            ca: None,
            retries: RETRIES,
        };
        let reach = Reach {
            // The user of a command chooses the endpoint, so no address is refused.
            allow: ["0.0.0.0/0", "::/0"]
                .iter()
                .filter_map(|net| net.parse().ok())
                .collect(),
            most_bytes,
            retry: RETRY,
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Ok(Self {
            store: object_store(Store::S3, &config, reach)?,
            bucket: bucket.to_owned(),
            runtime: runtime.map_err(|error| error.to_string())?,
        })
    }

    /// Lists all objects below a folder, sorted by key. The folder "" is the whole bucket.
    ///
    /// # Errors
    /// The error that the bucket reported.
    pub fn list(&self, folder: &str) -> io::Result<Vec<ObjectInfo>> {
        let path = self.path(folder.trim_end_matches('/'))?;
        let prefix = (!path.as_ref().is_empty()).then_some(&path);
        let listing = self.store.list(prefix).map_ok(ObjectInfo::of);
        let objects: Result<Vec<ObjectInfo>, Error> =
            self.runtime.handle().block_on(listing.try_collect());
        let mut objects = objects.map_err(|error| self.describe(folder, &error))?;
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(objects)
    }

    /// Returns the metadata of an object.
    ///
    /// # Errors
    /// The error that the bucket reported, for example because there is no such object.
    pub fn info(&self, key: &str) -> io::Result<ObjectInfo> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        let path = self.path(key)?;
        let request = self.store.get_opts(&path, options);
        let result = self.runtime.handle().block_on(request);
        let result = result.map_err(|error| self.describe(key, &error))?;
        Ok(ObjectInfo::of(result.meta))
    }

    /// Reads a whole object.
    ///
    /// # Errors
    /// The error that the bucket reported, or that the object is too long.
    pub fn get(&self, key: &str) -> io::Result<Vec<u8>> {
        let path = self.path(key)?;
        let read = async {
            let result = self.store.get_opts(&path, GetOptions::default()).await?;
            result.bytes().await
        };
        let bytes = self.runtime.handle().block_on(read);
        Ok(bytes.map_err(|error| self.describe(key, &error))?.into())
    }

    /// Writes a whole object with this media type. An object with the same key is replaced.
    ///
    /// # Errors
    /// The error that the bucket reported.
    pub fn put(&self, key: &str, bytes: Vec<u8>, media_type: &'static str) -> io::Result<()> {
        let path = self.path(key)?;
        let payload = PutPayload::from(bytes);
        let options = PutOptions {
            attributes: Attributes::from_iter([(Attribute::ContentType, media_type)]),
            ..PutOptions::default()
        };
        let result = self.store.put_opts(&path, payload, options);
        let result = self.runtime.handle().block_on(result);
        result.map(drop).map_err(|error| self.describe(key, &error))
    }

    fn path(&self, key: &str) -> io::Result<Path> {
        Path::parse(key).map_err(|error| {
            let bucket = &self.bucket;
            io::Error::other(format!("s3://{bucket}/{key} cannot be named: {error}"))
        })
    }

    fn describe(&self, key: &str, error: &Error) -> io::Error {
        let name = format!("s3://{}/{key}", self.bucket);
        match (error, Reader::Command.on_missing_bucket(error)) {
            (Error::NotFound { .. }, None) => {
                io::Error::new(io::ErrorKind::NotFound, format!("there is no {name}"))
            }
            (_, Some(advice)) => io::Error::other(format!("{name}: {advice}")),
            (error, None) => {
                let advice = Reader::Command.on_error(error);
                io::Error::other(format!("{name}: {advice}"))
            }
        }
    }
}

/// Whether the environment names a source of credentials other than keys.
fn issued_by_platform(value_of: &impl Fn(&str) -> Option<String>) -> bool {
    let sources = [
        "AWS_PROFILE",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    value_of("AWS_ACCESS_KEY_ID").is_none() && sources.iter().any(|name| value_of(name).is_some())
}

impl ObjectInfo {
    fn of(meta: ObjectMeta) -> Self {
        Self {
            key: meta.location.to_string(),
            bytes: meta.size,
            version: meta
                .e_tag
                .unwrap_or_else(|| meta.last_modified.to_rfc3339()),
        }
    }
}

/// Maximum number of retries of a request by a command. The server, whose clients wait, retries only once by default.
const RETRIES: u32 = 5;
const RETRY: Duration = Duration::from_secs(60);
