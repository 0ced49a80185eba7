//! Abstraction over the file system: the few operations that the disk tier needs, so that tests can substitute a full,
//! read-only, failing or hanging disk for a sound one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

/// The file system operations that the disk tier needs. Every call may block.
pub trait Device: Send + Sync + 'static {
    /// Creates a directory and its parents. It is no error if it exists already.
    ///
    /// # Errors
    /// Errors of the file system.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;

    /// Locks a file for this process alone, until the handle is dropped or the process ends.
    ///
    /// # Errors
    /// `WouldBlock` if another process has locked it, and errors of the file system.
    fn lock(&self, path: &Path) -> io::Result<File>;

    /// Reads a whole file, or its first `most` bytes if it is longer.
    ///
    /// # Errors
    /// Errors of the file system.
    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// Writes a file that consists of these parts, replacing its contents. On failure, an incomplete file may be left
    /// behind.
    ///
    /// # Errors
    /// Errors of the file system.
    fn write(&self, path: &Path, parts: &[&[u8]]) -> io::Result<()>;

    /// Appends to an existing file, and returns when the bytes are on the medium.
    ///
    /// # Errors
    /// `NotFound` if there is no such file, and errors of the file system.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Renames `from` to `to`, atomically replacing a file of that name.
    ///
    /// # Errors
    /// Errors of the file system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file. It is no error if there is none.
    ///
    /// # Errors
    /// Errors of the file system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns the regular files of a directory, or none if there is no such directory.
    ///
    /// # Errors
    /// Errors of the file system.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;
}

/// A file in a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    /// The file's name. Files whose names are not UTF-8 do not belong to the cache and are not listed.
    pub name: String,
    /// The file's length in bytes.
    pub len: u64,
    /// When the file was last written, by the wall clock.
    pub modified: SystemTime,
}

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

impl Device for Files {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<File> {
        // Opened for reading only, because a file open for writing would keep an operator from remounting the file
        // system read-only.
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                File::create(path)?;
                File::open(path)?
            }
            file => file?,
        };
        file.try_lock()?;
        Ok(file)
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let file = File::open(path)?;
        let len = file.metadata()?.len().min(most);
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        file.take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write(&self, path: &Path, parts: &[&[u8]]) -> io::Result<()> {
        let mut file = File::create(path)?;
        parts.iter().try_for_each(|part| file.write_all(part))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut files = Vec::new();
        let entries = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // The file may have been removed since it was listed.
            let metadata = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                metadata => metadata?,
            };
            if metadata.is_file() {
                let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.push(DirEntry {
                    name,
                    len: metadata.len(),
                    modified,
                });
            }
        }
        Ok(files)
    }
}
