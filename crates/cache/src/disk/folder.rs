//! The cache's folder on disk: where each file is, and how files are written atomically.
//!
//! ```text
//! andon-cache-1/
//!   lock          held while a process uses the folder
//!   purges        the purge log
//!   tmp/          files being written; emptied at start
//!   3f/a0c9…      entries, named by their keys
//! ```

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::device::{Device, DirEntry};
use crate::key::Key;
use crate::locks::Lock;

/// Name of the cache's folder, which includes the version of the format: versions of the program with another format
/// use another folder.
const NAME: &str = "andon-cache-1";
/// Number of bytes that must be written and read back correctly before a disk counts as recovered.
const PROBE: usize = 64 * 1024;

/// The cache's own folder, which this process has locked for itself.
pub(crate) struct Folder {
    device: Arc<dyn Device>,
    root: PathBuf,
    temporary: AtomicU64,
    /// Incomplete files that are still to be removed, because removing them failed before.
    litter: Mutex<Vec<PathBuf>>,
    _lock: File,
}

impl Folder {
    /// Locks the cache's folder inside `path`, and empties its `tmp/`.
    ///
    /// # Errors
    /// `WouldBlock` if another process has locked the folder, and errors of the file system.
    pub(crate) fn open(device: Arc<dyn Device>, path: &Path) -> io::Result<Self> {
        let root = path.join(NAME);
        device.create_dir(&root.join("tmp"))?;
        let lock = device.lock(&root.join("lock"))?;
        let litter = device.list(&root.join("tmp"))?;
        let litter = litter
            .iter()
            .map(|file| root.join("tmp").join(&file.name))
            .collect();
        let folder = Self {
            device,
            root,
            temporary: AtomicU64::new(0),
            litter: Mutex::new(litter),
            _lock: lock,
        };
        match folder.clean() {
            // A read-only folder cannot be cleaned, but its entries can still be read.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
            result => result?,
        }
        Ok(folder)
    }

    /// Returns the files of all entries with their keys.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn entries(&self) -> io::Result<Vec<(DirEntry, Key)>> {
        let mut entries = Vec::new();
        for first in 0..=255u8 {
            let first = format!("{first:02x}");
            for file in self.device.list(&self.root.join(&first))? {
                // Files with other names do not belong to the cache.
                if let Some(key) = Key::from_hex(&format!("{first}{}", file.name)) {
                    entries.push((file, key));
                }
            }
        }
        Ok(entries)
    }

    /// Returns an entry's file, or its first `most` bytes if it is longer. `None` if there is no such file.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn read(&self, key: &Key, most: u64) -> io::Result<Option<Vec<u8>>> {
        self.read_if_there(&self.path(key), most)
    }

    /// Removes an entry's file, if there is one.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn remove(&self, key: &Key) -> io::Result<()> {
        self.device.remove(&self.path(key))
    }

    /// Writes a temporary file that does not have its final name yet. Nothing is synced to the medium, because the
    /// check on reading detects files that a power failure left incomplete.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn write(&self, parts: &[&[u8]]) -> io::Result<Unnamed<'_>> {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let path = self.root.join("tmp").join(number.to_string());
        // From here on, dropping `unnamed` removes the file, even an incomplete one.
        let unnamed = Unnamed { folder: self, path };
        match self.device.write(&unnamed.path, parts) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Another program has removed the folder since it was created.
                self.device.create_dir(&self.root.join("tmp"))?;
                self.device.write(&unnamed.path, parts)?;
            }
            result => result?,
        }
        Ok(unnamed)
    }

    /// Reads the purge log. `None` if there is none.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn log(&self) -> io::Result<Option<Vec<u8>>> {
        self.read_if_there(&self.root.join("purges"), u64::MAX)
    }

    /// Appends to the purge log, and returns when the bytes are on the medium.
    ///
    /// # Errors
    /// `NotFound` if there is no log, and errors of the file system, after which part of the bytes may have been
    /// written.
    pub(crate) fn append_to_log(&self, bytes: &[u8]) -> io::Result<()> {
        self.device.append(&self.root.join("purges"), bytes)
    }

    /// Replaces the purge log atomically.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn replace_log(&self, bytes: &[u8]) -> io::Result<()> {
        let unnamed = self.write(&[bytes])?;
        self.device.append(&unnamed.path, &[])?; // syncs
        self.device.rename(&unnamed.path, &self.root.join("purges"))
    }

    /// Removes leftover files, and checks that the disk works: writes a test file and reads it back.
    ///
    /// # Errors
    /// Errors of the file system, and `InvalidData` if the bytes read are not those written.
    pub(crate) fn probe(&self) -> io::Result<()> {
        self.clean()?;
        let bytes = vec![0xa5; PROBE];
        let probe = self.write(&[&bytes])?;
        if self.device.read(&probe.path, u64::MAX)? != bytes {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }

    fn read_if_there(&self, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        match self.device.read(path, most) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            result => result.map(Some),
        }
    }

    fn clean(&self) -> io::Result<()> {
        let mut litter = self.litter.locked();
        while let Some(path) = litter.last() {
            self.device.remove(path)?;
            litter.pop();
        }
        Ok(())
    }

    fn path(&self, key: &Key) -> PathBuf {
        let name = key.to_string();
        self.root.join(&name[..2]).join(&name[2..])
    }
}

/// A file under `tmp/`, which is removed when dropped unless it was published.
pub(crate) struct Unnamed<'a> {
    folder: &'a Folder,
    path: PathBuf,
}

impl Unnamed<'_> {
    /// Renames the file to that of entry `key`, atomically replacing an older one.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn publish(self, key: &Key) -> io::Result<()> {
        let to = self.folder.path(key);
        match self.folder.device.rename(&self.path, &to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // This is the first entry of its subfolder.
                self.folder
                    .device
                    .create_dir(to.parent().unwrap_or(&self.folder.root))?;
                self.folder.device.rename(&self.path, &to)
            }
            result => result,
        }
    }
}

impl Drop for Unnamed<'_> {
    fn drop(&mut self) {
        // Removing succeeds after a rename, too, because a missing file is no error.
        if self.folder.device.remove(&self.path).is_err() {
            self.folder
                .litter
                .locked()
                .push(std::mem::take(&mut self.path));
        }
    }
}
