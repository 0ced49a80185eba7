//! What a request target means, and which files it needs: everything about a request except its sockets and its pixels.
//! Opening and reading files may block on a disk, so call these functions from a thread that may wait.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use andon_cache::Key;
use andon_dialects::signature::Checksum;
use andon_dialects::{
    AnswerStyle, Ask, Dialects, Fallback, Headers, ImageRequest, OWN_ERRORS, Places, Redirect,
    Refusal, Source as Location,
};
use andon_pixels::Codec;
use andon_recipe::{Facts, ResolveError};
use bytes::Bytes;
use hyper::HeaderMap;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::admission::{Admitted, Shares};
use crate::config::{Config, ConfigError, Files};
use crate::error::OriginError;
use crate::error::{Error, Withheld};
use crate::origins::{
    Blocking, Budget, Entry, Fetched, Freshness, Identity, OpenFile, OriginMetrics, Origins,
    Reservation, Source, SourceMemory, SourceValidators, Status,
};
use crate::request::conditional::Validators;
use crate::sources::materials::{LoadedMaterials, MaterialFolder, OpenMaterials};
use crate::sources::media_type;
use crate::sources::overlay_cache::OverlayCache;
use crate::sources::revision::Revision;
use crate::sources::source_cache::CachedSource;

/// Parses targets into requests, and opens the files that they need.
pub struct Resolver {
    revision: Revision,
    dialects: Dialects,
    /// The codecs whose formats count as images.
    codecs: &'static [&'static dyn Codec],
    origins: Origins,
    materials: Arc<MaterialFolder>,
    /// Where the folder of overlay images overlaps with the folders of origins.
    overlaps: Vec<Overlap>,
    most_bytes: u64,
    /// Time limit for one answer.
    timeout: Duration,
}

/// Overlay images that can also be requested as sources, because their folder overlaps with that of an origin.
#[derive(Debug, PartialEq, Eq)]
struct Overlap {
    /// Prefix of the names of these overlay images.
    name: String,
    /// What replaces that prefix in the paths of sources.
    path: String,
}

/// A request whose files are open.
#[derive(Debug)]
pub struct OpenSource {
    /// The path of the file, below `/`: the request's source, or the index of a folder.
    pub path: String,
    content: Content,
    materials: OpenMaterials,
    most_bytes: u64,
    /// The digest that the source must have, if the URL states one.
    checksum: Option<Checksum>,
    /// The request's admission, once it is admitted to work that costs more than opening files.
    pub(crate) admitted: Option<Admitted>,
}

/// An open file and its beginning.
pub(crate) struct FileHead {
    pub(crate) file: Arc<OpenFile>,
    pub(crate) beginning: Bytes,
}

/// The source of a request.
#[derive(Clone, Debug)]
enum Content {
    /// A file that is not read yet, and the metrics that count reading it.
    File(Arc<OpenFile>, Arc<OriginMetrics>),
    /// A file that is in memory, where other requests may use it too.
    CachedSource(Identity, CachedSource),
    /// A source that was fetched, because over a network there is nothing to open.
    Fetched(Source),
}

/// The content of a request's files.
#[derive(Debug)]
pub struct Read {
    /// The source's bytes.
    pub source: Bytes,
    /// The overlays that the image is composed with.
    pub materials: LoadedMaterials,
    /// Keeps the source's bytes counted, if they were in memory before.
    pub hold: Option<Arc<Reservation>>,
}

/// Request headers as they were received.
struct Received<'a>(&'a HeaderMap);

impl Headers for Received<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }
}

/// Leaves out the codecs, which have no text form.
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

    /// Creates a resolver that replaces `before`, for a reload. It takes over the slots for requests to origins and the
    /// decoded overlay images, with their former limits until they are resized.
    ///
    /// # Errors
    /// As [`Resolver::new`].
    pub(crate) fn after(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
        before: Option<&Self>,
    ) -> Result<Self, ConfigError> {
        let former = before.map(|before| &before.origins);
        let overlays = before.map_or_else(
            || Arc::new(OverlayCache::new(Shares::of(config).overlays)),
            |before| before.materials.decoded().clone(),
        );
        let folder = config.dialects.small_light.material_dir.as_deref();
        let origins = Origins::open(&config.origin, config.limits.source_bytes.0, former)?;
        Ok(Self {
            revision: Revision::of(codecs),
            dialects: Dialects::new(&config.dialects)?,
            codecs,
            overlaps: overlaps(folder, &origins),
            origins,
            materials: Arc::new(MaterialFolder::open(folder, overlays)?),
            most_bytes: config.limits.source_bytes.0,
            timeout: config.timeouts.request.0,
        })
    }

    /// Returns the validators of a request's result, with which a client can check whether its copy is current. The
    /// source has these facts.
    ///
    /// # Errors
    /// Those of the request's rules for such a source.
    pub fn validators(
        &self,
        request: &ImageRequest,
        facts: &Facts,
        found: &OpenSource,
    ) -> Result<Validators, ResolveError> {
        let recipe = Revision::recipe(&*request.rules, facts)?;
        Ok(found.validators(&match recipe {
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

    /// The origins that images come from.
    pub(crate) fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The folder of overlay images.
    pub(crate) fn materials(&self) -> &Arc<MaterialFolder> {
        &self.materials
    }

    /// Reads `target`, which is the path and query as they stand in the request line.
    ///
    /// # Errors
    /// `Target`, also for a request that is not open to everybody; `Moved` for a redirect.
    pub fn parse(&self, target: &str) -> Result<ImageRequest, Error> {
        self.parse_with(target, &HeaderMap::new())
    }

    /// Reads a target that came with these headers.
    ///
    /// # Errors
    /// As [`Resolver::parse`].
    pub(crate) fn parse_with(
        &self,
        target: &str,
        headers: &HeaderMap,
    ) -> Result<ImageRequest, Error> {
        let resolve = |request| self.resolve(request);
        self.dialects
            .parse_for(target, &Received(headers), self, resolve)
    }

    /// Checks the overlays of an upload by the rules for URLs without a signature.
    ///
    /// # Errors
    /// `Target`.
    pub(crate) fn check_upload(&self, request: &ImageRequest) -> Result<(), Error> {
        let checked = self.dialects.check_upload(request, self);
        checked.map_err(Error::Target)
    }

    /// Reads a target for a sender that may request everything: of the access rules, only signatures are checked.
    ///
    /// # Errors
    /// As [`Resolver::parse`], except those for requests that are not open to everybody.
    pub fn read(&self, target: &str) -> Result<ImageRequest, Error> {
        self.resolve(self.dialects.parse(target)?)
    }

    /// Returns the request with its sources located in the origins.
    fn resolve(&self, mut request: ImageRequest) -> Result<ImageRequest, Error> {
        let nowhere = |url: &str, errors| {
            let why = "no origin has it; `http.base` or `http.urls` of an origin says which URLs are served";
            Error::Target(Refusal {
                errors,
                ..Refusal::of(andon_dialects::Fault::Source, url, why)
            })
        };
        if let Ask::Redirect(redirect) = request.ask {
            let Redirect { to, status } = redirect;
            let errors = request.style.errors;
            // Nobody is sent anywhere else in our name.
            if to.contains("://") && self.origins.locate(&to).is_none() {
                return Err(nowhere(&to, errors));
            }
            return Err(Error::Moved { to, status, errors });
        }
        if let (Location::Url(url), None) = (&request.source, request.source.colour()) {
            let located = self.origins.locate(url);
            request.source = located.ok_or_else(|| nowhere(url, request.style.errors))?;
        }
        if matches!(request.source, Location::Escaped(_)) {
            request.source = self.origins.settle(request.source);
        }
        let fallback = match request.style.fallback.take() {
            Some(Fallback::Image(Location::Url(url))) => {
                self.origins.locate(&url).map(Fallback::Image)
            }
            Some(Fallback::Image(source)) => Some(Fallback::Image(self.origins.settle(source))),
            Some(Fallback::Redirect(url)) => {
                let served = self.origins.locate(&url).is_some();
                served.then_some(Fallback::Redirect(url))
            }
            None => None,
        };
        request.style.fallback = fallback;
        Ok(request)
    }

    /// Opens the files that a request needs, without reading them. A source that is not in a folder is fetched, on this
    /// very thread.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Moved`, `Io`, `Pixels` naming a missing material, and all of [`Resolver::fetch`].
    pub fn open(&self, request: &ImageRequest) -> Result<OpenSource, Error> {
        if !self.is_remote(request) {
            return self.open_files(request, Blocking::Allowed);
        }
        let materials = self.open_materials(request, Blocking::Allowed)?;
        let budget = Budget {
            deadline: Instant::now() + self.timeout,
            held: SourceMemory::new(self.most_bytes),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        match runtime.block_on(self.fetch(request, None, &budget))? {
            Fetched::Body(source) => Ok(self.found(request, source, materials)),
            Fetched::NotModified(_) => Err(OriginError::Status(304).into()),
        }
    }

    /// Whether a request's source has to be fetched with [`Resolver::fetch`], because it is not in a folder.
    #[must_use]
    pub fn is_remote(&self, request: &ImageRequest) -> bool {
        request.source.colour().is_some() || self.origins.is_remote(request.source.as_str())
    }

    /// Returns the key of the origin that a request's source comes from, for what applies to the whole origin.
    pub(crate) fn origin(&self, request: &ImageRequest) -> Key {
        let source = request.source.as_str();
        let host = Url::parse(source)
            .ok()
            .map(|url| url.origin().ascii_serialization());
        let name = host.unwrap_or_else(|| self.origins.name(source));
        Key::of(&["origin", &name])
    }

    /// Fetches a request's source from wherever it is kept, unless it still is in the state `known`.
    ///
    /// # Errors
    /// As [`Origins::fetch`]; `Origin` also for a source that is to be passed on as it is and may be truncated.
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

    /// Opens the materials that a request's image is composed with.
    ///
    /// # Errors
    /// `Pixels` naming a missing material; `Io`, as [`Root::entry`].
    ///
    /// [`Root::entry`]: crate::origins::Root::entry
    pub fn open_materials(
        &self,
        request: &ImageRequest,
        blocking: Blocking,
    ) -> Result<OpenMaterials, Error> {
        let served = |path: &str| self.origins.entry(path, blocking);
        let names = request.rules.materials();
        self.materials.open_for(names, served, blocking)
    }

    /// Returns a request whose source was fetched and whose materials are open.
    #[must_use]
    pub fn found(
        &self,
        request: &ImageRequest,
        source: Source,
        materials: OpenMaterials,
    ) -> OpenSource {
        OpenSource {
            path: request.source.as_str().to_owned(),
            content: Content::Fetched(source),
            materials,
            most_bytes: self.most_bytes,
            checksum: request.style.checksum.clone(),
            admitted: None,
        }
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

    /// Returns a target in each dialect that is open to everybody, for [`andon_dialects::EXAMPLE_SOURCE`].
    pub(crate) fn examples(&self) -> impl Iterator<Item = String> {
        self.dialects.open_examples()
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

    /// Opens the files that a request needs, all of which are in folders, without reading them.
    ///
    /// # Errors
    /// As [`Resolver::open`]; `Io`, as [`Root::entry`].
    ///
    /// [`Root::entry`]: crate::origins::Root::entry
    pub(crate) fn open_files(
        &self,
        request: &ImageRequest,
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
                Err(error) if blocking.ends_with(&error) => return Err(error),
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
        let materials = self.open_materials(request, blocking)?;
        Ok(OpenSource {
            path,
            content: Content::File(Arc::new(file), figures),
            materials,
            most_bytes: self.most_bytes,
            checksum: request.style.checksum.clone(),
            admitted: None,
        })
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

impl OpenSource {
    /// Size in bytes of all files together.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.source_size().saturating_add(self.materials.size())
    }

    /// Size in bytes of the source alone.
    fn source_size(&self) -> u64 {
        match &self.content {
            Content::File(file, _) => file.identity.size,
            Content::CachedSource(identity, _) => identity.size,
            Content::Fetched(source) => source.bytes.len() as u64,
        }
    }

    /// Checks that the source is no larger than its request allows.
    pub(crate) fn within(&self, style: &AnswerStyle) -> Result<(), Error> {
        let bytes = self.source_size();
        let over = style.most_bytes.filter(|most| bytes > *most);
        over.map_or(Ok(()), |most| {
            let (piece, why) = (
                self.path.clone(),
                format!("it has {bytes} bytes, and may have {most}"),
            );
            Err(Error::Pixels(andon_pixels::Error::Unfit { piece, why }))
        })
    }

    /// Returns the validators of a result, with which a client can check whether its copy is current. `result` is the
    /// text that names it, or empty for the file as it is.
    #[must_use]
    pub fn validators(&self, result: &str) -> Validators {
        let materials = self.materials.identities();
        match &self.content {
            Content::File(file, _) => Validators::new(result, &file.identity, &materials),
            Content::CachedSource(identity, _) => Validators::new(result, identity, &materials),
            Content::Fetched(source) => {
                Validators::of_fetched(result, &source.validators, &materials)
            }
        }
    }

    /// How long the origin allows a fetched source to be used; `None` for a file.
    pub(crate) fn freshness(&self) -> Option<Freshness> {
        match &self.content {
            Content::File(..) | Content::CachedSource(..) => None,
            Content::Fetched(source) => Some(source.freshness),
        }
    }

    /// The version of the source's content.
    pub(crate) fn version(&self) -> String {
        match &self.content {
            Content::File(file, _) => file.identity.version(),
            Content::CachedSource(identity, _) => identity.version(),
            Content::Fetched(source) => source.validators.identity.clone(),
        }
    }

    /// Returns the source's file if it is in memory and nothing is composed with it.
    pub(crate) fn cached(&self) -> Option<CachedSource> {
        match &self.content {
            Content::CachedSource(_, cached) if self.materials.is_empty() => Some(cached.clone()),
            _ => None,
        }
    }

    /// Whether the whole source is in memory and nothing is composed with it.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.materials.is_empty() && !matches!(self.content, Content::File(..))
    }

    /// Returns the source without materials, for other requests as well: the digest that one URL states is not checked.
    pub(crate) fn source_alone(&self) -> Self {
        Self {
            path: self.path.clone(),
            content: self.content.clone(),
            materials: self.materials.none(),
            most_bytes: self.most_bytes,
            checksum: None,
            admitted: None,
        }
    }

    /// Returns the key of the source's exact bytes, which is the same for all results that are made from them.
    pub(crate) fn source_key(&self) -> Key {
        let (kind, state) = match &self.content {
            Content::File(file, _) => ("file", format!("{:?}", file.identity)),
            Content::CachedSource(identity, _) => ("file", format!("{identity:?}")),
            Content::Fetched(source) => ("fetched", source.validators.identity.clone()),
        };
        Key::of(&[kind, &self.path, &state])
    }

    /// Whether the whole source has to be checked before any of it is sent.
    pub(crate) fn is_checked(&self) -> bool {
        self.checksum.is_some()
    }

    /// Returns how many bytes reading the files brings into memory. What is in memory already is counted there.
    pub(crate) fn size_to_read(&self) -> u64 {
        match &self.content {
            Content::File(..) => self.size(),
            Content::CachedSource(..) | Content::Fetched(_) => self.materials.size(),
        }
    }

    /// Returns the state of the source's file, if the source is a file that may be served again as it is.
    pub(crate) fn same_again(&self) -> Option<Identity> {
        match &self.content {
            // A date in the future is told as the present moment.
            Content::File(file, _)
                if !self.is_checked() && file.identity.modified() <= SystemTime::now() =>
            {
                Some(file.identity)
            }
            _ => None,
        }
    }

    /// Whether the source was fetched over a network.
    pub(crate) fn is_fetched(&self) -> bool {
        matches!(self.content, Content::Fetched(_))
    }

    /// Returns a function that reads the source's file, if that is all there is to read and it is not in memory yet.
    pub(crate) fn reading(
        &self,
    ) -> Option<impl Fn(Blocking) -> Result<Bytes, Error> + Send + 'static> {
        let Content::File(file, figures) = &self.content else {
            return None;
        };
        let (file, figures, most_bytes) = (file.clone(), figures.clone(), self.most_bytes);
        let reading = move |blocking| counted(&figures, &file, most_bytes, blocking);
        self.materials.is_empty().then_some(reading)
    }

    /// Returns this source with its file in memory.
    pub(crate) fn filled(mut self, cached: CachedSource) -> Self {
        if let Content::File(file, _) = &self.content {
            self.content = Content::CachedSource(file.identity, cached);
        }
        self
    }

    /// Returns the file with up to `most` bytes of its beginning, for callers that read the rest piece by piece.
    ///
    /// # Errors
    /// `Pixels(Limit)`, `Changing`, `Io`; `Missing` if the source is not an unread file.
    pub(crate) fn begin(&self, most: usize, blocking: Blocking) -> Result<FileHead, Error> {
        let Content::File(file, figures) = &self.content else {
            return Err(Error::Missing {
                path: self.path.clone(),
            });
        };
        let began = Instant::now();
        let size = file.check_size(self.most_bytes);
        let read = size.and_then(|size| Ok((size, file.piece(0, most, blocking)?)));
        let bytes = read.as_ref().map(|(size, _)| Some(*size));
        figures.count_unless_blocked(bytes, began.elapsed(), blocking);
        Ok(FileHead {
            beginning: read?.1,
            file: file.clone(),
        })
    }

    /// Reads the files.
    ///
    /// # Errors
    /// `Pixels(Limit)`, `Changing`, `Io`.
    pub fn read(&self) -> Result<Read, Error> {
        self.read_if(Blocking::Allowed)
    }

    /// Reads the files on a thread that may or may not wait for a disk.
    ///
    /// # Errors
    /// As [`OpenSource::read`]; `Io(WouldBlock)` if the thread may not wait and would have to.
    pub(crate) fn read_if(&self, blocking: Blocking) -> Result<Read, Error> {
        self.read_all(blocking).map_err(|error| match error {
            error @ Error::Io(_) => error.at(|| format!("file /{}", self.path)),
            error => error,
        })
    }

    fn read_all(&self, blocking: Blocking) -> Result<Read, Error> {
        // A digest of many megabytes takes as long as reading them.
        blocking.allow(!self.is_checked())?;
        let (source, hold) = match &self.content {
            Content::File(file, figures) => {
                (counted(figures, file, self.most_bytes, blocking)?, None)
            }
            Content::CachedSource(_, cached) => (cached.bytes.clone(), Some(cached.hold.clone())),
            Content::Fetched(source) => (source.bytes.clone(), Some(source.hold.clone())),
        };
        if self
            .checksum
            .as_ref()
            .is_some_and(|checksum| !checksum.is_of(&source))
        {
            let (piece, why) = (
                format!("/{}", self.path),
                "its digest is another than the URL says".to_owned(),
            );
            return Err(Error::Pixels(andon_pixels::Error::Unfit { piece, why }));
        }
        Ok(Read {
            source,
            materials: self.materials.read(self.most_bytes, blocking)?,
            hold,
        })
    }
}

impl Places for Resolver {
    fn path_of_url(&self, url: &str) -> Option<String> {
        self.origins.path_of_url(url)
    }

    fn is_literal(&self, path: &str) -> bool {
        self.origins.is_key(path)
    }

    fn paths_of_overlay(&self, name: &str) -> Vec<String> {
        let path = |overlap: &Overlap| {
            let rest = name.strip_prefix(&*overlap.name)?;
            Some(format!("{}{rest}", overlap.path))
        };
        self.overlaps.iter().filter_map(path).collect()
    }
}

/// Returns where the folder of overlay images lies within an origin's folder, or the other way round.
fn overlaps(folder: Option<&Path>, origins: &Origins) -> Vec<Overlap> {
    let Some(folder) = folder.and_then(|folder| folder.canonicalize().ok()) else {
        return Vec::new();
    };
    let text = |path: &Path| match path.to_str() {
        Some("") => Some(String::new()),
        Some(path) => Some(format!("{path}/")),
        None => None,
    };
    let overlap = |(prefix, root): (&str, &Path)| {
        let root = root.canonicalize().ok()?;
        let (name, below) = match (folder.strip_prefix(&root), root.strip_prefix(&folder)) {
            (Ok(inside), _) => (String::new(), text(inside)?),
            (_, Ok(inside)) => (text(inside)?, String::new()),
            _ => return None,
        };
        let path = format!("{prefix}/{below}");
        Some(Overlap { name, path })
    };
    origins.folders().filter_map(overlap).collect()
}

/// Reads a file and counts that in the metrics of its origin.
fn counted(
    figures: &OriginMetrics,
    file: &OpenFile,
    most_bytes: u64,
    blocking: Blocking,
) -> Result<Bytes, Error> {
    let began = Instant::now();
    let read = file.read(most_bytes, blocking);
    let bytes = read.as_ref().map(|bytes| Some(bytes.len() as u64));
    figures.count_unless_blocked(bytes, began.elapsed(), blocking);
    Ok(Bytes::from_owner(read?))
}

const INDEX: &str = "index.html";
