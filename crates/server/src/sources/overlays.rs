//! Images that recipes compose with: the icons in `small_light.material_dir` and, under names that are paths or URLs,
//! images of the origins. Those in folders are opened and read together with the source, so that a pixel thread never
//! waits for a disk. All others are fetched before.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use andon_cache::Key;
use andon_dialects::Source as Location;
use andon_pixels::{Bound, Image, Materials};
use bytes::Bytes;

use crate::config::ConfigError;
use crate::error::Error;
use crate::origins::{Blocking, Entry, Freshness, OpenFile, Reservation, Root, Source};
use crate::request::conditional::State;
use crate::sources::overlay_cache::OverlayCache;

/// The folder of materials, if one is configured.
#[derive(Debug)]
pub struct MaterialFolder {
    root: Option<Root>,
    decoded: Arc<OverlayCache>,
}

/// A material that is open or in memory.
#[derive(Clone, Debug)]
pub(crate) enum Material {
    /// A file that is not read yet.
    File(Arc<OpenFile>),
    /// An image that was fetched, because over a network there is nothing to open.
    Fetched(Arc<FetchedMaterial>),
}

/// A material that was fetched.
#[derive(Debug)]
pub(crate) struct FetchedMaterial {
    /// Location of its source.
    from: Location,
    source: Source,
}

/// The materials of a recipe that are not in folders, fetched, by their names.
#[derive(Clone, Debug, Default)]
pub struct FetchedMaterials(BTreeMap<String, Material>);

/// The materials of one recipe, opened.
#[derive(Debug)]
pub struct OpenMaterials {
    images: BTreeMap<String, Material>,
    decoded: Arc<OverlayCache>,
}

/// The materials of one recipe, read.
#[derive(Clone, Debug)]
pub struct LoadedMaterials {
    images: Arc<BTreeMap<String, LoadedMaterial>>,
    decoded: Arc<OverlayCache>,
}

/// A material that is in memory.
#[derive(Debug)]
struct LoadedMaterial {
    /// Names these bytes among all materials.
    key: Key,
    bytes: Bytes,
    /// Counts the bytes of a fetched material.
    _hold: Option<Arc<Reservation>>,
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

    /// The cache of decoded images of materials.
    pub(crate) fn decoded(&self) -> &Arc<OverlayCache> {
        &self.decoded
    }

    /// Opens the materials of these names. `of_origin` returns those that are named by a path or a URL.
    ///
    /// # Errors
    /// `Pixels(Recipe)` naming a material that is not in the folder; `Io`, as [`Root::entry`]; those of `of_origin`.
    pub(crate) fn open_for(
        &self,
        names: impl IntoIterator<Item: AsRef<str>>,
        of_origin: impl Fn(&str, Location) -> Result<Material, Error>,
        blocking: Blocking,
    ) -> Result<OpenMaterials, Error> {
        let open = |name: &str| match Location::of_overlay(name) {
            Some(source) => of_origin(name, source),
            None => self.icon(name, blocking),
        };
        let open = |name: &str| Ok((name.to_owned(), open(name)?));
        names
            .into_iter()
            .map(|name| open(name.as_ref()))
            .collect::<Result<_, Error>>()
            .map(|images| OpenMaterials {
                images,
                decoded: self.decoded.clone(),
            })
    }

    /// Opens a file of the folder.
    fn icon(&self, name: &str, blocking: Blocking) -> Result<Material, Error> {
        let root = self.root.as_ref().ok_or_else(|| {
            let why = "no folder of materials is named (small_light.material_dir; --materials for a batch); \
                       an image of an origin is named by its path, which begins with `/` (in a URL %2F), or by its URL";
            refused(name, why)
        })?;
        match root.entry(name, blocking) {
            Ok(Entry::File(file)) => Ok(Material::File(Arc::new(file))),
            Err(error) if matches!(error.root(), Error::Io(_)) => Err(error),
            Ok(Entry::Folder) | Err(_) => {
                Err(refused(name, "there is no such file among the materials"))
            }
        }
    }
}

impl FetchedMaterials {
    /// Adds a material that was fetched. All of them together may have `most` bytes.
    ///
    /// # Errors
    /// `Pixels(Limit)`.
    pub(crate) fn add(
        &mut self,
        name: String,
        from: Location,
        source: Source,
        most: u64,
    ) -> Result<(), Error> {
        let fetched = FetchedMaterial { from, source };
        self.0.insert(name, Material::Fetched(Arc::new(fetched)));
        let bytes: u64 = self.0.values().map(Material::size).sum();
        match bytes > most {
            true => Err(Error::Pixels(andon_pixels::Error::Limit {
                bound: Bound::SOURCE_BYTES,
                value: bytes,
                limit: most,
            })),
            false => Ok(()),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Material> {
        self.0.get(name).cloned()
    }
}

impl Material {
    /// Size in bytes.
    fn size(&self) -> u64 {
        match self {
            Self::File(file) => file.identity.size,
            Self::Fetched(it) => it.source.bytes.len() as u64,
        }
    }

    fn state(&self) -> State {
        match self {
            Self::File(file) => State::of_file(&file.identity),
            Self::Fetched(it) => State::of_fetched(&it.source.validators),
        }
    }

    /// Reads the material, which may have `limit` bytes.
    fn read(&self, limit: u64, blocking: Blocking) -> Result<LoadedMaterial, Error> {
        Ok(match self {
            Self::File(file) => LoadedMaterial {
                key: Key::of(&["file", &format!("{:?}", file.identity)]),
                bytes: Bytes::from_owner(file.read(limit, blocking)?),
                _hold: None,
            },
            Self::Fetched(it) => LoadedMaterial {
                key: Key::of(&["fetched", &it.source.validators.identity]),
                bytes: it.source.bytes.clone(),
                _hold: Some(it.source.hold.clone()),
            },
        })
    }
}

impl OpenMaterials {
    /// Returns an empty set of materials.
    pub(crate) fn none(&self) -> Self {
        Self {
            images: BTreeMap::new(),
            decoded: self.decoded.clone(),
        }
    }

    /// Returns the names and states of the materials, on which the answer depends besides source and recipe.
    #[must_use]
    pub(crate) fn states(&self) -> Vec<(String, State)> {
        let state = |(name, image): (&String, &Material)| (name.clone(), image.state());
        self.images.iter().map(state).collect()
    }

    /// Returns where the fetched materials come from, and how long each origin allows its material to be used.
    pub(crate) fn fetched(&self) -> impl Iterator<Item = (&Location, Freshness)> {
        self.images.values().filter_map(|image| match image {
            Material::File(_) => None,
            Material::Fetched(it) => Some((&it.from, it.source.freshness)),
        })
    }

    /// Whether there are no materials.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Total size of the materials in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.images.values().map(Material::size).sum()
    }

    /// Total size in bytes of the files that are not read yet. The others are counted since they were fetched.
    pub(crate) fn size_to_read(&self) -> u64 {
        let files = self.images.values();
        let files = files.filter(|image| matches!(image, Material::File(_)));
        files.map(Material::size).sum()
    }

    /// Reads the files, each of `limit` bytes at most.
    ///
    /// # Errors
    /// As [`OpenFile::read`].
    pub fn read(&self, limit: u64, blocking: Blocking) -> Result<LoadedMaterials, Error> {
        let read =
            |(name, image): (&String, &Material)| Ok((name.clone(), image.read(limit, blocking)?));
        Ok(LoadedMaterials {
            images: Arc::new(self.images.iter().map(read).collect::<Result<_, Error>>()?),
            decoded: self.decoded.clone(),
        })
    }
}

impl LoadedMaterials {
    fn image(&self, name: &str) -> andon_pixels::Result<&LoadedMaterial> {
        let opened = self.images.get(name);
        opened.ok_or_else(|| recipe_error(name, "it was not opened with the recipe"))
    }
}

impl Materials for LoadedMaterials {
    fn load(&self, name: &str) -> andon_pixels::Result<Vec<u8>> {
        Ok(self.image(name)?.bytes.to_vec())
    }

    fn picture(
        &self,
        name: &str,
        decode: &dyn Fn(&[u8]) -> andon_pixels::Result<Image>,
    ) -> andon_pixels::Result<Image> {
        let image = self.image(name)?;
        self.decoded.get(image.key, || decode(&image.bytes))
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

        let nothing = |name: &str, _| {
            let path = name.to_owned();
            Err(Error::Missing { path })
        };
        let opened = folder
            .open_for(["star.png"], nothing, Blocking::Allowed)
            .unwrap();
        assert_eq!((opened.states().len(), opened.size()), (1, 4));
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
        let none = |name: &str, _| {
            let path = name.to_owned();
            Err(Error::Missing { path })
        };
        assert!(
            folder
                .open_for([""; 0], none, Blocking::Allowed)
                .unwrap()
                .is_empty()
        );
        assert!(
            folder
                .open_for(["star.png"], none, Blocking::Allowed)
                .is_err()
        );
    }
}
