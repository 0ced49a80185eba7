//! The folder that a path leads to at present: another may take its place while the server runs, by a link that is
//! changed or by a folder that is renamed, as when a new version of a site is put in place.

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

/// A folder by its path, which is looked up again from time to time.
#[derive(Debug)]
pub(super) struct Current {
    path: PathBuf,
    folder: RwLock<Arc<Opened>>,
    opened: Instant,
    /// When the path was looked up last, in milliseconds after `opened`.
    looked_up: AtomicU64,
    /// The folder at the path that could not be opened, so that this is logged once.
    unopened: Mutex<Option<FolderId>>,
}

/// An open folder. While it is open, no other folder can get its inode number.
#[derive(Debug)]
pub(super) struct Opened {
    fd: OwnedFd,
    id: FolderId,
    /// Whether cached files can be opened from the system's memory, without asking a server or another process.
    pub(super) from_memory: bool,
}

/// Device and number of a folder.
type FolderId = (u64, u64);

impl Current {
    /// Opens the folder.
    ///
    /// # Errors
    /// When there is no such folder, or the system cannot resolve paths safely: it is too old (Linux before 5.6) or too
    /// restricted.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // It has to lead to another folder also if that is one above.
        let whole = working_folder().map_or_else(|_| path.to_owned(), |here| here.join(path));
        Ok(Self {
            path: whole,
            folder: RwLock::new(Arc::new(Opened::open(path)?)),
            opened: Instant::now(),
            looked_up: AtomicU64::new(0),
            unopened: Mutex::default(),
        })
    }

    /// Returns the folder as it was when the path was looked up last.
    pub(super) fn folder(&self) -> Arc<Opened> {
        let folder = self.folder.read();
        Arc::clone(&folder.unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the path was last looked up longer ago than [`LOOK_UP_EVERY`], and the system cannot tell from memory that
    /// it still leads to the same folder.
    pub(super) fn is_due(&self) -> bool {
        let last = self.looked_up.load(Ordering::Relaxed);
        self.age() >= last.saturating_add(LOOK_UP_EVERY) && !self.is_same_in_memory()
    }

    /// Whether the path leads to the same folder, as far as the system knows without waiting.
    fn is_same_in_memory(&self) -> bool {
        let folder = self.folder();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let found = openat2(CWD, &self.path, flags, Mode::empty(), ResolveFlags::CACHED);
        let id = found.and_then(fstat).map(|it| (it.st_dev, it.st_ino));
        let is_same = folder.from_memory && id == Ok(folder.id);
        if is_same {
            self.looked_up.store(self.age(), Ordering::Relaxed);
        }
        is_same
    }

    /// Has the path looked up again before it is used.
    #[cfg(test)]
    pub(super) fn set_due(&mut self) {
        self.opened -= Duration::from_millis(LOOK_UP_EVERY);
    }

    /// Has the folder be on a file system that asks a server or another process.
    #[cfg(test)]
    pub(super) fn set_asking(&mut self) {
        let folder = self.folder.get_mut().unwrap();
        Arc::get_mut(folder).unwrap().from_memory = false;
    }

    /// Looks the path up, which may wait for a disk, and opens the folder there if it is another one. Returns whether it
    /// is. A path that leads nowhere changes nothing: the next folder may be on its way.
    pub(super) fn look_up(&self) -> bool {
        self.looked_up.store(self.age(), Ordering::Relaxed);
        let Ok(found) = stat(&self.path) else {
            return false;
        };
        let id = (found.st_dev, found.st_ino);
        if id == self.folder().id {
            return false;
        }
        match Opened::open(&self.path) {
            Ok(opened) => {
                tracing::info!("another folder is at {} now", self.path.display());
                *self.folder.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
                true
            }
            Err(error) => {
                self.tell_unopened(id, &error);
                false
            }
        }
    }

    fn tell_unopened(&self, id: FolderId, error: &io::Error) {
        let mut told = self.unopened.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != Some(id) {
            tracing::warn!(
                "another folder is at {} now and cannot be opened ({error}), so the one before it is served: the sandbox \
                 permits folders that were there at the start; restart the server, and name a folder above it in `sandbox.read`",
                self.path.display()
            );
            *told = Some(id);
        }
    }

    fn age(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Opened {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        let found = fstat(&fd)?;
        // What opening by path alone does not show: whether files below may be opened, and in a confined way.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat2(&fd, ".", flags, Mode::empty(), ResolveFlags::BENEATH) {
            Err(Errno::NOSYS) => Err(io::Error::other(
                "this system cannot confine paths to a folder (openat2 needs Linux 5.6)",
            )),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(Self {
                from_memory: answers_from_memory(&fd),
                id: (found.st_dev, found.st_ino),
                fd,
            }),
        }
    }
}

impl AsFd for Opened {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Milliseconds after which a path is looked up again, so that not every request has to.
const LOOK_UP_EVERY: u64 = Duration::from_secs(1).as_millis() as u64;
