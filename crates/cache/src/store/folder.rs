//! A bucket in a folder, on a disk that several processes share or a network file system that all nodes mount.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use rustix::fs::{FlockOperation, flock};
use tokio::sync::Semaphore;

use super::bucket::{Answer, Bucket, BucketError, MOST_BYTES, Object, Version};

/// A bucket in a folder. Objects are files in it, and slashes in their names stand for subfolders.
#[derive(Clone, Debug)]
pub struct FolderBucket {
    root: Arc<Path>,
    /// Permits for calls to the file system. A call of a network file system may hang forever, and then keeps its
    /// permit.
    calls: Arc<Semaphore>,
}

impl FolderBucket {
    /// Creates a bucket in the folder `root`, which itself is only created when something is written.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self {
            root: root.into(),
            calls: Arc::new(Semaphore::new(CALLS)),
        }
    }

    async fn call<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Path) -> Result<T, BucketError> + Send + 'static,
    ) -> Result<T, BucketError> {
        let failed = |error: &dyn std::error::Error| BucketError::Failed(error.to_string());
        let permit = self.calls.clone().acquire_owned().await;
        let permit = permit.map_err(|error| failed(&error))?;
        let path = self.root.join(name);
        let called = tokio::task::spawn_blocking(move || {
            let done = work(&path);
            drop(permit);
            done
        });
        called.await.map_err(|error| failed(&error))?
    }
}

impl Bucket for FolderBucket {
    fn get<'a>(&'a self, name: &'a str, known: Option<&'a Version>) -> Answer<'a, Object> {
        let known = known.cloned();
        Box::pin(self.call(name, move |path| {
            let Some(bytes) = read(path)? else {
                return Ok(Object::Missing);
            };
            let version = version_of(&bytes);
            Ok(match known == Some(version.clone()) {
                true => Object::Unchanged,
                false => Object::Here(bytes.into(), version),
            })
        }))
    }

    fn put<'a>(&'a self, name: &'a str, body: Bytes, over: Option<&'a Version>) -> Answer<'a, ()> {
        let over = over.cloned();
        Box::pin(self.call(name, move |path| match over {
            None => create(path, &body),
            Some(over) => replace(path, &body, &over),
        }))
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, BucketError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, &error)),
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(path, &error))?;
    match bytes.len() > MOST_BYTES {
        true => Err(BucketError::Failed(format!(
            "{} is larger than {MOST_BYTES} bytes",
            path.display()
        ))),
        false => Ok(Some(bytes)),
    }
}

/// Creates an object. A complete temporary file gets the final name only if there is no file of that name.
fn create(path: &Path, body: &[u8]) -> Result<(), BucketError> {
    let written = Written::new(path, body).map_err(|error| failed(path, &error))?;
    match fs::hard_link(&written.0, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(BucketError::Conflict),
        Err(error) => Err(failed(path, &error)),
    }
}

/// Replaces the version `over` of an object. A lock file is locked from the check of the version to the renaming.
fn replace(path: &Path, body: &[u8], over: &Version) -> Result<(), BucketError> {
    let replace = || -> io::Result<bool> {
        let lock = File::create(path.with_extension("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let known = fs::read(path).map(|bytes| version_of(&bytes));
        if known.ok().as_ref() != Some(over) {
            return Ok(false);
        }
        let written = Written::new(path, body)?;
        fs::rename(&written.0, path)?;
        Ok(true)
    };
    match replace() {
        Ok(true) => Ok(()),
        Ok(false) => Err(BucketError::Conflict),
        Err(error) => Err(failed(path, &error)),
    }
}

/// A complete file under a temporary name, which is removed at the end.
struct Written(PathBuf);

impl Written {
    fn new(path: &Path, body: &[u8]) -> io::Result<Self> {
        // The hasher's keys are the standard library's own randomness: two nodes never have one name.
        let own = format!("{:016x}.part", RandomState::new().hash_one(path));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let written = Self(path.with_extension(own));
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .open(&written.0)?;
        file.write_all(body)?;
        Ok(written)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // Gone already if it was renamed.
        let _ = fs::remove_file(&self.0);
    }
}

fn version_of(bytes: &[u8]) -> Version {
    Version {
        tag: Some(blake3::hash(bytes).to_hex().to_string()),
        number: None,
    }
}

fn failed(path: &Path, error: &io::Error) -> BucketError {
    BucketError::Failed(format!("{}: {error}", path.display()))
}

/// Most concurrent calls to the file system.
const CALLS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[tokio::test]
    async fn an_object_is_created_once_and_replaced_only_by_who_knows_its_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let bucket = FolderBucket::new(folder.path().join("new"));
        assert_eq!(bucket.get("a/b", None).await, Ok(Object::Missing));
        assert_eq!(bucket.put("a/b", bytes("one"), None).await, Ok(()));
        let taken = bucket.put("a/b", bytes("two"), None).await;
        assert_eq!(taken, Err(BucketError::Conflict));
        let Ok(Object::Here(body, version)) = bucket.get("a/b", None).await else {
            panic!("no object");
        };
        assert_eq!(body, "one");
        let again = bucket.get("a/b", Some(&version)).await;
        assert_eq!(again, Ok(Object::Unchanged));
        let replaced = bucket.put("a/b", bytes("three"), Some(&version)).await;
        assert_eq!(replaced, Ok(()));
        let late = bucket.put("a/b", bytes("four"), Some(&version)).await;
        assert_eq!(late, Err(BucketError::Conflict));
        let names = fs::read_dir(folder.path().join("new/a")).expect("a folder");
        let mut names: Vec<_> = names.map(|it| it.expect("a name").file_name()).collect();
        names.sort();
        assert_eq!(names, ["b", "b.lock"]);
    }

    #[tokio::test]
    async fn of_many_who_create_or_replace_at_once_one_succeeds() {
        let folder = tempfile::tempdir().expect("a folder");
        let bucket = FolderBucket::new(folder.path().to_owned());
        for version in [None, Some(version_of(b"0"))] {
            let mut all = tokio::task::JoinSet::new();
            for number in 0..16 {
                let (bucket, version) = (bucket.clone(), version.clone());
                let body = match version {
                    None => bytes("0"),
                    Some(_) => Bytes::from(format!("later {number}")),
                };
                all.spawn(async move { bucket.put("x", body, version.as_ref()).await });
            }
            let outcomes = all.join_all().await;
            let won = outcomes.iter().filter(|it| it.is_ok()).count();
            assert_eq!(won, 1, "{outcomes:?}");
        }
    }
}
