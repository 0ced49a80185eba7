//! Collects every distinct image below a folder and copies it under a plain name into a folder that is served.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};

/// Largest size in bytes of an image. Larger files are left out.
const LARGEST: u64 = 32 << 20;

/// File name extensions of images. Files with these extensions are collected whatever they contain.
const ENDINGS: [&str; 20] = [
    "apng", "avif", "bmp", "gif", "heic", "heif", "ico", "jfif", "jp2", "jpe", "jpeg", "jpg",
    "jxl", "png", "psd", "svg", "tif", "tiff", "webp", "xcf",
];

/// The collected images. The folder that is served is removed when this is dropped.
pub(super) struct Images {
    pub(super) all: Vec<ImageFile>,
    pub(super) served: PathBuf,
}

pub(super) struct ImageFile {
    pub(super) number: u64,
    /// Name of the image in the folder that is served.
    pub(super) name: String,
    /// Path of the original file, relative to the folder that was searched.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl Images {
    /// Collects the distinct images of a folder and of all folders below it, and copies each into a temporary folder that
    /// is served. Files that cannot be read are left out.
    ///
    /// # Errors
    /// A folder cannot be read, or a copy cannot be written.
    pub(super) fn below(folder: &Path) -> Result<Self> {
        let served = env::temp_dir().join(format!("andon-bench-corpus-{}", std::process::id()));
        fs::create_dir_all(&served)?;
        let mut images = Self {
            all: Vec::new(),
            served,
        };
        let mut hashes = HashSet::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            let mut entries = fs::read_dir(&next)
                .with_context(|| next.display().to_string())?
                .collect::<Result<Vec<_>, _>>()?;
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() && entry.metadata()?.len() <= LARGEST {
                    images.add(folder, &entry.path(), &mut hashes)?;
                }
            }
        }
        Ok(images)
    }

    fn add(&mut self, folder: &Path, path: &Path, hashes: &mut HashSet<u64>) -> Result<()> {
        let Ok(bytes) = fs::read(path) else {
            return Ok(());
        };
        let ending = path.extension().and_then(|ending| ending.to_str());
        let named = ending.is_some_and(|ending| {
            ENDINGS
                .iter()
                .any(|candidate| ending.eq_ignore_ascii_case(candidate))
        });
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        if !(named || kind(&bytes) != OTHER) || !hashes.insert(hasher.finish()) {
            return Ok(());
        }
        let number = self.all.len() as u64;
        let name = self.serve(&format!("{number}"), &bytes)?;
        let path = path.strip_prefix(folder).unwrap_or(path);
        self.all.push(ImageFile {
            number,
            name,
            path: path.display().to_string(),
            bytes,
        });
        Ok(())
    }

    /// Writes a file into the folder that is served and returns its name.
    pub(super) fn serve(&self, name: &str, bytes: &[u8]) -> Result<String> {
        fs::write(self.served.join(name), bytes).with_context(|| name.to_owned())?;
        Ok(name.to_owned())
    }

    /// Removes a file from the folder that is served.
    pub(super) fn withdraw(&self, name: &str) {
        // An error is harmless: the folder is removed at the end.
        let _ = fs::remove_file(self.served.join(name));
    }

    /// Returns the number of images of each file format, recognised by their first bytes.
    pub(super) fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        for image in &self.all {
            *kinds.entry(kind(&image.bytes)).or_default() += 1;
        }
        kinds
    }
}

impl Drop for Images {
    fn drop(&mut self) {
        // An error is harmless: the folder is below the system's temporary folder.
        let _ = fs::remove_dir_all(&self.served);
    }
}

const OTHER: &str = "other";

/// Recognises the file format of an image by its first bytes.
fn kind(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => "jpeg",
        [0x89, b'P', b'N', b'G', ..] => "png",
        [b'G', b'I', b'F', b'8', ..] => "gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "webp",
        _ => OTHER,
    }
}
