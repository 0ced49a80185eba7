//! Health of the disk: what is wrong with it, and which operations are suspended until it recovers.

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::locks::Lock;

/// An error that suspends the disk tier. Requests are served without the suspended operations, and the tier recovers by
/// itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskError {
    /// The kind of error.
    pub kind: DiskErrorKind,
    /// Description of the error, usually the operating system's message.
    pub message: String,
}

/// The kinds of disk errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskErrorKind {
    /// No space or quota is left. Nothing is written, but existing entries are served.
    Full,
    /// Nothing can be written, but existing entries are served.
    ReadOnly,
    /// The disk fails. It is neither written nor read.
    Failing,
    /// An operation did not return in time. The disk is neither written nor read.
    Hung,
    /// The folder cannot be used, or another process has locked it.
    Unavailable,
}

impl DiskErrorKind {
    /// All kinds of disk errors.
    pub const ALL: [Self; 5] = [
        Self::Full,
        Self::ReadOnly,
        Self::Failing,
        Self::Hung,
        Self::Unavailable,
    ];

    /// Returns the kind as one word, for logs and metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::ReadOnly => "read_only",
            Self::Failing => "failing",
            Self::Hung => "hung",
            Self::Unavailable => "unavailable",
        }
    }

    pub(crate) fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Failing,
        }
    }

    /// Returns the operations that this error suspends, as bits: [`READS`], [`WRITES`] or both.
    const fn suspends(self) -> u8 {
        match self {
            Self::Full | Self::ReadOnly => WRITES,
            Self::Failing | Self::Hung | Self::Unavailable => WRITES | READS,
        }
    }
}

const WRITES: u8 = 1;
const READS: u8 = 2;

/// State of the disk tier. Reading it takes one atomic load.
#[derive(Debug)]
pub(crate) struct Health {
    /// Path of the folder, for log messages.
    path: String,
    /// Bits of the operations that are suspended: [`READS`] and [`WRITES`].
    suspended: AtomicU8,
    error: Mutex<Option<DiskError>>,
}

impl Health {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.display().to_string(),
            suspended: AtomicU8::new(0),
            error: Mutex::default(),
        }
    }

    pub(crate) fn may_read(&self) -> bool {
        self.suspended.load(Ordering::Relaxed) & READS == 0
    }

    pub(crate) fn may_write(&self) -> bool {
        self.suspended.load(Ordering::Relaxed) & WRITES == 0
    }

    pub(crate) fn error(&self) -> Option<DiskError> {
        self.error.locked().clone()
    }

    pub(crate) fn raise(&self, kind: DiskErrorKind, message: String) {
        let mut error = self.error.locked();
        let is_same = error.as_ref().is_some_and(|error| error.kind == kind);
        if !is_same {
            // Logged once per kind of error, not once per request.
            let (path, disk_error) = (&self.path, kind.label());
            tracing::warn!(path, disk_error, error = %message, "disk cache {disk_error}; serving without it");
        }
        *error = Some(DiskError { kind, message });
        self.suspended.store(kind.suspends(), Ordering::Relaxed);
    }

    pub(crate) fn clear(&self) {
        if self.error.locked().take().is_some() {
            tracing::info!(path = self.path, "disk cache recovered");
        }
        self.suspended.store(0, Ordering::Relaxed);
    }
}
