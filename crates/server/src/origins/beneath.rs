//! Confines file access to one folder: the kernel itself refuses to resolve a path that leaves it (`openat2` with
//! `RESOLVE_BENEATH`), whether by `..`, by an absolute path or by a symbolic link. Links that stay inside are followed,
//! and links that lead out only where the configuration allows it.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use andon_pixels::Bound;
use andon_pixels::buffers::Buffer;
use bytes::Bytes;
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2, sendfile};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::blocking::{Blocking, answers_from_memory, would_block};
use crate::error::{Error, Withheld};

/// A folder that is opened once and that no path below it can leave.
#[derive(Debug)]
pub struct Root {
    folder: OwnedFd,
    outside_links: bool,
    /// Whether cached files can be opened from the system's memory, without asking a server or another process.
    from_memory: bool,
}

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
    changed_ns: i128,
}

/// The state of a file, including its permissions and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    identity: Identity,
    /// Time of the last change of content, permissions or names (ctime), in nanoseconds since 1970. No program can set
    /// it.
    changed_ns: i128,
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
}

impl Root {
    /// Opens the folder.
    ///
    /// # Errors
    /// When there is no such folder, or the system cannot resolve paths safely: it is too old (Linux before 5.6) or too
    /// restricted.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = rustix::fs::open(
            path,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let root = Self {
            from_memory: answers_from_memory(&folder),
            folder,
            outside_links: false,
        };
        match root.resolve(Path::new("."), ResolveFlags::empty()) {
            Err(Errno::NOSYS) => Err(io::Error::other(
                "this system cannot confine paths to a folder (openat2 needs Linux 5.6)",
            )),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(root),
        }
    }

    /// Returns this folder, set to follow symbolic links wherever they lead if `follow`.
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
    /// `Missing` if there is none, also for paths outside the folder; `Withheld` for a link that leads outside;
    /// `Forbidden`; `Io`, with `WouldBlock` where the call must not wait and would have to.
    pub fn entry(&self, path: &str, blocking: Blocking) -> Result<Entry, Error> {
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
        blocking.allow(self.from_memory)?;
        let fd = self
            .resolve(Path::new(relative), in_memory)
            .map_err(|errno| match errno {
                // Whatever it is, a thread that may wait finds out.
                _ if blocking == Blocking::Refused => would_block(),
                // Out of the folder, without a `..` of the path's own: by a symbolic link.
                Errno::XDEV if !climbs(relative) => Error::Withheld {
                    path: path.to_owned(),
                    why: Withheld::OutsideLink,
                },
                // No such file; a file where a folder is needed; out of the folder; a circle of
                // links; a name that cannot be; a socket.
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
        let Status {
            identity,
            changed_ns,
        } = Status::of(&stat);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Entry::File(OpenFile {
                file: File::from(fd),
                from_memory: self.from_memory,
                identity,
                changed_ns,
            })),
            FileType::Directory => Ok(Entry::Folder),
            _ => Err(missing()),
        }
    }

    /// Whether the file at `path` is still in this state, as far as the system can tell from memory. Permissions are
    /// part of the state, so the file need not be opened for reading, which takes longer.
    pub(crate) fn is_still(&self, path: &str, status: &Status) -> bool {
        let relative = Path::new(path.trim_start_matches('/'));
        let found = self.open_at(relative, OFlags::PATH | OFlags::CLOEXEC, IN_MEMORY);
        found
            .and_then(fstat)
            .is_ok_and(|now| Status::of(&now) == *status)
    }

    /// Returns the names of up to `most` files and folders in the folder `path`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn names(&self, path: &str, most: usize) -> io::Result<Vec<String>> {
        let path = if path.is_empty() { "." } else { path };
        let folder = Dir::new(self.resolve(Path::new(path), ResolveFlags::empty())?)?;
        let mut names = Vec::new();
        for entry in folder.take(most) {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn resolve(&self, path: &Path, further: ResolveFlags) -> rustix::io::Result<OwnedFd> {
        // NONBLOCK: opening a named pipe must not wait for its writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        self.open_at(path, flags, further)
    }

    fn open_at(
        &self,
        path: &Path,
        flags: OFlags,
        further: ResolveFlags,
    ) -> rustix::io::Result<OwnedFd> {
        let confined = match self.outside_links {
            true => ResolveFlags::empty(),
            false => ResolveFlags::BENEATH,
        };
        // Without the kernel's confinement nothing but links may lead out.
        if self.outside_links && (path.is_absolute() || climbs(path)) {
            return Err(Errno::XDEV);
        }
        let mut tries = 0;
        loop {
            let opened = openat2(
                self.folder.as_fd(),
                path,
                flags,
                Mode::empty(),
                confined | further | ResolveFlags::NO_MAGICLINKS,
            );
            // The kernel asks to try again when a folder was renamed while it looked.
            match opened {
                Err(Errno::AGAIN | Errno::INTR) if further.is_empty() && tries < MOST_TRIES => {
                    tries += 1;
                }
                other => return other,
            }
        }
    }
}

impl OpenFile {
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

impl Identity {
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

impl Status {
    fn of(stat: &Stat) -> Self {
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

/// Whether a path contains `..`.
fn climbs(path: impl AsRef<Path>) -> bool {
    path.as_ref()
        .components()
        .any(|part| part == Component::ParentDir)
}

const MOST_TRIES: usize = 16;

/// Number of bytes that usually enter and leave the system's page cache together.
pub(crate) const READ_AHEAD: u64 = 256 << 10;

/// Resolve flags for calls that must not wait: only names that the kernel knows without reading the disk (since Linux
/// 5.12), and none on a file system other than the folder's, which may have to ask a server or another process.
const IN_MEMORY: ResolveFlags = ResolveFlags::CACHED.union(ResolveFlags::NO_XDEV);

/// Two changes of a file that are at least this far apart have different times: the coarsest clock of a file system has
/// a resolution of two seconds. Writes through shared memory need not change the times.
pub(crate) const SETTLED: Duration = Duration::from_secs(3);

/// Maximum bytes that a thread which must not wait copies out of the system's memory: it takes a fifth of a
/// millisecond.
const MOST_AT_ONCE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Creates a folder `root` with `a.jpg` and `inside/b.jpg`, next to a file `secret` that must not be readable
    /// through it.
    fn house() -> (tempfile::TempDir, Root) {
        let house = tempfile::tempdir().unwrap();
        let root = house.path().join("root");
        std::fs::create_dir_all(root.join("inside")).unwrap();
        std::fs::write(root.join("a.jpg"), "a").unwrap();
        std::fs::write(root.join("inside/b.jpg"), "b").unwrap();
        std::fs::write(house.path().join("secret"), "secret").unwrap();
        let opened = Root::open(&root).unwrap();
        (house, opened)
    }

    fn text(root: &Root, path: &str) -> Result<String, Error> {
        match root.entry(path, Blocking::Allowed)? {
            Entry::File(file) => {
                let bytes = file.read(1 << 20, Blocking::Allowed)?;
                Ok(String::from_utf8(bytes.into_vec()).unwrap())
            }
            Entry::Folder => Ok("folder".to_owned()),
        }
    }

    #[test]
    fn the_same_file_by_a_link_out_of_the_folder_is_not_there_any_more() {
        let (house, root) = house();
        let Entry::File(opened) = root.entry("inside/b.jpg", Blocking::Allowed).unwrap() else {
            panic!("a file");
        };
        let soon = SystemTime::now() + SETTLED;
        let status = opened.status(soon).expect("it is as old");
        let (inside, outside) = (
            house.path().join("root/inside"),
            house.path().join("outside"),
        );
        std::fs::rename(&inside, &outside).unwrap();
        symlink(&outside, &inside).unwrap();
        let by_link = rustix::fs::stat(inside.join("b.jpg")).unwrap();
        assert_eq!(Status::of(&by_link), status);
        assert!(!root.is_still("inside/b.jpg", &status));
        let root = root.following_outside_links(true);
        if root.entry("inside/b.jpg", Blocking::Refused).is_ok() {
            assert!(root.is_still("inside/b.jpg", &status));
        }
    }

    #[test]
    fn a_file_is_in_the_same_state_until_it_or_its_rights_are_changed() {
        let change: [&dyn Fn(&Path); 5] = [
            &|file| std::fs::write(file, "A").unwrap(),
            &|file| std::fs::set_permissions(file, PermissionsExt::from_mode(0o200)).unwrap(),
            &|file| std::fs::remove_file(file).unwrap(),
            &|file| std::fs::rename(file.with_file_name("inside/b.jpg"), file).unwrap(),
            &|file| {
                std::fs::remove_file(file).unwrap();
                std::fs::create_dir(file).unwrap();
            },
        ];
        for change in change {
            let (house, root) = house();
            let file = house.path().join("root/a.jpg");
            let Entry::File(opened) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
                panic!("a file");
            };
            let soon = SystemTime::now() + SETTLED;
            assert_eq!(opened.status(soon - 2 * SETTLED), None);
            let status = opened.status(soon).expect("it is as old");
            // Not every file system can tell what it has in memory.
            if root.entry("/a.jpg", Blocking::Refused).is_ok() {
                assert!(root.is_still("/a.jpg", &status));
            }
            // The system's clock for files ticks every few milliseconds.
            let ticked = || {
                let beside = file.with_file_name("tick");
                std::fs::write(&beside, "").unwrap();
                let Ok(Entry::File(beside)) = root.entry("tick", Blocking::Allowed) else {
                    panic!("a file");
                };
                beside.changed_ns > status.changed_ns
            };
            while !ticked() {}
            change(&file);
            assert!(!root.is_still("/a.jpg", &status));
        }
    }

    #[test]
    fn files_inside_are_read() {
        let (_house, root) = house();
        for (path, expected) in [
            ("a.jpg", "a"),
            ("/a.jpg", "a"),
            ("inside/b.jpg", "b"),
            ("inside/../a.jpg", "a"),
            ("inside", "folder"),
            ("", "folder"),
        ] {
            assert_eq!(text(&root, path).unwrap(), expected, "{path}");
        }
    }

    #[test]
    fn nothing_outside_is_reached_by_any_spelling() {
        let (house, root) = house();
        let absolute = house.path().join("secret").display().to_string();
        for path in [
            "../secret",
            "inside/../../secret",
            "..\\secret",
            "a.jpg\0.png",
            &absolute,
            &"x".repeat(5000),
        ] {
            let result = text(&root, path);
            assert!(
                matches!(result, Err(Error::Missing { .. })),
                "{path}: {result:?}"
            );
        }
    }

    #[test]
    fn links_that_lead_out_are_named_and_followed_only_where_that_is_allowed() {
        let (house, root) = house();
        let inside = house.path().join("root");
        symlink("../secret", inside.join("relative-link")).unwrap();
        symlink(house.path().join("secret"), inside.join("absolute-link")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("/proc/self/root", inside.join("magic")).unwrap();
        for path in [
            "relative-link",
            "absolute-link",
            "up/secret",
            "magic/etc/hostname",
        ] {
            let result = text(&root, path);
            assert!(
                matches!(
                    result,
                    Err(Error::Withheld {
                        why: Withheld::OutsideLink,
                        ..
                    })
                ),
                "{path}: {result:?}"
            );
        }
        let root = root.following_outside_links(true);
        for path in ["relative-link", "absolute-link", "up/secret"] {
            assert_eq!(text(&root, path).unwrap(), "secret", "{path}");
        }
        let absolute = house.path().join("secret").display().to_string();
        for path in [
            "../secret",
            "inside/../../secret",
            "magic/etc/hostname",
            &absolute,
        ] {
            assert!(text(&root, path).is_err(), "{path}");
        }
    }

    #[test]
    fn names_are_those_of_a_folder_up_to_a_number() {
        let (_house, root) = house();
        let mut names = root.names("", 100).unwrap();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        assert_eq!(names, ["a.jpg", "inside"]);
        assert!(root.names("inside", 1).unwrap().len() <= 1);
        assert!(root.names("..", 100).is_err());
    }

    #[test]
    fn links_that_stay_inside_are_followed() {
        let (house, root) = house();
        symlink("inside/b.jpg", house.path().join("root/link")).unwrap();
        assert_eq!(text(&root, "link").unwrap(), "b");
    }

    #[test]
    fn a_pipe_is_no_file_and_nobody_waits_for_it() {
        let (house, root) = house();
        let pipe = house.path().join("root/pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(matches!(text(&root, "pipe"), Err(Error::Missing { .. })));
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let (_house, root) = house();
        let Entry::File(file) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
            panic!("a file")
        };
        assert!(matches!(
            file.read(0, Blocking::Allowed),
            Err(Error::Pixels(andon_pixels::Error::Limit {
                value: 1,
                limit: 0,
                ..
            }))
        ));
    }

    #[test]
    fn a_file_that_changes_between_opening_and_reading_is_not_served() {
        let (house, root) = house();
        let Entry::File(file) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
            panic!("a file")
        };
        std::fs::write(house.path().join("root/a.jpg"), "longer").unwrap();
        assert!(matches!(
            file.read(1 << 20, Blocking::Allowed),
            Err(Error::Changing)
        ));
    }

    /// Reads `path` as a thread that must not wait does; `None` where it would have to wait.
    fn at_once(root: &Root, path: &str) -> Option<Result<Buffer<u8>, Error>> {
        let read = root
            .entry(path, Blocking::Refused)
            .and_then(|entry| match entry {
                Entry::File(file) => file.read(MOST_AT_ONCE * 2, Blocking::Refused),
                Entry::Folder => Ok(b"folder".to_vec().into()),
            });
        match read {
            Err(error) if Blocking::Refused.ends_with(&error) => None,
            read => Some(read),
        }
    }

    #[test]
    fn what_is_in_memory_is_the_same_without_waiting() {
        let (house, root) = house();
        let inside = house.path().join("root");
        let most: Vec<_> = (0..MOST_AT_ONCE).map(|at| (at % 251) as u8).collect();
        std::fs::write(inside.join("most"), &most).unwrap();
        std::fs::write(inside.join("more"), [most, vec![1]].concat()).unwrap();
        symlink("../secret", inside.join("out")).unwrap();
        for path in ["a.jpg", "inside/b.jpg", "inside", "most"] {
            let waited = match root.entry(path, Blocking::Allowed).unwrap() {
                Entry::File(file) => file.read(MOST_AT_ONCE, Blocking::Allowed).unwrap(),
                Entry::Folder => b"folder".to_vec().into(),
            };
            // Not every file system and kernel can tell.
            if let Some(read) = at_once(&root, path) {
                assert!(read.unwrap() == waited, "{path}");
            }
        }
        for path in ["more", "missing", "out", "../secret", "/proc/self/status"] {
            assert!(at_once(&root, path).is_none(), "{path}");
        }
        let asks_somebody = Root {
            from_memory: false,
            ..root
        };
        assert!(at_once(&asks_somebody, "a.jpg").is_none());
    }

    #[test]
    fn a_file_that_became_shorter_is_not_served_without_waiting_either() {
        let (house, root) = house();
        let path = house.path().join("root/a.jpg");
        std::fs::write(&path, "longer").unwrap();
        let Entry::File(file) = root.entry("a.jpg", Blocking::Allowed).unwrap() else {
            panic!("a file")
        };
        std::fs::write(&path, "short").unwrap();
        let read = file.read(100, Blocking::Refused);
        let refused = matches!(&read, Err(error) if Blocking::Refused.ends_with(error));
        assert!(refused, "{read:?}");
    }
}
