//! Records the progress of a long job in a file, so that an interrupted job can be continued. Each finished piece of
//! work adds a line.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};

/// The journal file, which is locked so that only one job uses it at a time.
pub(crate) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or creates the journal, and returns it with the existing lines, each terminated by a line break. An
    /// incomplete last line is removed.
    pub(crate) fn open(path: &Path) -> anyhow::Result<(Self, String)> {
        let name = || path.display().to_string();
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path);
        let mut file = file.with_context(name)?;
        if file.try_lock().is_err() {
            bail!(
                "{} is in use by another job; wait for it, or name another file",
                name()
            );
        }
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(name)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(whole as u64).with_context(name)?;
            file.rewind().with_context(name)?;
        }
        text.truncate(whole);
        let journal = Self {
            path: path.to_owned(),
            file: Mutex::new(file),
        };
        Ok((journal, text))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends the line of a finished piece of work.
    pub(crate) fn add(&self, line: &str) -> anyhow::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let result = file.write_all(format!("{line}\n").as_bytes());
        result.with_context(|| format!("cannot write to {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_broke_off_is_dropped_and_work_is_noted_behind_the_whole_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("done");
        std::fs::write(&path, "a\nb\nhalf a li").unwrap();
        let (journal, lines) = Journal::open(&path).unwrap();
        assert_eq!(lines, "a\nb\n");
        journal.add("c").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\nb\nc\n");
    }

    #[test]
    fn two_jobs_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("done");
        let first = Journal::open(&path).unwrap();
        let second = Journal::open(&path).map(drop).unwrap_err().to_string();
        assert!(second.contains("another job"), "{second}");
        drop(first);
        assert!(Journal::open(&path).is_ok());
    }
}
