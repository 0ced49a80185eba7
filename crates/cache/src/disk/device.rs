//! The seam to the file system: the few operations the store needs, so that tests can put a full,
//! read-only, dying or hanging disk in the place of a sound one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

/// What the store asks of a file system. Every call may block.
pub trait Device: Send + Sync + 'static {
    /// Makes a directory and its parents; one that is there already is fine.
    ///
    /// # Errors
    /// The file system's.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;

    /// Takes a file for this process alone, until the handle is dropped or the process ends.
    ///
    /// # Errors
    /// `WouldBlock` if another has it; the file system's.
    fn lock(&self, path: &Path) -> io::Result<File>;

    /// Reads a whole file, or its first `most` bytes.
    ///
    /// # Errors
    /// The file system's.
    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// Writes a file anew from these parts. May leave part of it behind on failure.
    ///
    /// # Errors
    /// The file system's.
    fn write(&self, path: &Path, parts: &[&[u8]]) -> io::Result<()>;

    /// Adds to a file that exists and returns when the bytes are on the medium.
    ///
    /// # Errors
    /// `NotFound`, and the file system's.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Replaces `to` by `from`, whole or not at all.
    ///
    /// # Errors
    /// The file system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file; one that is not there is fine.
    ///
    /// # Errors
    /// The file system's.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// The plain files of a directory; none if there is no such directory.
    ///
    /// # Errors
    /// The file system's.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;
}

/// A file in a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    /// Its name; files whose names are not UTF-8 are not ours and not listed.
    pub name: String,
    /// Its length in bytes.
    pub len: u64,
    /// When it was last written, by the wall clock.
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
        // Held open for reading only: a file open for writing would keep an operator from turning
        // the file system read-only.
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
        absent_is_fine(fs::remove_file(path))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // A file may go between being listed and being looked at.
            let about = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                about => about?,
            };
            if about.is_file() {
                let modified = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(DirEntry {
                    name,
                    len: about.len(),
                    modified,
                });
            }
        }
        Ok(found)
    }
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
