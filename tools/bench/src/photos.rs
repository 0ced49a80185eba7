//! The photos that the benchmarks run on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A folder of JPEG files.
pub(crate) struct Folder {
    /// The path of the folder.
    pub(crate) path: PathBuf,
    /// Names of the JPEG files, sorted.
    pub(crate) names: Vec<String>,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path).with_context(|| {
            format!(
                "no photos at {}; --photos names another folder",
                path.display()
            )
        })? {
            if let Ok(name) = entry?.file_name().into_string()
                && name.ends_with(".jpg")
            {
                names.push(name);
            }
        }
        if names.is_empty() {
            bail!("no .jpg files in {}", path.display());
        }
        names.sort();
        Ok(Self {
            path: path.to_owned(),
            names,
        })
    }

    /// Returns this folder and the folders in `more` that can be read. Others are reported on stderr and skipped.
    pub(crate) fn with(&self, more: &[PathBuf]) -> Result<Vec<Self>> {
        let mut folders = vec![Self::open(&self.path)?];
        for path in more {
            match Self::open(path) {
                Ok(folder) => folders.push(folder),
                Err(error) => eprintln!("passed over: {error}"),
            }
        }
        Ok(folders)
    }

    /// Returns the paths of all photos in this folder and in the folders of `more` that can be read. A file name
    /// that occurs in several folders is listed once.
    pub(crate) fn paths(&self, more: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for folder in self.with(more)? {
            for name in &folder.names {
                // Some folders share photos.
                if !paths.iter().any(|path| path.ends_with(name)) {
                    paths.push(folder.path.join(name));
                }
            }
        }
        Ok(paths)
    }

    /// Reads the file of one photo.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>> {
        fs::read(self.path.join(name)).with_context(|| name.to_owned())
    }
}
