//! Writes files atomically: if a file cannot be written in full, an older file of the same name stays unchanged.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Context;

use super::outputs::Existing;

/// Writes a file atomically, and creates its parent folders. If that fails, an existing file stays unchanged, and the
/// temporary file is removed.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".part");
        let unfinished = Path::new(&unfinished);
        let mut file = locked(unfinished)?;
        let result = emptied(&file)
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| std::fs::rename(unfinished, path));
        if result.is_err() {
            // Only the first error is reported.
            let _ = std::fs::remove_file(unfinished);
        }
        result
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Truncates a temporary file, which contains data if it is left over from a killed job.
fn emptied(file: &File) -> io::Result<()> {
    match file.metadata()?.len() {
        0 => Ok(()),
        _ => file.set_len(0),
    }
}

/// Opens or creates a file with an exclusive lock, so that only this job writes it. A file that a killed job has left
/// behind is reused.
fn locked(path: &Path) -> io::Result<File> {
    let file = (File::options().write(true).create(true).truncate(false)).open(path)?;
    let metadata = file.metadata()?;
    let identity = Existing::File(metadata.dev(), metadata.ino());
    // The other job may have renamed the file since it was opened here.
    match file.try_lock().is_ok() && Existing::file(path) == Some(identity) {
        true => Ok(file),
        false => Err(io::Error::other("another job is writing it")),
    }
}
