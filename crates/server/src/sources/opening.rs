//! Opens or fetches the files that a request needs. This may block on a disk, so call these functions from a thread that
//! may wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use andon_dialects::{ImageRequest, OWN_ERRORS, Source as Location};
use andon_recipe::Recipe;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::config::Files;
use crate::error::{Error, OriginError, Withheld};
use crate::origins::{
    Blocking, Budget, Entry, Fetched, Identity, Listing, OpenFile, OriginMetrics, Source,
    SourceMemory, SourceValidators, Status,
};
use crate::sources::materials::{FetchedMaterials, LoadedMaterials, Material, OpenMaterials};
use crate::sources::media_type;
use crate::sources::open_source::{Content, OpenSource};
use crate::sources::resolver::Resolver;

/// A runtime that fetches sources on the calling thread, with the time and memory for that.
struct Fetching {
    budget: Budget,
    runtime: tokio::runtime::Runtime,
}

impl Fetching {
    fn fetch(&self, resolver: &Resolver, request: &ImageRequest) -> Result<Source, Error> {
        let fetching = resolver.fetch(request, None, &self.budget);
        match self.runtime.block_on(fetching)? {
            Fetched::Body(source) => Ok(source),
            Fetched::NotModified(_) => Err(OriginError::Status(304).into()),
        }
    }
}

impl Resolver {
    /// Opens the files that a request needs, without reading them. A source that is not in a folder is fetched, on this
    /// very thread.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Moved`, `Io`, `Pixels` naming a missing material, and all of [`Resolver::fetch`].
    pub fn open(&self, request: &ImageRequest) -> Result<OpenSource, Error> {
        let overlays = self.overlays_to_fetch(request);
        if !self.is_remote(request) && overlays.is_empty() {
            return self.open_files(request, &FetchedMaterials::default(), Blocking::Allowed);
        }
        let fetching = self.fetching()?;
        let fetched = self.fetched_overlays(overlays, &fetching)?;
        if !self.is_remote(request) {
            return self.open_files(request, &fetched, Blocking::Allowed);
        }
        let materials = self.open_materials(request, &fetched, Blocking::Allowed)?;
        Ok(self.found(request, fetching.fetch(self, request)?, materials))
    }

    /// Reads the overlay images of a request, whose source is somewhere else. Those that are not in folders are fetched,
    /// on this very thread.
    ///
    /// # Errors
    /// `Target` for an overlay that no origin may have; as [`Resolver::open`] for those that there are not.
    pub fn read_overlays(&self, request: &ImageRequest) -> Result<LoadedMaterials, Error> {
        self.check_overlays(request)?;
        let overlays = self.overlays_to_fetch(request);
        let fetched = match overlays.is_empty() {
            true => FetchedMaterials::default(),
            false => self.fetched_overlays(overlays, &self.fetching()?)?,
        };
        let opened = self.open_materials(request, &fetched, Blocking::Allowed)?;
        opened.read(self.most_bytes, Blocking::Allowed)
    }

    /// Returns a runtime that fetches a source and its overlay images on this very thread.
    fn fetching(&self) -> Result<Fetching, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Fetching {
            // Room for the source and for all overlay images together.
            budget: Budget {
                deadline: (Instant::now() + self.timeout).into(),
                held: SourceMemory::new(self.most_bytes.saturating_mul(3)),
            },
            runtime,
        })
    }

    /// Fetches overlay images, given by their names and where they are.
    fn fetched_overlays(
        &self,
        overlays: BTreeMap<String, Location>,
        fetching: &Fetching,
    ) -> Result<FetchedMaterials, Error> {
        let mut fetched = FetchedMaterials::default();
        for (name, from) in overlays {
            let overlay = fetching.fetch(self, &overlay_request(from.clone()));
            let added = overlay.and_then(|overlay| {
                (fetched).add(name.clone(), from, bounded(overlay)?, self.most_bytes)
            });
            added.map_err(|error| error.of_overlay(&name))?;
        }
        Ok(fetched)
    }

    /// Whether a request's source has to be fetched with [`Resolver::fetch`], because it is not in a folder.
    #[must_use]
    pub fn is_remote(&self, request: &ImageRequest) -> bool {
        request.source.colour().is_some() || self.origins.is_remote(request.source.as_str())
    }

    /// Fetches a request's source from wherever it is kept, unless it still is in the state `known`.
    ///
    /// # Errors
    /// As [`Origins::fetch`](crate::origins::Origins::fetch); `Origin` also for a source that is to be passed on as it is and may be truncated.
    pub async fn fetch(
        &self,
        request: &ImageRequest,
        known: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        if let Some(colour) = request.source.colour() {
            return Ok(Fetched::Body(Source::of_colour(colour, budget).await));
        }
        let fetched = self
            .origins
            .fetch(request.source.as_str(), known, budget)
            .await?;
        match &fetched {
            // No decoder will look at it.
            Fetched::Body(source) if request.is_file() && !source.bounded => {
                Err(OriginError::Unbounded.into())
            }
            _ => Ok(fetched),
        }
    }

    /// Opens the materials that a request's image is composed with. Those that are not in folders are in `fetched`.
    ///
    /// # Errors
    /// `Pixels` naming a material that is missing in the folder of materials, `Overlay` for one that an origin does not
    /// have; `Io`, as [`Root::entry`].
    ///
    /// [`Root::entry`]: crate::origins::Root::entry
    pub(crate) fn open_materials(
        &self,
        request: &ImageRequest,
        fetched: &FetchedMaterials,
        blocking: Blocking,
    ) -> Result<OpenMaterials, Error> {
        let of_origin = |name: &str, source: Location| {
            if let Some(fetched) = fetched.get(name) {
                return Ok(fetched);
            }
            let source = self.overlay(source);
            match self.origins.entry(source.as_str(), blocking) {
                Ok(Entry::File(file)) => Ok(Material::File(Arc::new(file))),
                Ok(Entry::Folder) => {
                    let path = source.place().into_owned();
                    Err(Error::Missing { path }.of_overlay(name))
                }
                Err(error) if blocking.ends_with(&error) => Err(error),
                Err(error) => Err(error.of_overlay(name)),
            }
        };
        let names = request.rules.materials();
        self.materials.open_for(names, of_origin, blocking)
    }

    /// Returns a request whose source was fetched and whose materials are open.
    #[must_use]
    pub(crate) fn found(
        &self,
        request: &ImageRequest,
        source: Source,
        materials: OpenMaterials,
    ) -> OpenSource {
        let path = request.source.as_str().to_owned();
        self.opened(request, path, Content::Fetched(source), materials)
    }

    /// Whether the request asks for the root itself, and a folder is served there.
    pub(crate) fn is_root(&self, request: &ImageRequest) -> bool {
        request.source.as_str().is_empty() && self.origins.figures_of("").is_ok()
    }

    /// Returns the paths of up to `most` files in the folder at `/` whose content begins like an image.
    pub(crate) fn images(&self, most: usize) -> Vec<String> {
        self.origins.images(most, |file| {
            (self.is_image(file, Blocking::Allowed)).unwrap_or(false)
        })
    }

    /// Whether a folder is served at `/`, open to everybody and without a page of its own there, as it could have if
    /// every file was served.
    pub(crate) fn lists_its_root(&self) -> bool {
        let serves_folder = self.origins.figures_of("").is_ok() && !self.origins.is_remote("");
        serves_folder && self.opens_files() && self.origins.files("") == Files::Images
    }

    /// Returns the files in the folder at `/` whose names promise an image, `most` at most.
    pub(crate) fn listing(&self, most: usize) -> Listing {
        let is_named = |name: &str| media_type::promises_image(self.codecs, name);
        self.origins.listing(most, is_named)
    }

    fn is_image(&self, file: &OpenFile, blocking: Blocking) -> Result<bool, Error> {
        for length in [media_type::SHORT_HEAD, media_type::HEAD] {
            let head = file.piece(0, length, blocking)?;
            if media_type::is_image(self.codecs, &head) {
                return Ok(true);
            }
            if head.len() < length {
                break;
            }
        }
        Ok(false)
    }

    /// Opens the files of a request whose source is in a folder, without reading them. Materials that are not in folders
    /// are in `fetched`.
    ///
    /// # Errors
    /// As [`Resolver::open`]; `Io`, as [`Root::entry`].
    ///
    /// [`Root::entry`]: crate::origins::Root::entry
    pub(crate) fn open_files(
        &self,
        request: &ImageRequest,
        fetched: &FetchedMaterials,
        blocking: Blocking,
    ) -> Result<OpenSource, Error> {
        let only_images = self.origins.files(request.source.as_str()) == Files::Images;
        let (path, file) = match self.origins.entry(request.source.as_str(), blocking)? {
            Entry::File(file) => (request.source.as_str().to_owned(), file),
            Entry::Folder if !request.is_file() || only_images => {
                return Err(Error::Missing {
                    path: request.source.as_str().to_owned(),
                });
            }
            Entry::Folder => self.index(request.source.as_str(), blocking)?,
        };
        // Before anything is told of it, its date included. Whoever wants an image of it learns that it is none; as a file
        // it is as if it were not there.
        if only_images {
            match self.is_image(&file, blocking) {
                Ok(true) => {}
                // Whether it is an image is not known, so neither is that it is to be withheld. This includes a thread that
                // may not wait and would have to.
                Err(error @ Error::Io(_)) => return Err(error),
                Ok(false) if !request.is_file() => {
                    return Err(Error::Pixels(andon_pixels::Error::UnknownFormat));
                }
                Ok(false) | Err(_) => {
                    let why = Withheld::NoImage;
                    return Err(Error::Withheld { path, why });
                }
            }
        }
        let figures = self.origins.figures_of(&path)?;
        let materials = self.open_materials(request, fetched, blocking)?;
        let content = Content::File(Arc::new(file), figures);
        Ok(self.opened(request, path, content, materials))
    }

    fn opened(
        &self,
        request: &ImageRequest,
        path: String,
        content: Content,
        materials: OpenMaterials,
    ) -> OpenSource {
        OpenSource {
            path,
            content,
            materials,
            most_bytes: self.most_bytes,
            checksum: request.style.checksum.clone(),
            admitted: None,
        }
    }

    /// Opens the file of a request again, without waiting for a disk, if it is in a folder and still in the state
    /// `identity`. Also returns the metrics that count reading it.
    pub(crate) fn reopened(
        &self,
        request: &ImageRequest,
        identity: &Identity,
    ) -> Option<(OpenFile, Arc<OriginMetrics>)> {
        let path = request.source.as_str();
        match self.origins.entry(path, Blocking::Refused) {
            Ok(Entry::File(file)) if file.identity == *identity => {
                Some((file, self.origins.figures_of(path).ok()?))
            }
            _ => None,
        }
    }

    /// Whether the file of a request, which was read a moment ago, still is in this state.
    pub(crate) fn is_still(&self, request: &ImageRequest, status: &Status) -> bool {
        self.origins.is_still(request.source.as_str(), status)
    }

    /// Opens a folder's index. If the folder's path lacks its last slash, it is answered with a redirect to the path
    /// with one, because relative links in the index would miss otherwise.
    fn index(&self, folder: &str, blocking: Blocking) -> Result<(String, OpenFile), Error> {
        let path = format!("{}/{INDEX}", folder.trim_end_matches('/'));
        let path = path.trim_start_matches('/').to_owned();
        // Named with the index, because what is missing is not the folder.
        let missing = || Error::Missing { path: path.clone() };
        let file = match self.origins.entry(&path, blocking) {
            Ok(Entry::File(file)) => file,
            Err(error) if blocking.ends_with(&error) => return Err(error),
            Ok(Entry::Folder) | Err(_) => return Err(missing()),
        };
        match folder.rsplit('/').next() {
            Some(last) if !last.is_empty() => Err(Error::Moved {
                to: format!("./{}/", utf8_percent_encode(last, NON_ALPHANUMERIC)),
                status: 301,
                errors: OWN_ERRORS,
            }),
            _ => Ok((path, file)),
        }
    }
}

const INDEX: &str = "index.html";

/// Returns the request with which an overlay image is fetched from where it is.
pub(crate) fn overlay_request(from: Location) -> ImageRequest {
    ImageRequest::image(from, Recipe::default())
}

/// Returns an overlay image whose end was marked.
///
/// # Errors
/// `Origin` if it was not. Decoders show what they have of a truncated image, which would be kept in results of other
/// sources.
pub(crate) fn bounded(overlay: Source) -> Result<Source, Error> {
    match overlay.bounded {
        true => Ok(overlay),
        false => Err(OriginError::Unbounded.into()),
    }
}
