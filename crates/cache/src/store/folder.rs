//! A bucket in a folder, which is on a disk that several processes share or on a network file system that all nodes
//! mount.

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

/// A bucket in a folder. Objects are files in the folder, and slashes in their names stand for subfolders.
#[derive(Clone, Debug)]
pub struct FolderBucket {
    root: Arc<Path>,
    /// Permits for calls to the file system. A call of a network file system may hang forever, and then keeps its
    /// permit.
    calls: Arc<Semaphore>,
}

impl FolderBucket {
    /// Creates a bucket in the folder `root`, which is created when the first object is written.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self {
            root: root.into(),
            calls: Arc::new(Semaphore::new(CALLS)),
        }
    }

    /// Calls `work` with the path of the object `name` on a thread for blocking calls.
    async fn call<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Path) -> Result<T, BucketError> + Send + 'static,
    ) -> Result<T, BucketError> {
        let failed = |error: &dyn std::error::Error| BucketError::Failed(error.to_string());
        let permit = self.calls.clone().acquire_owned().await;
        let permit = permit.map_err(|error| failed(&error))?;
        let path = self.root.join(name);
        let task = tokio::task::spawn_blocking(move || {
            let result = work(&path);
            drop(permit);
            result
        });
        task.await.map_err(|error| failed(&error))?
    }
}

impl Bucket for FolderBucket {
    fn get<'a>(&'a self, name: &'a str, version: Option<&'a Version>) -> Answer<'a, Object> {
        let old = version.cloned();
        Box::pin(self.call(name, move |path| {
            let Some(bytes) = read(path)? else {
                return Ok(Object::Missing);
            };
            let version = version_of(&bytes);
            Ok(match old == Some(version.clone()) {
                true => Object::Unchanged,
                false => Object::Here(bytes.into(), version),
            })
        }))
    }

    fn put<'a>(&'a self, name: &'a str, body: Bytes, old: Option<&'a Version>) -> Answer<'a, ()> {
        let old = old.cloned();
        Box::pin(self.call(name, move |path| match old {
            None => create(path, &body),
            Some(old) => replace(path, &body, &old),
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

/// Creates an object. A complete temporary file gets the final name, but only if no file has that name.
fn create(path: &Path, body: &[u8]) -> Result<(), BucketError> {
    let file = TemporaryFile::new(path, body).map_err(|error| failed(path, &error))?;
    match fs::hard_link(&file.0, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(BucketError::Conflict),
        Err(error) => Err(failed(path, &error)),
    }
}

/// Replaces the version `old` of an object. A lock file stays locked from the check of the version to the renaming.
fn replace(path: &Path, body: &[u8], old: &Version) -> Result<(), BucketError> {
    let replace = || -> io::Result<bool> {
        let lock = File::create(path.with_extension("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let current = fs::read(path).map(|bytes| version_of(&bytes));
        if current.ok().as_ref() != Some(old) {
            return Ok(false);
        }
        let file = TemporaryFile::new(path, body)?;
        fs::rename(&file.0, path)?;
        Ok(true)
    };
    match replace() {
        Ok(true) => Ok(()),
        Ok(false) => Err(BucketError::Conflict),
        Err(error) => Err(failed(path, &error)),
    }
}

/// A complete file under a temporary name, which is removed when this is dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(path: &Path, body: &[u8]) -> io::Result<Self> {
        // The standard library seeds the hasher with random keys, so no two nodes use the same name.
        let extension = format!("{:016x}.part", RandomState::new().hash_one(path));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let temporary = Self(path.with_extension(extension));
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .open(&temporary.0)?;
        file.write_all(body)?;
        Ok(temporary)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // This fails if the file was renamed, which is right.
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

/// Maximum concurrent calls to the file system.
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
