//! Whether a call may wait for a disk.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::fstatfs;

use crate::error::Error;

/// Whether a call may wait for a disk. A call that may not wait is answered from the system's memory, or fails with
/// `WouldBlock` and has to be repeated on a thread that may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// The call may wait.
    Allowed,
    /// The call must not wait.
    Refused,
}

impl Blocking {
    /// Succeeds if the call may wait, or if it can be answered at once (`at_once`).
    ///
    /// # Errors
    /// `Io(WouldBlock)` otherwise.
    pub(crate) fn allow(self, at_once: bool) -> Result<(), Error> {
        match self {
            Self::Refused if !at_once => Err(would_block()),
            _ => Ok(()),
        }
    }

    /// Whether this is the error of a call that must not wait but would have to.
    pub(crate) fn ends_with(self, error: &Error) -> bool {
        let would_block = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        self == Self::Refused && matches!(error.root(), Error::Io(error) if would_block(error))
    }
}

/// Returns the error of a call that must not wait but would have to.
pub(super) fn would_block() -> Error {
    Error::Io(io::ErrorKind::WouldBlock.into())
}

/// Whether the file system of this folder answers from memory: once the names of files are cached, opening them and
/// reading their status needs neither a server nor another process. Network file systems and those of other processes
/// send requests and may wait for them, and overlay file systems may have such layers.
pub(super) fn answers_from_memory(folder: impl AsFd) -> bool {
    // Magic numbers have 32 bits, but the field has the width of a word.
    fstatfs(folder).is_ok_and(|status| LOCAL.contains(&(status.f_type as u32)))
}

/// Magic numbers of local file systems, from Linux's `magic.h` or, where it lacks one, from the file system's own
/// source.
const LOCAL: &[u32] = &[
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0xf2f5_2010, // F2FS
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x7371_7368, // squashfs
    0xe0f5_e1e2, // EROFS
];
