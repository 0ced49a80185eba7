//! Overlay images, with which recipes compose: icons in the folder `small_light.material_dir` and, under names that are
//! paths or URLs, images of the origins. Files in folders are opened and read together with the source, so that a
//! worker thread never waits for a disk. All others are fetched before.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use andon_cache::Key;
use andon_dialects::Source as Location;
use andon_pixels::{Bound, Image, OverlaySource};
use bytes::Bytes;

use crate::config::ConfigError;
use crate::error::Error;
use crate::origins::{Blocking, Entry, Freshness, OpenFile, Reservation, Root, Source};
use crate::request::conditional::State;
use crate::sources::overlay_cache::OverlayCache;

/// The folder of overlays, if one is configured.
#[derive(Debug)]
pub struct OverlayFolder {
    root: Option<Root>,
    cache: Arc<OverlayCache>,
}

/// An overlay that is open or in memory.
#[derive(Clone, Debug)]
pub(crate) enum Overlay {
    /// A file that has not been read yet.
    File(Arc<OpenFile>),
    /// An image that was fetched over a network.
    Fetched(Arc<FetchedOverlay>),
}

/// An overlay that was fetched.
#[derive(Debug)]
pub(crate) struct FetchedOverlay {
    /// Location that the overlay was fetched from.
    from: Location,
    source: Source,
}

/// The overlays of a recipe that are not in folders, by their names, after they have been fetched.
#[derive(Clone, Debug, Default)]
pub struct FetchedOverlays(BTreeMap<String, Overlay>);

/// The overlays of one recipe, open or in memory.
#[derive(Debug)]
pub struct OpenOverlays {
    images: BTreeMap<String, Overlay>,
    cache: Arc<OverlayCache>,
}

/// The overlays of one recipe, all read into memory.
#[derive(Clone, Debug)]
pub struct LoadedOverlays {
    images: Arc<BTreeMap<String, LoadedOverlay>>,
    cache: Arc<OverlayCache>,
}

/// An overlay whose bytes are in memory.
#[derive(Debug)]
struct LoadedOverlay {
    /// Key of the bytes, for the cache of decoded images.
    key: Key,
    bytes: Bytes,
    /// Keeps the memory of a fetched overlay reserved.
    _hold: Option<Arc<Reservation>>,
}

impl OverlayFolder {
    /// Opens the folder at `path`, if there is one. `cache` stores the decoded images of overlays.
    ///
    /// # Errors
    /// An error that names the folder if it cannot be opened.
    pub fn open(path: Option<&Path>, cache: Arc<OverlayCache>) -> Result<Self, ConfigError> {
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
            cache,
        })
    }

    /// Returns the cache of decoded overlay images.
    pub(crate) fn cache(&self) -> &Arc<OverlayCache> {
        &self.cache
    }

    /// Opens the overlays with these names. `of_origin` opens those that are named by a path or a URL.
    ///
    /// # Errors
    /// `Pixels(Recipe)` naming an overlay that is not in the folder; `Io`, as [`Root::entry`]; the errors of
    /// `of_origin`.
    pub(crate) fn open_for(
        &self,
        names: impl IntoIterator<Item: AsRef<str>>,
        of_origin: impl Fn(&str, Location) -> Result<Overlay, Error>,
        blocking: Blocking,
    ) -> Result<OpenOverlays, Error> {
        let open = |name: &str| match Location::of_overlay(name) {
            Some(source) => of_origin(name, source),
            None => self.icon(name, blocking),
        };
        let open = |name: &str| Ok((name.to_owned(), open(name)?));
        names
            .into_iter()
            .map(|name| open(name.as_ref()))
            .collect::<Result<_, Error>>()
            .map(|images| OpenOverlays {
                images,
                cache: self.cache.clone(),
            })
    }

    /// Opens the file `name` in the folder of overlays.
    fn icon(&self, name: &str, blocking: Blocking) -> Result<Overlay, Error> {
        let root = self.root.as_ref().ok_or_else(|| {
            let why = "no folder of overlays is named (small_light.material_dir; --overlays for a batch); \
                       an image of an origin is named by its path, which begins with `/` (in a URL %2F), or by its URL";
            refusal(name, why)
        })?;
        match root.entry(name, blocking) {
            Ok(Entry::File(file)) => Ok(Overlay::File(Arc::new(file))),
            Err(error) if matches!(error.root(), Error::Io(_)) => Err(error),
            Ok(Entry::Folder) | Err(_) => {
                Err(refusal(name, "there is no such file among the overlays"))
            }
        }
    }
}

impl FetchedOverlays {
    /// Adds an overlay that was fetched. The fetched overlays of a recipe may have `most` bytes in total.
    ///
    /// # Errors
    /// `Pixels(Limit)` if they have more.
    pub(crate) fn add(
        &mut self,
        name: String,
        from: Location,
        source: Source,
        most: u64,
    ) -> Result<(), Error> {
        let overlay = FetchedOverlay { from, source };
        self.0.insert(name, Overlay::Fetched(Arc::new(overlay)));
        let bytes: u64 = self.0.values().map(Overlay::size).sum();
        match bytes > most {
            true => Err(Error::Pixels(andon_pixels::Error::Limit {
                bound: Bound::SOURCE_BYTES,
                value: bytes,
                limit: most,
            })),
            false => Ok(()),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Overlay> {
        self.0.get(name).cloned()
    }
}

impl Overlay {
    /// Returns the size of the overlay's file in bytes.
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

    /// Reads the overlay, which may have up to `limit` bytes.
    fn read(&self, limit: u64, blocking: Blocking) -> Result<LoadedOverlay, Error> {
        Ok(match self {
            Self::File(file) => LoadedOverlay {
                key: Key::of(&["file", &format!("{:?}", file.identity)]),
                bytes: Bytes::from_owner(file.read(limit, blocking)?),
                _hold: None,
            },
            Self::Fetched(it) => LoadedOverlay {
                key: Key::of(&["fetched", &it.source.validators.identity]),
                bytes: it.source.bytes.clone(),
                _hold: Some(it.source.hold.clone()),
            },
        })
    }
}

impl OpenOverlays {
    /// Returns an empty set of overlays with the same cache.
    pub(crate) fn none(&self) -> Self {
        Self {
            images: BTreeMap::new(),
            cache: self.cache.clone(),
        }
    }

    /// Returns the names and states of the overlays, on which the response depends besides source and recipe.
    #[must_use]
    pub(crate) fn states(&self) -> Vec<(String, State)> {
        let state = |(name, image): (&String, &Overlay)| (name.clone(), image.state());
        self.images.iter().map(state).collect()
    }

    /// Returns the locations of the fetched overlays, and the caching directives of their origins.
    pub(crate) fn fetched_overlays(&self) -> impl Iterator<Item = (&Location, Freshness)> {
        self.images.values().filter_map(|image| match image {
            Overlay::File(_) => None,
            Overlay::Fetched(it) => Some((&it.from, it.source.freshness)),
        })
    }

    /// Whether there are no overlays.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Total size of the overlays in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.images.values().map(Overlay::size).sum()
    }

    /// Total size in bytes of the files that have not been read yet. Fetched overlays are counted when they are
    /// fetched.
    pub(crate) fn size_to_read(&self) -> u64 {
        let files = self.images.values();
        let files = files.filter(|image| matches!(image, Overlay::File(_)));
        files.map(Overlay::size).sum()
    }

    /// Reads the files, each of which may have up to `limit` bytes.
    ///
    /// # Errors
    /// The errors of [`OpenFile::read`].
    pub fn read(&self, limit: u64, blocking: Blocking) -> Result<LoadedOverlays, Error> {
        let read =
            |(name, image): (&String, &Overlay)| Ok((name.clone(), image.read(limit, blocking)?));
        Ok(LoadedOverlays {
            images: Arc::new(self.images.iter().map(read).collect::<Result<_, Error>>()?),
            cache: self.cache.clone(),
        })
    }
}

impl LoadedOverlays {
    fn image(&self, name: &str) -> andon_pixels::Result<&LoadedOverlay> {
        let overlay = self.images.get(name);
        overlay.ok_or_else(|| recipe_error(name, "it was not opened with the recipe"))
    }
}

impl OverlaySource for LoadedOverlays {
    fn load(&self, name: &str) -> andon_pixels::Result<Vec<u8>> {
        Ok(self.image(name)?.bytes.to_vec())
    }

    fn image(
        &self,
        name: &str,
        decode: &dyn Fn(&[u8]) -> andon_pixels::Result<Image>,
    ) -> andon_pixels::Result<Image> {
        let image = self.image(name)?;
        self.cache.get(image.key, || decode(&image.bytes))
    }
}

fn refusal(name: &str, why: &str) -> Error {
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

    fn open(path: Option<&Path>) -> OverlayFolder {
        OverlayFolder::open(path, Arc::default()).unwrap()
    }

    #[test]
    fn an_overlay_is_read_from_its_folder_and_from_nowhere_else() {
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
    fn a_recipe_without_overlays_needs_no_folder() {
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
