//! The bytes of a font file: in memory, or in a larger file from which they are read when a text first needs them.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A font file.
pub(super) struct FontFile {
    place: Place,
    /// Number of readable fonts in the file.
    faces: AtomicUsize,
}

enum Place {
    Memory(Arc<Vec<u8>>),
    /// A part of a file, which must not change.
    FilePart {
        file: Arc<File>,
        at: u64,
        length: usize,
        read: OnceLock<Vec<u8>>,
    },
}

impl FontFile {
    pub(super) fn in_memory(bytes: Vec<u8>) -> Self {
        Self::at(Place::Memory(Arc::new(bytes)))
    }

    /// Creates a font file from `length` bytes of `file`, starting at the byte `at`.
    pub(super) fn part_of_file(file: Arc<File>, at: u64, length: usize) -> Self {
        Self::at(Place::FilePart {
            file,
            at,
            length,
            read: OnceLock::new(),
        })
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            faces: AtomicUsize::new(0),
        }
    }

    pub(super) fn count_face(&self) {
        self.faces.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn faces(&self) -> usize {
        self.faces.load(Ordering::Relaxed)
    }

    /// Length in bytes.
    pub(super) fn length(&self) -> u64 {
        match &self.place {
            Place::Memory(bytes) => bytes.len() as u64,
            Place::FilePart { length, .. } => *length as u64,
        }
    }

    /// Returns the bytes of the font file. If they are not in memory, reads them from the larger file without caching
    /// them.
    pub(super) fn peek(&self) -> Peeked {
        Peeked(match &self.place {
            Place::Memory(bytes) => bytes.clone(),
            Place::FilePart {
                file, at, length, ..
            } => Arc::new(read(file, *at, *length)),
        })
    }
}

/// Reads a part of a file. Returns no bytes if that fails; the font then has no glyphs.
fn read(file: &File, at: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    match file.read_exact_at(&mut bytes, at) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

impl AsRef<[u8]> for FontFile {
    fn as_ref(&self) -> &[u8] {
        match &self.place {
            Place::Memory(bytes) => bytes,
            Place::FilePart {
                file,
                at,
                length,
                read: kept,
            } => kept.get_or_init(|| read(file, *at, *length)),
        }
    }
}

impl fmt::Debug for FontFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.length())
    }
}

/// The bytes of a font file, in memory until this is dropped.
pub(super) struct Peeked(Arc<Vec<u8>>);

impl Peeked {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Peeked {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
