//! Files of a folder, opened but not read yet, and what tells their states apart.

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

/// The file or folder that a path names.
#[derive(Debug)]
pub enum Entry {
    /// A regular file, opened for reading.
    File(OpenFile),
    /// A folder.
    Folder,
}

/// A regular file, opened but not read yet.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    /// Whether cached content can be read from the system's memory, without asking a server or another process.
    from_memory: bool,
    /// Tells this state of the file from any other.
    pub identity: Identity,
    pub(super) changed_ns: i128,
}

/// The state of a file, including its permissions and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    identity: Identity,
    /// Time of the last change of content, permissions or names (ctime), in nanoseconds since 1970. No program can set
    /// it.
    pub(super) changed_ns: i128,
}

/// Tells one state of a file from another, without reading the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Time of the last change of the content (mtime), in nanoseconds since 1970.
    pub modified_ns: i128,
    /// Size of the file in bytes.
    pub size: u64,
    /// The file's number on its device.
    pub inode: u64,
    /// The device's number.
    pub device: u64,
}

impl Identity {
    /// Returns the version of the file's content: the same for copies with the same date and length, on any machine. It
    /// does not depend on the numbers of file and device, which differ from one machine, container or mount to the
    /// next.
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
    /// Describes a file that was opened in this state.
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
    /// not become a whole answer; `Io`, with `WouldBlock` where the call must not wait and would have to.
    pub fn read(&self, limit: u64, blocking: Blocking) -> Result<Buffer<u8>, Error> {
        self.stretch(0, self.check_size(limit)?, blocking)
    }

    /// Reads `most` bytes from `start` on, or as many as there are.
    ///
    /// # Errors
    /// `Changing` if the file has changed since it was opened; `Io`, as for [`OpenFile::read`].
    pub fn piece(&self, start: u64, most: usize, blocking: Blocking) -> Result<Bytes, Error> {
        let left = self.identity.size.saturating_sub(start);
        let bytes = self.stretch(start, left.min(most as u64), blocking)?;
        Ok(Bytes::from_owner(bytes))
    }

    fn stretch(&self, start: u64, length: u64, blocking: Blocking) -> Result<Buffer<u8>, Error> {
        blocking.allow(self.from_memory && length <= MOST_AT_ONCE)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        // All of it is read, or none of it returned.
        let mut bytes = Buffer::overwritten(length);
        match blocking {
            Blocking::Allowed => match self.file.read_exact_at(&mut bytes, start) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(Error::Changing);
                }
                read => read?,
            },
            Blocking::Refused => self.copy_cached(&mut bytes, start)?,
        }
        match self.is_as_it_was()? {
            true => Ok(bytes),
            false => Err(Error::Changing),
        }
    }

    /// Fills `bytes` from the file's position `start`, if all of them are in the system's memory. Fails with
    /// `WouldBlock` otherwise.
    fn copy_cached(&self, bytes: &mut [u8], start: u64) -> Result<(), Error> {
        let mut copied = 0;
        while copied < bytes.len() {
            let rest = &mut [IoSliceMut::new(&mut bytes[copied..])];
            let at = start + copied as u64;
            match preadv2(&self.file, rest, at, ReadWriteFlags::NOWAIT) {
                // The end, too, is for a thread that may wait: it says what has changed.
                Ok(0) | Err(_) => return Err(would_block()),
                Ok(more) => copied += more,
            }
        }
        Ok(())
    }

    /// Whether a part of the file is in the system's memory, judged by one byte of every stretch of [`READ_AHEAD`]
    /// bytes.
    pub(crate) fn is_cached(&self, part: Range<u64>) -> bool {
        let last = part.end.checked_sub(1);
        let mut places = part.step_by(READ_AHEAD as usize).chain(last);
        self.from_memory && places.all(|place| self.copy_cached(&mut [0], place).is_ok())
    }

    /// Reads a part of the file so that the system has it in memory. Errors are left to the next reader.
    pub(crate) fn load(&self, part: Range<u64>) {
        let length = usize::try_from(part.end - part.start).unwrap_or(usize::MAX);
        // Whoever needs it is told what is wrong with it.
        let _ = self.piece(part.start, length, Blocking::Allowed);
    }

    /// Sends up to `most` bytes from `start` on to a socket without copying them, and returns how many it took.
    ///
    /// The bytes are those that the file holds when they are sent: a program that writes to it in place changes them,
    /// too.
    ///
    /// # Errors
    /// Those of the system; `UnexpectedEof` if the file has changed since it was opened.
    pub(crate) fn send_to(&self, socket: impl AsFd, start: u64, most: usize) -> io::Result<usize> {
        if !self.is_as_it_was().is_ok_and(|same| same) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut from = start;
        let sent = sendfile(socket, &self.file, Some(&mut from), most)?;
        match sent {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            sent => Ok(sent),
        }
    }

    /// Returns the state of the file when it was opened, or `None` if it had changed so shortly before `now` that a
    /// further change could have the same time.
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
    /// `Limit` if it is more than `limit`.
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

    fn is_as_it_was(&self) -> Result<bool, Error> {
        let now = fstat(&self.file).map_err(|errno| Error::Io(errno.into()))?;
        Ok(Identity::of(&now) == self.identity)
    }
}

impl Status {
    /// Returns the state that the system reports.
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            identity: Identity::of(stat),
            changed_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

/// Nanoseconds since 1970.
fn nanoseconds(seconds: impl Into<i128>, nanoseconds: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + nanoseconds.into()
}

/// Number of bytes that usually enter and leave the system's page cache together.
pub(crate) const READ_AHEAD: u64 = 256 << 10;

/// Two changes of a file that are at least this far apart have different times: the coarsest clock of a file system has
/// a resolution of two seconds. Writes through shared memory need not change the times.
pub(crate) const SETTLED: Duration = Duration::from_secs(3);

/// Maximum bytes that a thread which must not wait copies out of the system's memory: it takes a fifth of a
/// millisecond.
pub(super) const MOST_AT_ONCE: u64 = 1 << 20;
