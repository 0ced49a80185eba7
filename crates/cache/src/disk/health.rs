//! Health of the disk: what is wrong with it, and which operations are suspended until it recovers.

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::locks::Lock;

/// What is wrong with the disk tier. Requests are served without it meanwhile, and it recovers by itself.
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
    /// The disk does not answer. It is neither written nor read.
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

    const fn stops(self) -> u8 {
        match self {
            Self::Full | Self::ReadOnly => WRITES,
            Self::Failing | Self::Hung | Self::Unavailable => WRITES | READS,
        }
    }
}

const WRITES: u8 = 1;
const READS: u8 = 2;

/// State of the disk, cheap to query.
#[derive(Debug)]
pub(crate) struct Health {
    /// Path of the folder, for log messages.
    path: String,
    stopped: AtomicU8,
    error: Mutex<Option<DiskError>>,
}

impl Health {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.display().to_string(),
            stopped: AtomicU8::new(0),
            error: Mutex::default(),
        }
    }

    pub(crate) fn may_read(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) & READS == 0
    }

    pub(crate) fn may_write(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) & WRITES == 0
    }

    pub(crate) fn error(&self) -> Option<DiskError> {
        self.error.locked().clone()
    }

    pub(crate) fn raise(&self, kind: DiskErrorKind, message: String) {
        let mut error = self.error.locked();
        let known = error.as_ref().is_some_and(|error| error.kind == kind);
        if !known {
            // Once per kind, not once per request.
            let (path, disk_error) = (&self.path, kind.label());
            tracing::warn!(path, disk_error, error = %message, "disk cache {disk_error}; serving without it");
        }
        *error = Some(DiskError { kind, message });
        self.stopped.store(kind.stops(), Ordering::Relaxed);
    }

    pub(crate) fn clear(&self) {
        if self.error.locked().take().is_some() {
            tracing::info!(path = self.path, "disk cache recovered");
        }
        self.stopped.store(0, Ordering::Relaxed);
    }
}
