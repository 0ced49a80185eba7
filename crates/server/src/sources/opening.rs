//! Opens or fetches the files that a request needs. A parameter `blocking` says whether a function may wait for a disk.
//! Functions without this parameter may wait for a disk or a network, so call them on a thread that may wait.

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
use crate::sources::media_type;
use crate::sources::open_source::{Content, OpenSource};
use crate::sources::overlays::{FetchedOverlays, LoadedOverlays, OpenOverlays, Overlay};
use crate::sources::resolver::Resolver;

/// Fetches sources on the calling thread, with a runtime and a budget of its own.
struct BlockingFetcher {
    budget: Budget,
    runtime: tokio::runtime::Runtime,
}

impl BlockingFetcher {
    fn fetch(&self, resolver: &Resolver, request: &ImageRequest) -> Result<Source, Error> {
        let fetch = resolver.fetch(request, None, &self.budget);
        match self.runtime.block_on(fetch)? {
            Fetched::Body(source) => Ok(source),
            Fetched::NotModified(_) => Err(OriginError::Status(304).into()),
        }
    }
}

impl Resolver {
    /// Opens the files that a request needs, without reading them. A source or an overlay that is not in a folder is
    /// fetched, which blocks this thread.
    ///
    /// # Errors
    /// `Missing`, `Forbidden` or `Withheld` if there is no such source, or it may not be read or is not served; `Moved`
    /// for a folder's path without its trailing slash; `Io` for errors of the file system; `Pixels` for a missing
    /// overlay or a file that is no image; and the errors of [`Resolver::fetch`].
    pub fn open(&self, request: &ImageRequest) -> Result<OpenSource, Error> {
        let locations = self.overlays_to_fetch(request);
        if !self.is_remote(request) && locations.is_empty() {
            return self.open_files(request, &FetchedOverlays::default(), Blocking::Allowed);
        }
        let fetcher = self.blocking_fetcher()?;
        let fetched_overlays = self.fetch_overlays(locations, &fetcher)?;
        if !self.is_remote(request) {
            return self.open_files(request, &fetched_overlays, Blocking::Allowed);
        }
        let overlays = self.open_overlays(request, &fetched_overlays, Blocking::Allowed)?;
        Ok(self.input_of(request, fetcher.fetch(self, request)?, overlays))
    }

    /// Reads the overlay images of a request whose source is not fetched from an origin, such as an upload. Overlays
    /// that are not in folders are fetched, which blocks this thread.
    ///
    /// # Errors
    /// `Target` for an overlay at a URL that no origin serves; for missing overlays as [`Resolver::open`].
    pub fn read_overlays(&self, request: &ImageRequest) -> Result<LoadedOverlays, Error> {
        self.check_overlays(request)?;
        let locations = self.overlays_to_fetch(request);
        let fetched_overlays = match locations.is_empty() {
            true => FetchedOverlays::default(),
            false => self.fetch_overlays(locations, &self.blocking_fetcher()?)?,
        };
        let overlays = self.open_overlays(request, &fetched_overlays, Blocking::Allowed)?;
        overlays.read(self.most_bytes, Blocking::Allowed)
    }

    /// Creates a fetcher for a source and its overlay images that blocks this thread.
    fn blocking_fetcher(&self) -> Result<BlockingFetcher, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(BlockingFetcher {
            // Room for the source and for all overlay images together.
            budget: Budget {
                deadline: (Instant::now() + self.timeout).into(),
                held: SourceMemory::new(self.most_bytes.saturating_mul(3)),
            },
            runtime,
        })
    }

    /// Fetches overlay images, given by their names and locations.
    fn fetch_overlays(
        &self,
        locations: BTreeMap<String, Location>,
        fetcher: &BlockingFetcher,
    ) -> Result<FetchedOverlays, Error> {
        let mut overlays = FetchedOverlays::default();
        for (name, from) in locations {
            let overlay = fetcher.fetch(self, &overlay_request(from.clone()));
            let result = overlay.and_then(|overlay| {
                overlays.add(name.clone(), from, bounded(overlay)?, self.most_bytes)
            });
            result.map_err(|error| error.of_overlay(&name))?;
        }
        Ok(overlays)
    }

    /// Whether a request's source has to be fetched with [`Resolver::fetch`], because it is not in a folder.
    #[must_use]
    pub fn is_remote(&self, request: &ImageRequest) -> bool {
        request.source.colour().is_some() || self.origins.is_remote(request.source.as_str())
    }

    /// Fetches a request's source from its origin, unless it still has these `validators`.
    ///
    /// # Errors
    /// The errors of [`Origins::fetch`](crate::origins::Origins::fetch); `Origin` also for a source that is to be
    /// served unchanged and whose end the origin did not mark, so that it may be truncated.
    pub async fn fetch(
        &self,
        request: &ImageRequest,
        validators: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        if let Some(colour) = request.source.colour() {
            return Ok(Fetched::Body(Source::of_colour(colour, budget).await));
        }
        let result = self
            .origins
            .fetch(request.source.as_str(), validators, budget)
            .await?;
        match &result {
            // No decoder will notice that the source is truncated.
            Fetched::Body(source) if request.is_file() && !source.bounded => {
                Err(OriginError::Unbounded.into())
            }
            _ => Ok(result),
        }
    }

    /// Opens the overlays that a request's image is composed with. `fetched_overlays` contains those that are not in
    /// folders.
    ///
    /// # Errors
    /// `Pixels` naming an overlay that is missing in the folder of overlays; `Overlay` for one that cannot be opened in
    /// the folder of an origin; `Io`, as for [`Root::entry`].
    ///
    /// [`Root::entry`]: crate::origins::Root::entry
    pub(crate) fn open_overlays(
        &self,
        request: &ImageRequest,
        fetched_overlays: &FetchedOverlays,
        blocking: Blocking,
    ) -> Result<OpenOverlays, Error> {
        let of_origin = |name: &str, location: Location| {
            if let Some(overlay) = fetched_overlays.get(name) {
                return Ok(overlay);
            }
            let location = self.overlay(location);
            match self.origins.entry(location.as_str(), blocking) {
                Ok(Entry::File(file)) => Ok(Overlay::File(Arc::new(file))),
                Ok(Entry::Folder) => {
                    let path = location.place().into_owned();
                    Err(Error::Missing { path }.of_overlay(name))
                }
                Err(error) if blocking.ends_with(&error) => Err(error),
                Err(error) => Err(error.of_overlay(name)),
            }
        };
        let names = request.rules.overlays();
        self.overlay_folder.open_for(names, of_origin, blocking)
    }

    /// Returns the input of a request from a source that was fetched and overlays that are open.
    #[must_use]
    pub(crate) fn input_of(
        &self,
        request: &ImageRequest,
        source: Source,
        overlays: OpenOverlays,
    ) -> OpenSource {
        let path = request.source.as_str().to_owned();
        self.input(request, path, Content::Fetched(source), overlays)
    }

    /// Whether the request is for `/` itself, and an origin serves the paths below it.
    pub(crate) fn is_root(&self, request: &ImageRequest) -> bool {
        request.source.as_str().is_empty() && self.origins.figures_of("").is_ok()
    }

    /// Returns the paths of up to `most` files in the folder at `/` whose first bytes are those of an image.
    pub(crate) fn images(&self, most: usize) -> Vec<String> {
        self.origins.images(most, |file| {
            (self.is_image(file, Blocking::Allowed)).unwrap_or(false)
        })
    }

    /// Whether the server shows a list of the images in the folder at `/`: everybody may request its files, and it is
    /// configured to serve images only. A folder whose files are all served may have an index page of its own.
    pub(crate) fn lists_its_root(&self) -> bool {
        let serves_folder = self.origins.figures_of("").is_ok() && !self.origins.is_remote("");
        serves_folder && self.opens_files() && self.origins.files("") == Files::Images
    }

    /// Returns up to `most` files in the folder at `/` whose names promise an image.
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

    /// Opens the files of a request whose source is in a folder, without reading them. `fetched_overlays` contains the
    /// overlays that are not in folders.
    ///
    /// # Errors
    /// The errors of [`Resolver::open`], and `Io` for the errors of [`Root::entry`].
    ///
    /// [`Root::entry`]: crate::origins::Root::entry
    pub(crate) fn open_files(
        &self,
        request: &ImageRequest,
        fetched_overlays: &FetchedOverlays,
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
        // Checked before anything about the file is revealed, including its date. A request for an image learns that
        // the file is none. For a request for the file, the file does not exist.
        if only_images {
            match self.is_image(&file, blocking) {
                Ok(true) => {}
                // It is unknown whether the file is an image, and so whether to withhold it. This error includes
                // `WouldBlock` on a thread that must not wait for a disk.
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
        let metrics = self.origins.figures_of(&path)?;
        let overlays = self.open_overlays(request, fetched_overlays, blocking)?;
        let content = Content::File(Arc::new(file), metrics);
        Ok(self.input(request, path, content, overlays))
    }

    fn input(
        &self,
        request: &ImageRequest,
        path: String,
        content: Content,
        overlays: OpenOverlays,
    ) -> OpenSource {
        OpenSource {
            path,
            content,
            overlays,
            most_bytes: self.most_bytes,
            checksum: request.style.checksum.clone(),
            admitted: None,
        }
    }

    /// Opens the file of a request again without waiting for a disk. Returns the file and its origin's metrics, or
    /// `None` if the source is not a local file, has changed since `identity` was recorded, or cannot be opened without
    /// waiting.
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

    /// Whether the file of a request is unchanged since it was read a moment ago: its inode, size and times must still
    /// equal `status`. Returns `false` if the check would have to access the disk.
    pub(crate) fn is_still(&self, request: &ImageRequest, status: &Status) -> bool {
        self.origins.is_still(request.source.as_str(), status)
    }

    /// Opens a folder's index page. If the folder's path lacks its trailing slash, returns a redirect to the path with
    /// one, because relative links in the page would be wrong otherwise.
    fn index(&self, folder: &str, blocking: Blocking) -> Result<(String, OpenFile), Error> {
        let path = format!("{}/{INDEX}", folder.trim_end_matches('/'));
        let path = path.trim_start_matches('/').to_owned();
        // The error names the index page, because the folder exists.
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

/// Returns the request that fetches an overlay image from its location.
pub(crate) fn overlay_request(from: Location) -> ImageRequest {
    ImageRequest::image(from, Recipe::default())
}

/// Returns the overlay image if its origin marked where it ends.
///
/// # Errors
/// `Origin` if the origin did not, so that the image may be truncated. Decoders render a truncated image as far as they
/// can, so a result with an incomplete overlay would be cached.
pub(crate) fn bounded(overlay: Source) -> Result<Source, Error> {
    match overlay.bounded {
        true => Ok(overlay),
        false => Err(OriginError::Unbounded.into()),
    }
}
