//! Files that recipes compose with: the icons in `small_light.material_dir`. They are opened and read
//! together with the source, so that a pixel thread never waits for a disk.

use std::collections::BTreeMap;
use std::path::Path;

use andon_pixels::Materials;

use crate::config::ConfigError;
use crate::error::Error;
use crate::origins::{Entry, Identity, OpenFile, Root};

/// The folder of materials, if one is configured.
#[derive(Debug)]
pub struct MaterialFolder(Option<Root>);

/// The materials of one recipe, opened.
#[derive(Debug, Default)]
pub struct OpenMaterials(BTreeMap<String, OpenFile>);

/// The materials of one recipe, read.
#[derive(Debug, Default)]
pub struct LoadedMaterials(BTreeMap<String, Vec<u8>>);

impl MaterialFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// Naming it when it cannot be opened.
    pub fn open(path: Option<&Path>) -> Result<Self, ConfigError> {
        let Some(path) = path else {
            return Ok(Self(None));
        };
        Root::open(path)
            .map(|root| Self(Some(root)))
            .map_err(|error| {
                ConfigError::new(format!(
                    "small_light.material_dir {} cannot be opened: {error}",
                    path.display()
                ))
            })
    }

    /// Opens the materials of these names.
    ///
    /// # Errors
    /// `Pixels(Recipe)` naming the material that is missing.
    pub fn open_for<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<OpenMaterials, Error> {
        let open = |name: &str| {
            let root = self.0.as_ref().ok_or_else(|| {
                refused(
                    name,
                    "no folder of materials is named (small_light.material_dir; --materials for a batch)",
                )
            })?;
            match root.entry(name) {
                Ok(Entry::File(file)) => Ok((name.to_owned(), file)),
                Err(Error::Io(error)) => Err(Error::Io(error)),
                Ok(Entry::Folder) | Err(_) => {
                    Err(refused(name, "there is no such file among the materials"))
                }
            }
        };
        names
            .into_iter()
            .map(open)
            .collect::<Result<_, _>>()
            .map(OpenMaterials)
    }
}

impl OpenMaterials {
    /// What the answer depends on beside source and recipe.
    #[must_use]
    pub fn identities(&self) -> Vec<(String, Identity)> {
        let identity = |(name, file): (&String, &OpenFile)| (name.clone(), file.identity);
        self.0.iter().map(identity).collect()
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of all of them.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.values().map(|file| file.identity.size).sum()
    }

    /// Reads them.
    ///
    /// # Errors
    /// As [`OpenFile::read`].
    pub fn read(&self, limit: u64) -> Result<LoadedMaterials, Error> {
        self.0
            .iter()
            .map(|(name, file)| Ok((name.clone(), file.read(limit)?)))
            .collect::<Result<_, _>>()
            .map(LoadedMaterials)
    }
}

impl Materials for LoadedMaterials {
    fn load(&self, name: &str) -> andon_pixels::Result<Vec<u8>> {
        self.0
            .get(name)
            .cloned()
            .ok_or_else(|| recipe_error(name, "it was not opened with the recipe"))
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

    #[test]
    fn a_material_is_read_from_its_folder_and_from_nowhere_else() {
        let house = tempfile::tempdir().unwrap();
        std::fs::create_dir(house.path().join("icons")).unwrap();
        std::fs::write(house.path().join("icons/star.png"), "star").unwrap();
        std::fs::write(house.path().join("secret"), "secret").unwrap();
        let folder = MaterialFolder::open(Some(&house.path().join("icons"))).unwrap();

        let opened = folder.open_for(["star.png"]).unwrap();
        assert_eq!(opened.identities()[0].1.size, 4);
        assert_eq!(opened.read(100).unwrap().load("star.png").unwrap(), b"star");
        for name in ["../secret", "moon.png", ".", "/etc/hostname"] {
            let error = folder.open_for([name]).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn a_recipe_without_materials_needs_no_folder() {
        let folder = MaterialFolder::open(None).unwrap();
        assert!(folder.open_for([]).unwrap().identities().is_empty());
        assert!(folder.open_for(["star.png"]).is_err());
    }
}
