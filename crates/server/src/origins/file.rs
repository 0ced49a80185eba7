//! Files of a folder that are open but have not been read yet, and the identities of their states.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use andon_pixels::Bound;
use andon_pixels::buffers::Buffer;
use bytes::Bytes;
use rustix::fs::{Stat, fstat, sendfile};
use rustix::io::{ReadWriteFlags, preadv2};

use super::blocking::{Blocking, would_block};
use crate::error::Error;

/// The file or folder at a path.
#[derive(Debug)]
pub enum Entry {
    /// A regular file, opened for reading.
    File(OpenFile),
    /// A folder.
    Folder,
}

/// A regular file that is open but has not been read yet.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    /// Whether cached content can be read from the system's memory, without a request to a server or another process.
    from_memory: bool,
    /// Distinguishes this state of the file from any other.
    pub identity: Identity,
    pub(super) changed_ns: i128,
}

/// The state of a file, including the time at which its permissions or names last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    identity: Identity,
    /// Time of the last change of content, permissions or names (ctime), in nanoseconds since 1970. Programs cannot set
    /// it.
    pub(super) changed_ns: i128,
}

/// Distinguishes one state of a file from another, without reading the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Time of the last change of the content (mtime), in nanoseconds since 1970.
    pub modified_ns: i128,
    /// Size of the file in bytes.
    pub size: u64,
    /// The file's inode number.
    pub inode: u64,
    /// Number of the device that the file is on.
    pub device: u64,
}

impl Identity {
    /// Returns the version of the file's content. It is the same for copies with the same modification time and length,
    /// on any machine. It does not depend on inode and device numbers, which differ from one machine, container or
    /// mount to the next.
    #[must_use]
    pub fn version(&self) -> String {
        format!("file {} {}", self.modified_ns, self.size)
    }

    fn of(stat: &Stat) -> Self {
        Self {
            modified_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            inode: stat.st_ino,
            device: stat.st_dev,
        }
    }

    /// Returns the time of the last change of the content, or 1970 for anything earlier.
    #[must_use]
    pub fn modified(&self) -> SystemTime {
        let nanos = u64::try_from(self.modified_ns).unwrap_or(0);
        UNIX_EPOCH + Duration::from_nanos(nanos)
    }
}

impl OpenFile {
    /// Creates an open file from its handle and its state when it was opened.
    pub(super) fn of(file: File, stat: &Stat, from_memory: bool) -> Self {
        let Status {
            identity,
            changed_ns,
        } = Status::of(stat);
        Self {
            file,
            from_memory,
            identity,
            changed_ns,
        }
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// `Limit` if it has more than `limit` bytes; `Changing` if it is written to meanwhile, because half a file must
    /// not become a complete response; `Io`, with `WouldBlock` if the call must not wait and would have to.
    pub fn read(&self, limit: u64, blocking: Blocking) -> Result<Buffer<u8>, Error> {
        self.stretch(0, self.check_size(limit)?, blocking)
    }

    /// Reads up to `most` bytes from offset `start`; fewer only at the end of the file.
    ///
    /// # Errors
    /// `Changing` if the file has changed since it was opened; `Io`, as for [`OpenFile::read`].
    pub fn piece(&self, start: u64, most: usize, blocking: Blocking) -> Result<Bytes, Error> {
        let remaining = self.identity.size.saturating_sub(start);
        let bytes = self.stretch(start, remaining.min(most as u64), blocking)?;
        Ok(Bytes::from_owner(bytes))
    }

    /// Reads exactly `length` bytes from offset `start`.
    fn stretch(&self, start: u64, length: u64, blocking: Blocking) -> Result<Buffer<u8>, Error> {
        blocking.allow(self.from_memory && length <= MOST_AT_ONCE)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        // The buffer is returned only if all of it has been filled.
        let mut bytes = Buffer::overwritten(length);
        match blocking {
            Blocking::Allowed => match self.file.read_exact_at(&mut bytes, start) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(Error::Changing);
                }
                result => result?,
            },
            Blocking::Refused => self.copy_cached(&mut bytes, start)?,
        }
        match self.is_as_it_was()? {
            true => Ok(bytes),
            false => Err(Error::Changing),
        }
    }

    /// Fills `bytes` from the file's offset `start` if all of them are in the system's memory. Fails with `WouldBlock`
    /// otherwise.
    fn copy_cached(&self, bytes: &mut [u8], start: u64) -> Result<(), Error> {
        let mut length = 0;
        while length < bytes.len() {
            let rest = &mut [IoSliceMut::new(&mut bytes[length..])];
            let at = start + length as u64;
            match preadv2(&self.file, rest, at, ReadWriteFlags::NOWAIT) {
                // The end of the file is also left to a thread that may wait: it reports what has changed.
                Ok(0) | Err(_) => return Err(would_block()),
                Ok(more) => length += more,
            }
        }
        Ok(())
    }

    /// Whether a part of the file is in the system's memory, judged by one byte in every [`READ_AHEAD`] bytes.
    pub(crate) fn is_cached(&self, part: Range<u64>) -> bool {
        let last = part.end.checked_sub(1);
        let mut places = part.step_by(READ_AHEAD as usize).chain(last);
        self.from_memory && places.all(|place| self.copy_cached(&mut [0], place).is_ok())
    }

    /// Reads a part of the file so that the system has it in memory. Errors are ignored.
    pub(crate) fn load(&self, part: Range<u64>) {
        let length = usize::try_from(part.end - part.start).unwrap_or(usize::MAX);
        // The next read of this part reports the error.
        let _ = self.piece(part.start, length, Blocking::Allowed);
    }

    /// Sends up to `most` bytes from offset `start` to a socket without copying them, and returns how many the socket
    /// accepted.
    ///
    /// The bytes are read from the file when they are sent: a program that writes to the file in place changes them,
    /// too.
    ///
    /// # Errors
    /// Errors of the system; `UnexpectedEof` if the file has changed since it was opened.
    pub(crate) fn send_to(&self, socket: impl AsFd, start: u64, most: usize) -> io::Result<usize> {
        if !self.is_as_it_was().is_ok_and(|is_same| is_same) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut from = start;
        let count = sendfile(socket, &self.file, Some(&mut from), most)?;
        match count {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }

    /// Returns the status of the file when it was opened, or `None` if the file had changed so shortly before `now`
    /// that a further change could have the same time.
    pub(crate) fn status(&self, now: SystemTime) -> Option<Status> {
        let now = now.duration_since(UNIX_EPOCH).ok()?;
        let age = i128::try_from(now.as_nanos()).ok()? - self.changed_ns;
        (age >= SETTLED.as_nanos().cast_signed()).then_some(Status {
            identity: self.identity,
            changed_ns: self.changed_ns,
        })
    }

    /// Returns the file's size in bytes.
    ///
    /// # Errors
    /// `Limit` if it exceeds `limit`.
    pub fn check_size(&self, limit: u64) -> Result<u64, Error> {
        let Identity { size, .. } = self.identity;
        if size > limit {
            return Err(Error::Pixels(andon_pixels::Error::Limit {
                bound: Bound::SOURCE_BYTES,
                value: size,
                limit,
            }));
        }
        Ok(size)
    }

    /// Whether the file is still in the state in which it was opened.
    fn is_as_it_was(&self) -> Result<bool, Error> {
        let now = fstat(&self.file).map_err(|errno| Error::Io(errno.into()))?;
        Ok(Identity::of(&now) == self.identity)
    }
}

impl Status {
    /// Returns the status that the system reports.
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            identity: Identity::of(stat),
            changed_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

/// Combines seconds and nanoseconds since 1970 to nanoseconds.
fn nanoseconds(seconds: impl Into<i128>, nanoseconds: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + nanoseconds.into()
}

/// Number of bytes that usually enter and leave the system's page cache together.
pub(crate) const READ_AHEAD: u64 = 256 << 10;

/// Minimum time between two changes of a file that gives them different modification times: the coarsest clock of a
/// file system has a resolution of two seconds. Writes through shared memory need not change the times.
pub(crate) const SETTLED: Duration = Duration::from_secs(3);

/// Maximum number of bytes that a thread which must not wait copies out of the system's memory. Copying them takes a
/// fifth of a millisecond.
pub(super) const MOST_AT_ONCE: u64 = 1 << 20;
