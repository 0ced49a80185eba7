//! Confines file access to one folder. The kernel refuses to resolve a path that leaves it (`openat2` with
//! `RESOLVE_BENEATH`), whether by `..`, by an absolute path or by a symbolic link. Links that stay inside are followed,
//! and links that lead out only if the configuration allows it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use super::blocking::{Blocking, would_block};
use super::file::{Entry, OpenFile, Status};
use crate::error::{Error, Withheld};

mod current;

use current::{FolderAtPath, OpenFolder};

/// A folder that paths below it cannot leave.
#[derive(Debug)]
pub struct Root {
    folder: FolderAtPath,
    /// Whether symbolic links to outside the folder are followed.
    outside_links: bool,
}

impl Root {
    /// Opens the folder at `path`. If another folder takes its place later, files are opened there: within a second,
    /// and at once if a file is missing in the old one.
    ///
    /// # Errors
    /// An error if there is no such folder, or if the system cannot resolve paths safely because it is too old (Linux
    /// before 5.6) or too restricted.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: FolderAtPath::open(path)?,
            outside_links: false,
        })
    }

    /// Returns this folder, configured to follow symbolic links to outside it if `follow`.
    #[must_use]
    pub fn following_outside_links(self, follow: bool) -> Self {
        Self {
            outside_links: follow,
            ..self
        }
    }

    /// Opens the file or folder at `path` below this folder. Leading slashes are ignored.
    ///
    /// # Errors
    /// `Missing` if there is no such file or folder, and for paths outside the folder; `Withheld` for a link that leads
    /// outside; `Forbidden` if this process has no permission; `Io` for other errors of the system, with `WouldBlock`
    /// if the call must not wait and would have to.
    pub fn entry(&self, path: &str, blocking: Blocking) -> Result<Entry, Error> {
        if self.folder.is_due() {
            // Looking up a path may wait for a disk.
            blocking.allow(false)?;
            self.folder.look_up();
        }
        match self.entry_of(&self.folder.folder(), path, blocking) {
            Err(Error::Missing { .. })
                if blocking == Blocking::Allowed && self.folder.look_up() =>
            {
                self.entry_of(&self.folder.folder(), path, blocking)
            }
            result => result,
        }
    }

    /// Opens the file or folder at `path` below `folder`. The errors are those of [`Root::entry`].
    fn entry_of(
        &self,
        folder: &OpenFolder,
        path: &str,
        blocking: Blocking,
    ) -> Result<Entry, Error> {
        let relative = match path.trim_start_matches('/') {
            "" => ".",
            relative => relative,
        };
        let missing = || Error::Missing {
            path: path.to_owned(),
        };
        let in_memory = match blocking {
            Blocking::Allowed => ResolveFlags::empty(),
            Blocking::Refused => IN_MEMORY,
        };
        blocking.allow(folder.from_memory)?;
        let fd = self
            .resolve(folder, Path::new(relative), in_memory)
            .map_err(|errno| match errno {
                // A thread that may wait will find out the actual error.
                _ if blocking == Blocking::Refused => would_block(),
                // The path leaves the folder without a `..` of its own, so by a symbolic link.
                Errno::XDEV if !climbs(relative) => Error::Withheld {
                    path: path.to_owned(),
                    why: Withheld::OutsideLink,
                },
                // There is no such file, a file is in the place of a folder, the path leaves the folder, links form a
                // circle, the name is not possible, or it is a socket.
                Errno::NOENT
                | Errno::NOTDIR
                | Errno::XDEV
                | Errno::LOOP
                | Errno::NAMETOOLONG
                | Errno::INVAL
                | Errno::NXIO => missing(),
                Errno::ACCESS | Errno::PERM => Error::Forbidden {
                    path: path.to_owned(),
                },
                other => Error::Io(other.into()),
            })?;
        let stat = fstat(&fd).map_err(|errno| Error::Io(errno.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let file = OpenFile::of(fd.into(), &stat, folder.from_memory);
                Ok(Entry::File(file))
            }
            FileType::Directory => Ok(Entry::Folder),
            _ => Err(missing()),
        }
    }

    /// Whether the file at `path` still has this status, as far as the system can tell from memory. Permissions are
    /// part of the status, so the file need not be opened for reading, which would take longer.
    pub(crate) fn is_still(&self, path: &str, status: &Status) -> bool {
        if self.folder.is_due() {
            return false;
        }
        let relative = Path::new(path.trim_start_matches('/'));
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let file = self.open_at(&self.folder.folder(), relative, flags, IN_MEMORY);
        file.and_then(fstat)
            .is_ok_and(|now| Status::of(&now) == *status)
    }

    /// Returns the names of up to `most` files and folders in the folder `path`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn names(&self, path: &str, most: usize) -> io::Result<Vec<String>> {
        let entries = self.entries(path, most)?.into_iter();
        Ok(entries.map(|(name, _)| name).collect())
    }

    /// Returns the names of up to `most` files and folders in the folder `path`, with their types as far as the
    /// folder's entries state them. Symbolic links are not followed, and names that are not UTF-8 are left out.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn entries(&self, path: &str, most: usize) -> io::Result<Vec<(String, FileType)>> {
        let path = if path.is_empty() { "." } else { path };
        self.folder.look_up();
        let root = self.folder.folder();
        let folder = Dir::new(self.resolve(&root, Path::new(path), ResolveFlags::empty())?)?;
        let mut entries = Vec::new();
        for entry in folder.take(most) {
            let entry = entry?;
            if let Ok(name) = entry.file_name().to_str() {
                entries.push((name.to_owned(), entry.file_type()));
            }
        }
        Ok(entries)
    }

    fn resolve(
        &self,
        folder: &OpenFolder,
        path: &Path,
        extra: ResolveFlags,
    ) -> rustix::io::Result<OwnedFd> {
        // NONBLOCK: opening a named pipe must not wait for its writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        self.open_at(folder, path, flags, extra)
    }

    fn open_at(
        &self,
        folder: &OpenFolder,
        path: &Path,
        flags: OFlags,
        extra: ResolveFlags,
    ) -> rustix::io::Result<OwnedFd> {
        let confined = match self.outside_links {
            true => ResolveFlags::empty(),
            false => ResolveFlags::BENEATH,
        };
        // If the kernel does not confine the path, only links may lead out.
        if self.outside_links && (path.is_absolute() || climbs(path)) {
            return Err(Errno::XDEV);
        }
        let mut tries = 0;
        loop {
            let result = openat2(
                folder.as_fd(),
                path,
                flags,
                Mode::empty(),
                confined | extra | ResolveFlags::NO_MAGICLINKS,
            );
            // The kernel asks for another attempt if a folder was renamed during the look-up.
            match result {
                Err(Errno::AGAIN | Errno::INTR) if extra.is_empty() && tries < MOST_TRIES => {
                    tries += 1;
                }
                other => return other,
            }
        }
    }
}

/// Whether a path contains `..`.
fn climbs(path: impl AsRef<Path>) -> bool {
    path.as_ref()
        .components()
        .any(|part| part == Component::ParentDir)
}

const MOST_TRIES: usize = 16;

/// Resolve flags for calls that must not wait: only names that the kernel has in memory (since Linux 5.12), and none on
/// a file system other than the folder's, which may depend on a server or another process.
const IN_MEMORY: ResolveFlags = ResolveFlags::CACHED.union(ResolveFlags::NO_XDEV);

#[cfg(test)]
mod tests;
