//! The folder at a path. Another folder may take its place while the server runs, if a symbolic link is changed or a
//! folder is renamed, as when a new version of a site is deployed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2, stat};
use rustix::io::Errno;

use crate::config::working_folder;
use crate::origins::blocking::answers_from_memory;

/// The folder at a path, which is looked up again from time to time.
#[derive(Debug)]
pub(super) struct FolderAtPath {
    path: PathBuf,
    folder: RwLock<Arc<OpenFolder>>,
    start: Instant,
    /// When the path was last looked up, in milliseconds after `start`.
    last_look_up: AtomicU64,
    /// The folder that is at the path but could not be opened, if there is one. It is stored so that the error is
    /// logged only once.
    failure: Mutex<Option<FolderId>>,
}

/// An open folder. While it is open, no other folder can get its inode number.
#[derive(Debug)]
pub(super) struct OpenFolder {
    fd: OwnedFd,
    id: FolderId,
    /// Whether cached files can be opened from the system's memory, without a request to a server or another process.
    pub(super) from_memory: bool,
}

/// Device number and inode number of a folder.
type FolderId = (u64, u64);

impl FolderAtPath {
    /// Opens the folder.
    ///
    /// # Errors
    /// An error if there is no such folder, or if the system cannot resolve paths safely because it is too old (Linux
    /// before 5.6) or too restricted.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // An absolute path is needed to notice that a folder above has been replaced.
        let whole = working_folder().map_or_else(|_| path.to_owned(), |here| here.join(path));
        Ok(Self {
            path: whole,
            folder: RwLock::new(Arc::new(OpenFolder::open(path)?)),
            start: Instant::now(),
            last_look_up: AtomicU64::new(0),
            failure: Mutex::default(),
        })
    }

    /// Returns the folder that was at the path when it was last looked up.
    pub(super) fn folder(&self) -> Arc<OpenFolder> {
        let folder = self.folder.read();
        Arc::clone(&folder.unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the path has to be looked up again: the last look-up was longer ago than [`LOOK_UP_EVERY`], and the
    /// system cannot tell from memory that the same folder is still there.
    pub(super) fn is_due(&self) -> bool {
        let last = self.last_look_up.load(Ordering::Relaxed);
        self.age() >= last.saturating_add(LOOK_UP_EVERY) && !self.is_same_in_memory()
    }

    /// Whether the same folder is still at the path, as far as the system can tell from memory.
    fn is_same_in_memory(&self) -> bool {
        let folder = self.folder();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder_at_path = openat2(CWD, &self.path, flags, Mode::empty(), ResolveFlags::CACHED);
        let id = folder_at_path
            .and_then(fstat)
            .map(|it| (it.st_dev, it.st_ino));
        let is_same = folder.from_memory && id == Ok(folder.id);
        if is_same {
            self.last_look_up.store(self.age(), Ordering::Relaxed);
        }
        is_same
    }

    /// Makes the next use look the path up again.
    #[cfg(test)]
    pub(super) fn set_due(&mut self) {
        self.start -= Duration::from_millis(LOOK_UP_EVERY);
    }

    /// Treats the folder as being on a file system that depends on a server or another process.
    #[cfg(test)]
    pub(super) fn set_asking(&mut self) {
        let folder = self.folder.get_mut().unwrap();
        Arc::get_mut(folder).unwrap().from_memory = false;
    }

    /// Looks the path up, which may wait for a disk. If another folder is there now, opens it and returns `true`. If
    /// nothing is there, or the folder cannot be opened, the old one stays in use: a new one may be about to take its
    /// place.
    pub(super) fn look_up(&self) -> bool {
        self.last_look_up.store(self.age(), Ordering::Relaxed);
        let Ok(status) = stat(&self.path) else {
            return false;
        };
        let id = (status.st_dev, status.st_ino);
        if id == self.folder().id {
            return false;
        }
        match OpenFolder::open(&self.path) {
            Ok(folder) => {
                tracing::info!("another folder is at {} now", self.path.display());
                *self.folder.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(folder);
                true
            }
            Err(error) => {
                self.log_failure(id, &error);
                false
            }
        }
    }

    fn log_failure(&self, id: FolderId, error: &io::Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if *failure != Some(id) {
            tracing::warn!(
                "another folder is at {} now and cannot be opened ({error}), so the one before it is served: the sandbox \
                 permits folders that were there at the start; restart the server, and name a folder above it in `sandbox.read`",
                self.path.display()
            );
            *failure = Some(id);
        }
    }

    fn age(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl OpenFolder {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        let status = fstat(&fd)?;
        // Opening with `O_PATH` does not show whether files below may be opened, and in a confined way.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat2(&fd, ".", flags, Mode::empty(), ResolveFlags::BENEATH) {
            Err(Errno::NOSYS) => Err(io::Error::other(
                "this system cannot confine paths to a folder (openat2 needs Linux 5.6)",
            )),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(Self {
                from_memory: answers_from_memory(&fd),
                id: (status.st_dev, status.st_ino),
                fd,
            }),
        }
    }
}

impl AsFd for OpenFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Minimum time in milliseconds between two look-ups of a root folder's path, so that not every request looks it up.
const LOOK_UP_EVERY: u64 = Duration::from_secs(1).as_millis() as u64;
