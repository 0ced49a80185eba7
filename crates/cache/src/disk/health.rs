//! The disk's health: what is wrong with it, and what is left alone until it is well again.

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::locks::Lock;

/// What is wrong with the disk tier. Serving goes on without it, and it heals by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskError {
    /// In one word.
    pub kind: DiskErrorKind,
    /// What the system said.
    pub message: String,
}

/// The kinds of disk errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskErrorKind {
    /// No space or quota left: nothing is written, what is there is served.
    Full,
    /// Nothing can be written, what is there is served.
    ReadOnly,
    /// The disk fails: neither written nor read.
    Failing,
    /// The disk does not answer: neither written nor read.
    Hung,
    /// The folder cannot be used, or another process holds it.
    Unavailable,
}

impl DiskErrorKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Full,
        Self::ReadOnly,
        Self::Failing,
        Self::Hung,
        Self::Unavailable,
    ];

    /// One word, for logs and metrics.
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

/// The state, cheap to ask.
#[derive(Debug)]
pub(crate) struct Health {
    /// The folder, for the log.
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
