//! The buckets that a job reads and writes, each opened once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use andon_server::origins::Objects;
use anyhow::{Context, bail};

/// Scheme that the URLs of buckets begin with.
pub(super) const SCHEME: &str = "s3://";

#[derive(Default)]
pub(super) struct Buckets(Mutex<HashMap<String, Arc<Objects>>>);

impl Buckets {
    /// Returns the bucket of `url`, which is opened on first use, and the key of the object.
    pub(super) fn open<'a>(&self, url: &'a str) -> anyhow::Result<(Arc<Objects>, &'a str)> {
        let (bucket, key) = parts(url).with_context(|| {
            format!("`{url}` names no bucket; write it like s3://photos/trip/a.jpg")
        })?;
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(objects) = open.get(bucket) {
            return Ok((objects.clone(), key));
        }
        let objects = match Objects::of_s3(bucket, MOST_BYTES) {
            Ok(objects) => Arc::new(objects),
            Err(why) => bail!("{SCHEME}{bucket}: {why}"),
        };
        open.insert(bucket.to_owned(), objects.clone());
        Ok((objects, key))
    }
}

/// Splits the URL of an object into bucket and key. Returns `None` for any other URL.
pub(super) fn parts(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix(SCHEME)?;
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    (!bucket.is_empty()).then_some((bucket, key))
}

/// Maximum size in bytes of an object that is read: larger than any image that can be decoded.
const MOST_BYTES: usize = 1 << 30;
