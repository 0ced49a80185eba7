//! Lists the names of the files of a folder and its subfolders.

use std::io::ErrorKind;

use rustix::fs::FileType;

use super::blocking::Blocking;
use super::file::Entry;
use super::folder::Folder;

/// Files of a folder and of its subfolders.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Paths below the folder, sorted without regard to case, and by the values of numbers in them.
    pub(crate) paths: Vec<String>,
    /// Whether the search stopped before it had examined all files.
    pub(crate) has_more: bool,
    /// Paths of subfolders that this process may not read.
    pub(crate) closed: Vec<String>,
}

impl Folder {
    /// Lists up to `most` files for whose names `is_named` returns true. Names that begin with a dot are left out, and
    /// links to folders are not followed.
    pub(super) fn list(&self, most: usize, is_named: impl Fn(&str) -> bool) -> Listing {
        let mut listing = Listing::default();
        let mut folders = vec![String::new()];
        let mut examined = 0;
        while let Some(inside) = folders.pop() {
            let entries = self.root.entries(&inside, MOST_EXAMINED);
            if entries
                .as_ref()
                .is_err_and(|why| why.kind() == ErrorKind::PermissionDenied)
            {
                listing.closed.push(inside.trim_end_matches('/').to_owned());
            }
            // Other errors mean that the folder has been removed meanwhile.
            for (name, kind) in entries.unwrap_or_default() {
                examined += 1;
                if examined > MOST_EXAMINED || listing.paths.len() == most {
                    listing.has_more = true;
                    listing.sort();
                    return listing;
                }
                if name.starts_with('.') {
                    continue;
                }
                let path = format!("{inside}{name}");
                match self.kind(&path, kind, is_named(&name)) {
                    FileType::Directory => folders.push(format!("{path}/")),
                    FileType::RegularFile if is_named(&name) => listing.paths.push(path),
                    _ => {}
                }
            }
        }
        listing.sort();
        listing
    }

    /// Returns the type of the file at a path. `listed_type` is its type in the listing of its folder. The file itself
    /// is examined only if the listing does not state a type, or if it is a symbolic link with a name that is searched
    /// for (`is_named`).
    fn kind(&self, path: &str, listed_type: FileType, is_named: bool) -> FileType {
        let is_link = listed_type == FileType::Symlink;
        if listed_type != FileType::Unknown && !(is_link && is_named) {
            return listed_type;
        }
        match self.entry(path, Blocking::Allowed) {
            Ok(Entry::File(_)) => FileType::RegularFile,
            Ok(Entry::Folder) if !is_link => FileType::Directory,
            _ => listed_type,
        }
    }
}

impl Listing {
    fn sort(&mut self) {
        self.paths
            .sort_by_cached_key(|path| (sort_key(path), path.clone()));
    }
}

/// Returns a sort key for a path: its text in lower case, with the number of digits before each number, so that `2`
/// comes before `10`.
fn sort_key(path: &str) -> String {
    let mut key = String::with_capacity(path.len() + 8);
    let mut rest = path;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (text, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit());
        let (number, behind) = number.split_at(end.unwrap_or(number.len()));
        let digits = number.trim_start_matches('0');
        key += &text.to_lowercase();
        // The leading `0` sorts numbers where digits belong. Numbers of more than 127 digits count as equally long.
        key.push('0');
        key.push(char::from(digits.len().min(127) as u8));
        key += digits;
        rest = behind;
    }
    key += &rest.to_lowercase();
    key
}

/// Maximum number of names that a listing examines.
const MOST_EXAMINED: usize = 200_000;

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::config::{OriginConfig, OriginKind};

    fn folder(path: &std::path::Path) -> Folder {
        let OriginKind::Fs(config) = OriginConfig::folder(path).keeper else {
            panic!("a folder");
        };
        Folder::open(&config, u64::MAX).unwrap()
    }

    #[test]
    fn numbers_in_names_are_sorted_by_their_value() {
        let sorted = [
            "2021/a.jpg",
            "Bild 1.jpg",
            "Bild 2.jpg",
            "bild 02.jpg",
            "Bild 10.jpg",
            "Bild 10a.jpg",
            "Bild 100.jpg",
            "bild.jpg",
            "Zebra.jpg",
        ];
        let mut listing = Listing {
            paths: sorted.iter().rev().map(|it| (*it).to_owned()).collect(),
            ..Listing::default()
        };
        listing.sort();
        assert_eq!(listing.paths, sorted);
    }

    #[test]
    fn a_folder_that_may_not_be_read_is_told() {
        let place = tempfile::tempdir().unwrap();
        let closed = place.path().join("trip/closed");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("a.jpg"), "").unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
        let listing = folder(place.path()).list(100, |_| true);
        // Root may read everything.
        match fs::read_dir(&closed).is_ok() {
            true => assert_eq!((&listing.closed[..], listing.paths.len()), (&[][..], 1)),
            false => assert_eq!(listing.closed, ["trip/closed"]),
        }
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn files_of_all_subfolders_are_listed_once_and_in_order() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir_all(root.join("trip/day.jpg")).unwrap();
        for name in [
            "b.jpg",
            "A.jpg",
            "trip/c.jpg",
            "trip/day.jpg/d.jpg",
            "notes.txt",
            ".hidden.jpg",
        ] {
            fs::write(root.join(name), "").unwrap();
        }
        symlink("trip", root.join("again")).unwrap();
        symlink("..", root.join("trip/up")).unwrap();
        symlink("b.jpg", root.join("link.jpg")).unwrap();
        symlink("/etc/hostname", root.join("outside.jpg")).unwrap();
        symlink("nowhere", root.join("broken.jpg")).unwrap();
        let is_named = |name: &str| name.ends_with(".jpg");
        let listing = folder(root).list(100, is_named);
        let expected = [
            "A.jpg",
            "b.jpg",
            "link.jpg",
            "trip/c.jpg",
            "trip/day.jpg/d.jpg",
        ];
        assert_eq!(listing.paths, expected);
        assert!(!listing.has_more);
        let short = folder(root).list(2, is_named);
        assert_eq!((short.paths.len(), short.has_more), (2, true));
    }
}
