//! Files that recipes compose images with: the icons in `small_light.material_dir` and, under names that begin with a
//! slash, images in the folders of the origins. They are opened and read together with the source, so that a pixel
//! thread never waits for a disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use andon_pixels::{Image, Materials};

use crate::config::ConfigError;
use crate::error::Error;
use crate::origins::{Blocking, Entry, Identity, OpenFile, Root};
use crate::sources::overlay_cache::OverlayCache;

/// The folder of materials, if one is configured.
#[derive(Debug)]
pub struct MaterialFolder {
    root: Option<Root>,
    decoded: Arc<OverlayCache>,
}

/// The materials of one recipe, opened.
#[derive(Debug)]
pub struct OpenMaterials {
    files: BTreeMap<String, OpenFile>,
    decoded: Arc<OverlayCache>,
}

/// The materials of one recipe, read.
#[derive(Clone, Debug)]
pub struct LoadedMaterials {
    files: Arc<BTreeMap<String, (Identity, Vec<u8>)>>,
    decoded: Arc<OverlayCache>,
}

impl MaterialFolder {
    /// Opens the folder. Decoded images of its files are kept in `decoded`.
    ///
    /// # Errors
    /// An error that names the folder if it cannot be opened.
    pub fn open(path: Option<&Path>, decoded: Arc<OverlayCache>) -> Result<Self, ConfigError> {
        let open = |path: &Path| {
            Root::open(path).map_err(|error| {
                ConfigError::new(
                    "small_light.material_dir",
                    format!("{} cannot be opened: {error}", path.display()),
                )
            })
        };
        Ok(Self {
            root: path.map(open).transpose()?,
            decoded,
        })
    }

    /// The cache of decoded images of the folder's files.
    pub(crate) fn decoded(&self) -> &Arc<OverlayCache> {
        &self.decoded
    }

    /// Opens the materials of these names. `served` opens those that are named by their paths below `/`.
    ///
    /// # Errors
    /// `Pixels(Recipe)` naming the material that is missing; `Io`, as [`Root::entry`].
    pub fn open_for(
        &self,
        names: impl IntoIterator<Item: AsRef<str>>,
        served: impl Fn(&str) -> Result<Entry, Error>,
        blocking: Blocking,
    ) -> Result<OpenMaterials, Error> {
        let open = |name: &str| {
            let (entry, why) = match (name.strip_prefix('/'), &self.root) {
                (Some(path), _) => (
                    served(path),
                    "there is no such file in the origins' folders",
                ),
                (None, Some(root)) => (
                    root.entry(name, blocking),
                    "there is no such file among the materials",
                ),
                (None, None) => {
                    let why = "no folder of materials is named (small_light.material_dir; --materials for a batch)";
                    return Err(refused(name, why));
                }
            };
            match entry {
                Ok(Entry::File(file)) => Ok((name.to_owned(), file)),
                Err(error) if matches!(error.root(), Error::Io(_)) => Err(error),
                Ok(Entry::Folder) | Err(_) => Err(refused(name, why)),
            }
        };
        names
            .into_iter()
            .map(|name| open(name.as_ref()))
            .collect::<Result<_, _>>()
            .map(|files| OpenMaterials {
                files,
                decoded: self.decoded.clone(),
            })
    }
}

impl OpenMaterials {
    /// Returns an empty set of materials.
    pub(crate) fn none(&self) -> Self {
        Self {
            files: BTreeMap::new(),
            decoded: self.decoded.clone(),
        }
    }

    /// Returns the names and states of the files, on which the answer depends besides source and recipe.
    #[must_use]
    pub fn identities(&self) -> Vec<(String, Identity)> {
        let identity = |(name, file): (&String, &OpenFile)| (name.clone(), file.identity);
        self.files.iter().map(identity).collect()
    }

    /// Whether there are no materials.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Total size of the files in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.files.values().map(|file| file.identity.size).sum()
    }

    /// Reads the files, each of `limit` bytes at most.
    ///
    /// # Errors
    /// As [`OpenFile::read`].
    pub fn read(&self, limit: u64, blocking: Blocking) -> Result<LoadedMaterials, Error> {
        let read = |(name, file): (&String, &OpenFile)| {
            Ok((
                name.clone(),
                (file.identity, file.read(limit, blocking)?.into_vec()),
            ))
        };
        Ok(LoadedMaterials {
            files: Arc::new(self.files.iter().map(read).collect::<Result<_, Error>>()?),
            decoded: self.decoded.clone(),
        })
    }
}

impl LoadedMaterials {
    fn file(&self, name: &str) -> andon_pixels::Result<&(Identity, Vec<u8>)> {
        let opened = self.files.get(name);
        opened.ok_or_else(|| recipe_error(name, "it was not opened with the recipe"))
    }
}

impl Materials for LoadedMaterials {
    fn load(&self, name: &str) -> andon_pixels::Result<Vec<u8>> {
        Ok(self.file(name)?.1.clone())
    }

    fn picture(
        &self,
        name: &str,
        decode: &dyn Fn(&[u8]) -> andon_pixels::Result<Image>,
    ) -> andon_pixels::Result<Image> {
        let (identity, bytes) = self.file(name)?;
        self.decoded.get(*identity, || decode(bytes))
    }
}

fn refused(name: &str, why: &str) -> Error {
    Error::Pixels(recipe_error(name, why))
}

fn recipe_error(name: &str, why: &str) -> andon_pixels::Error {
    andon_pixels::Error::Recipe {
        piece: name.to_owned(),
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: Option<&Path>) -> MaterialFolder {
        MaterialFolder::open(path, Arc::default()).unwrap()
    }

    #[test]
    fn a_material_is_read_from_its_folder_and_from_nowhere_else() {
        let house = tempfile::tempdir().unwrap();
        std::fs::create_dir(house.path().join("icons")).unwrap();
        std::fs::write(house.path().join("icons/star.png"), "star").unwrap();
        std::fs::write(house.path().join("secret"), "secret").unwrap();
        let folder = open(Some(&house.path().join("icons")));

        let nothing = |path: &str| {
            let path = path.to_owned();
            Err(Error::Missing { path })
        };
        let opened = folder
            .open_for(["star.png"], nothing, Blocking::Allowed)
            .unwrap();
        assert_eq!(opened.identities()[0].1.size, 4);
        assert_eq!(
            opened
                .read(100, Blocking::Allowed)
                .unwrap()
                .load("star.png")
                .unwrap(),
            b"star"
        );
        for name in ["../secret", "moon.png", ".", "/etc/hostname"] {
            let error = folder
                .open_for([name], nothing, Blocking::Allowed)
                .unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn a_recipe_without_materials_needs_no_folder() {
        let folder = open(None);
        let none = |_: &str| Ok(Entry::Folder);
        assert!(
            folder
                .open_for([""; 0], none, Blocking::Allowed)
                .unwrap()
                .identities()
                .is_empty()
        );
        assert!(
            folder
                .open_for(["star.png"], none, Blocking::Allowed)
                .is_err()
        );
    }
}
