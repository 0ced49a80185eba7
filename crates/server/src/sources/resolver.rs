//! Interprets request targets: parses them by the dialects, checks who may request them, and locates their sources and
//! overlay images.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use andon_cache::Key;
use andon_dialects::{
    Ask, Dialects, ErrorStyle, Fallback, Fault, Headers, ImageRequest, Places, Redirect, Refusal,
    Source as Location,
};
use andon_pixels::Codec;
use andon_recipe::{Facts, ResolveError};
use andon_settings::check;
use hyper::HeaderMap;
use url::Url;

use crate::admission::Shares;
use crate::config::{Config, ConfigError, OriginKind};
use crate::error::Error;
use crate::origins::Origins;
use crate::request::conditional::Validators;
use crate::sources::media_type;
use crate::sources::overlaps::Overlaps;
use crate::sources::overlay_cache::OverlayCache;
use crate::sources::overlays::OverlayFolder;
use crate::sources::revision::Revision;

pub(crate) use crate::sources::open_source::FileHead;
pub use crate::sources::open_source::{OpenSource, Read};

/// Parses targets into requests, and opens the files that they need.
pub struct Resolver {
    revision: Revision,
    dialects: Dialects,
    /// The codecs whose formats count as images.
    pub(super) codecs: &'static [&'static dyn Codec],
    pub(super) origins: Origins,
    pub(super) overlay_folder: Arc<OverlayFolder>,
    overlaps: Overlaps,
    pub(super) most_bytes: u64,
    /// Time limit for one request.
    pub(super) timeout: Duration,
    /// Name of the folder that a server without a configuration file serves, for hints to its user.
    folder: Option<String>,
}

/// Request headers as they were received.
struct Received<'a>(&'a HeaderMap);

impl Headers for Received<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }
}

/// Formats the resolver without its codecs, which have no text form.
impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver")
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

impl Resolver {
    /// Opens every folder of the configuration and compiles its dialects.
    ///
    /// # Errors
    /// An error that names what cannot be opened or compiled.
    pub fn new(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
    ) -> Result<Self, ConfigError> {
        Self::after(config, codecs, None)
    }

    /// Creates a resolver that replaces the `former` one after a reload. It takes over the slots for requests to
    /// origins and the decoded overlay images, with their former limits until they are resized.
    ///
    /// # Errors
    /// An error that names what cannot be opened or compiled.
    pub(crate) fn after(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
        former: Option<&Self>,
    ) -> Result<Self, ConfigError> {
        let former_origins = former.map(|former| &former.origins);
        let overlays = former.map_or_else(
            || Arc::new(OverlayCache::new(Shares::of(config).overlays)),
            |former| former.overlay_folder.cache().clone(),
        );
        let folder = config.dialects.small_light.material_dir.as_deref();
        let origins = Origins::open(&config.origin, config.limits.source_bytes.0, former_origins)?;
        let resolver = Self {
            revision: Revision::of(codecs),
            dialects: Dialects::new(&config.dialects)?,
            codecs,
            overlaps: Overlaps::of(folder, &origins),
            origins,
            overlay_folder: Arc::new(OverlayFolder::open(folder, overlays)?),
            most_bytes: config.limits.source_bytes.0,
            timeout: config.timeouts.request.0,
            folder: folder_name(config),
        };
        resolver.check_watermark(config)?;
        Ok(resolver)
    }

    /// Checks that the watermark of imgproxy's URLs, if one is configured, is an image that an origin or the folder of
    /// overlays may have.
    fn check_watermark(&self, config: &Config) -> Result<(), ConfigError> {
        const KEY: &str = "imgproxy.watermark.file";
        let dialects = &config.dialects;
        let Some(mark) = &dialects.imgproxy.watermark else {
            return Ok(());
        };
        if Location::of_overlay(&mark.file).is_some() {
            return self.configured(&mark.file, KEY).map(|_| ());
        }
        check(dialects.small_light.material_dir.is_some(), KEY, || {
            format!(
                "\"{}\" is the name of a file in `small_light.material_dir`, which names no folder; an image of an origin has a \
                 path that begins with `/`, or a URL",
                mark.file
            )
        })
    }

    /// Returns the validators of a request's result, with which a client can check whether its copy is current. `facts`
    /// are those of the source.
    ///
    /// # Errors
    /// The error of the request's rules for a source with these facts.
    pub fn validators(
        &self,
        request: &ImageRequest,
        facts: &Facts,
        input: &OpenSource,
    ) -> Result<Validators, ResolveError> {
        let recipe = Revision::recipe(&*request.rules, facts)?;
        Ok(input.validators(&match recipe {
            None => self.revision.result(&request.ask, &request.rules.text()),
            Some(recipe) => self.revision.result(&request.ask, &recipe),
        }))
    }

    /// Returns the request in every dialect that can express it: the dialect's name and the target.
    pub fn written<'a>(
        &'a self,
        request: &'a ImageRequest,
    ) -> impl Iterator<Item = (&'static str, String)> + 'a {
        self.dialects.write(request)
    }

    /// Returns the origins of images.
    pub(crate) fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Returns the folder of overlay images.
    pub(crate) fn overlay_folder(&self) -> &Arc<OverlayFolder> {
        &self.overlay_folder
    }

    /// Parses `target`, which is the path and query of the request line.
    ///
    /// # Errors
    /// `Target` for an invalid target or one that is not open to everybody; `Moved` for a redirect.
    pub fn parse(&self, target: &str) -> Result<ImageRequest, Error> {
        self.parse_with(target, &HeaderMap::new())
    }

    /// Parses a target of a request with these headers.
    ///
    /// # Errors
    /// `Target` for an invalid target or one that is not open to everybody; `Moved` for a redirect.
    pub(crate) fn parse_with(
        &self,
        target: &str,
        headers: &HeaderMap,
    ) -> Result<ImageRequest, Error> {
        let resolve = |request| self.resolve(request);
        self.dialects
            .parse_for(target, &Received(headers), self, resolve)
    }

    /// Checks the overlays of an upload and, unless its sender is entitled to everything, limits the operations that it
    /// may request.
    ///
    /// # Errors
    /// `Target` for an overlay that may only be used in signed URLs, and the errors of [`Resolver::check_overlays`].
    pub(crate) fn check_upload(
        &self,
        request: &mut ImageRequest,
        is_entitled: bool,
    ) -> Result<(), Error> {
        let result = self.dialects.check_upload(request, self, is_entitled);
        result.map_err(Error::Target)?;
        self.check_overlays(request)
    }

    /// Parses a target for a sender that may request everything: of the access rules, only signatures are checked.
    ///
    /// # Errors
    /// `Target` for an invalid target; `Moved` for a redirect. Targets that are not open to everybody are no error.
    pub fn read(&self, target: &str) -> Result<ImageRequest, Error> {
        self.resolve(self.dialects.parse(target)?)
    }

    /// Returns the request with its source and its fallback image in the canonical form of their origins.
    ///
    /// # Errors
    /// `Target` for a source or an overlay at a URL that no origin serves, and for a redirect to such a URL; `Moved`
    /// for any other redirect.
    fn resolve(&self, mut request: ImageRequest) -> Result<ImageRequest, Error> {
        if let Ask::Redirect(redirect) = request.ask {
            let Redirect { to, status } = redirect;
            let errors = request.style.errors;
            // An open redirect would let others use this server's name for their own sites.
            if to.contains("://") && self.origins.locate(&to).is_none() {
                return Err(nowhere(&to, errors));
            }
            return Err(Error::Moved { to, status, errors });
        }
        if let (Location::Url(url), None) = (&request.source, request.source.colour()) {
            let location = self.origins.locate(url);
            request.source = location.ok_or_else(|| nowhere(url, request.style.errors))?;
        }
        if matches!(request.source, Location::Escaped(_)) {
            request.source = self.origins.settle(request.source);
        }
        self.locate_overlays(&request)?;
        let fallback = match request.style.fallback.take() {
            Some(Fallback::Image(source)) => self.settle(source).map(Fallback::Image),
            Some(Fallback::Redirect(url)) => {
                let has_origin = self.origins.locate(&url).is_some();
                has_origin.then_some(Fallback::Redirect(url))
            }
            None => None,
        };
        request.style.fallback = fallback;
        Ok(request)
    }

    /// Checks the overlay images of a request that was not parsed from a URL, such as an upload.
    ///
    /// # Errors
    /// `Target` for a path with dot segments, a URL that parsers may read differently, and a URL that no origin serves.
    pub(crate) fn check_overlays(&self, request: &ImageRequest) -> Result<(), Error> {
        andon_dialects::check_overlays(request, self).map_err(Error::Target)?;
        self.locate_overlays(request)
    }

    /// Refuses overlay images at URLs that no origin serves.
    ///
    /// # Errors
    /// `Target`, naming the URL.
    fn locate_overlays(&self, request: &ImageRequest) -> Result<(), Error> {
        for name in request.rules.overlays() {
            if let Some(Location::Url(url)) = Location::of_overlay(&name) {
                let location = self.origins.locate(&url);
                location.ok_or_else(|| nowhere(&url, request.style.errors))?;
            }
        }
        Ok(())
    }

    /// Returns the names and locations of the overlay images of a request that have to be fetched because they are not
    /// in folders.
    pub(crate) fn overlays_to_fetch(&self, request: &ImageRequest) -> BTreeMap<String, Location> {
        let names = request.rules.overlays().into_iter();
        let overlays = names.filter_map(|name| {
            let source = self.overlay(Location::of_overlay(&name)?);
            Some((name, source))
        });
        overlays
            .filter(|(_, source)| self.origins.is_remote(source.as_str()))
            .collect()
    }

    /// Returns the location of a source by the canonical name that its origin uses, or `None` for a URL that no origin
    /// serves.
    fn settle(&self, source: Location) -> Option<Location> {
        match source {
            Location::Url(url) => self.origins.locate(&url),
            Location::Path(_) | Location::Escaped(_) => Some(self.origins.settle(source)),
        }
    }

    /// Returns an overlay image's location in the canonical form of its origin. If no origin serves the image, returns
    /// `source` unchanged.
    pub(super) fn overlay(&self, source: Location) -> Location {
        self.settle(source.clone()).unwrap_or(source)
    }

    /// Returns the location of an image that the configuration names by a path or URL, in the canonical form of its
    /// origin.
    ///
    /// # Errors
    /// An error that names `key` if no origin serves such an image.
    pub(crate) fn configured(
        &self,
        name: &str,
        key: impl Into<String>,
    ) -> Result<Location, ConfigError> {
        let source = Location::of_overlay(name).unwrap_or_else(|| Location::from_path(name));
        let location = self.settle(source);
        let location = location.filter(|source| self.origins.has(source.as_str()));
        location.ok_or_else(|| {
            let why = format!(
                "no origin has \"{name}\"; `prefix`, `fs.urls`, `http.base`, `http.urls` or `buckets` of an [[origin]] says what it serves"
            );
            ConfigError::new(key, why)
        })
    }

    /// Returns the path of an overlay image that a purge by source is compared with, or `None` for a file in the folder
    /// of overlay images.
    pub(crate) fn overlay_path(&self, name: &str) -> Option<String> {
        let source = self.overlay(Location::of_overlay(name)?);
        Some(format!("/{}", source.place()))
    }

    /// Returns the maximum size of a source in bytes.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Returns the key of the origin of a request's source, for state that applies to the whole origin.
    pub(crate) fn origin(&self, request: &ImageRequest) -> Key {
        let source = request.source.as_str();
        // The URL of an object store has no host; its origin has a name.
        let host = Url::parse(source)
            .ok()
            .filter(|url| url.origin().is_tuple())
            .map(|url| url.origin().ascii_serialization());
        let name = host.unwrap_or_else(|| self.origins.name(source));
        Key::of(&["origin", &name])
    }

    /// Returns the names of the dialects that are open to everybody, each with an example target. `path` is the path of
    /// the file, percent-encoded and with a leading slash.
    pub(crate) fn examples(&self, path: &str) -> impl Iterator<Item = (&'static str, String)> {
        self.dialects.open_examples(path)
    }

    /// Whether unsigned URLs may request unchanged files.
    pub(crate) fn opens_files(&self) -> bool {
        self.dialects.opens_files()
    }

    /// Returns the target to which a `[[rewrite]]` rule changes this one, or `None` if no rule applies.
    #[must_use]
    pub fn rewritten(&self, target: &str) -> Option<String> {
        self.dialects.rewritten(target)
    }

    /// Returns a hint about a target that finds no file: that it looks like a dialect that is not enabled for it, that
    /// its path begins with the name of the folder that is served, or that the name is not that of an image.
    #[must_use]
    pub fn hint(&self, target: &str) -> Option<String> {
        let of_dialects = self.dialects.hint(target);
        let of_folder = of_dialects.or_else(|| self.hint_of_folder(target));
        of_folder.or_else(|| self.hint_of_files(target))
    }

    /// Returns a hint that pages, folders and other files whose names are not those of images are not served. The hint
    /// does not reveal whether the file exists.
    fn hint_of_files(&self, target: &str) -> Option<String> {
        const ALL: &str = "only images are served of this folder: `fs.files = \"all\"` of an [[origin]] serves its pages and other files, too";
        let request = self.read(target).ok().filter(ImageRequest::is_file)?;
        let path = request.source.as_str();
        if !self.origins.has_only_images(path) {
            return None;
        }
        if path.ends_with('/') {
            let page = "folders have no pages of their own: the one at / lists all images, and searches them by folder and name";
            return Some(if self.folder.is_some() { page } else { ALL }.to_owned());
        }
        let is_other = media_type::by_name(&[], path).is_some();
        (is_other && !media_type::promises_image(self.codecs, path)).then(|| ALL.to_owned())
    }

    fn hint_of_folder(&self, target: &str) -> Option<String> {
        let folder = self.folder.as_deref()?;
        let request = self.read(target).ok()?;
        let rest = request.source.as_str().strip_prefix(folder)?;
        let rest = rest.strip_prefix('/')?;
        let prefix = format!("/{}/", folder.replace(' ', "%20"));
        let url = target.replacen(&prefix, "/", 1);
        // The target may contain the name more than once, or in another encoding.
        let is_same = |it: ImageRequest| it.source.as_str() == rest;
        self.read(&url).is_ok_and(is_same).then(|| {
            format!("paths begin below the folder that is served, {folder}: here it is {url}")
        })
    }
}

/// Returns the name of the folder at `/` of a server without a configuration file. Other servers do not reveal the
/// names of their folders.
fn folder_name(config: &Config) -> Option<String> {
    let origin = config.origin.first().filter(|_| config.loopback_is_local)?;
    let OriginKind::Fs(folder) = &origin.keeper else {
        return None;
    };
    let name_of = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    // The path `.` has no file name until it is canonicalized.
    name_of(&folder.root).or_else(|| name_of(&folder.root.canonicalize().ok()?))
}

/// Returns the error for a URL that no origin serves.
fn nowhere(url: &str, errors: ErrorStyle) -> Error {
    let why = "no origin has it; `fs.urls`, `http.base`, `http.urls` or `buckets` of an origin says which URLs are served";
    Error::Target(Refusal {
        errors,
        ..Refusal::of(Fault::Source, url, why)
    })
}

impl Places for Resolver {
    fn path_of_url(&self, url: &str) -> Option<String> {
        self.origins.path_of_url(url)
    }

    fn is_literal(&self, path: &str) -> bool {
        self.origins.is_key(path)
    }

    fn paths_of_overlay(&self, name: &str) -> Vec<String> {
        self.overlaps.paths_of(name)
    }
}
