//! The source of a request, open or in memory, and the overlays that belong to it.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use andon_cache::Key;
use andon_dialects::AnswerStyle;
use andon_dialects::signature::Checksum;
use bytes::Bytes;

use crate::admission::Admitted;
use crate::error::Error;
use crate::origins::{Blocking, Freshness, Identity, OpenFile, OriginMetrics, Reservation, Source};
use crate::request::conditional::Validators;
use crate::sources::cached_source::CachedSource;
use crate::sources::overlays::{LoadedOverlays, OpenOverlays};

/// The source and the overlays of a request, open or in memory.
#[derive(Debug)]
pub struct OpenSource {
    /// The path of the file, below `/`: the request's source, or the index page of a folder.
    pub path: String,
    pub(super) content: Content,
    pub(super) overlays: OpenOverlays,
    pub(super) most_bytes: u64,
    /// The digest that the source must have, if the URL states one.
    pub(super) checksum: Option<Checksum>,
    /// The request's admission, once it is admitted to work that costs more than opening files.
    pub(crate) admitted: Option<Admitted>,
}

/// An open file and its beginning.
pub(crate) struct FileHead {
    /// The file itself, from which the rest can be read.
    pub(crate) file: Arc<OpenFile>,
    /// The first bytes of the file.
    pub(crate) beginning: Bytes,
}

/// The source of a request.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A file that has not been read yet, and the metrics that count reading it.
    File(Arc<OpenFile>, Arc<OriginMetrics>),
    /// A file that is in memory, where other requests may use it too.
    CachedSource(Identity, CachedSource),
    /// A source that was fetched over a network.
    Fetched(Source),
}

/// The content of a request's files.
#[derive(Debug)]
pub struct Read {
    /// The source's bytes.
    pub source: Bytes,
    /// The overlays that the image is composed with.
    pub overlays: LoadedOverlays,
    /// Keeps the memory of the source's bytes reserved, if they were in memory before.
    pub hold: Option<Arc<Reservation>>,
}

impl OpenSource {
    /// Size in bytes of the source and all overlays together.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.source_size().saturating_add(self.overlays.size())
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
        let limit = style.most_bytes.filter(|most| bytes > *most);
        limit.map_or(Ok(()), |most| {
            let why = format!("it has {bytes} bytes, and may have {most}");
            Err(unfit(self.path.clone(), why))
        })
    }

    /// Returns the validators of a result, with which a client can check whether its copy is current. `result` is the
    /// text that identifies the result, or empty for the unchanged file.
    #[must_use]
    pub fn validators(&self, result: &str) -> Validators {
        let overlays = self.overlays.states();
        match &self.content {
            Content::File(file, _) => Validators::new(result, &file.identity, &overlays),
            Content::CachedSource(identity, _) => Validators::new(result, identity, &overlays),
            Content::Fetched(source) => {
                Validators::of_fetched(result, &source.validators, &overlays)
            }
        }
    }

    /// Returns the overlays that the image is composed with.
    pub(crate) fn overlays(&self) -> &OpenOverlays {
        &self.overlays
    }

    /// Returns text that distinguishes this state of the overlays from any other. The text is empty without overlays.
    pub(crate) fn overlays_state(&self) -> String {
        let overlays = self.overlays.states();
        match &*overlays {
            [] => String::new(),
            all => format!("{all:?}"),
        }
    }

    /// The origin's caching directives for a fetched source; `None` for a file.
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
            Content::CachedSource(_, cached) if self.overlays.is_empty() => Some(cached.clone()),
            _ => None,
        }
    }

    /// Whether the whole source is in memory and nothing is composed with it.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.overlays.is_empty() && !matches!(self.content, Content::File(..))
    }

    /// Returns the source in a form that other requests can use, too: without this request's overlays, and without the
    /// digest that its URL may require.
    pub(crate) fn source_alone(&self) -> Self {
        Self {
            path: self.path.clone(),
            content: self.content.clone(),
            overlays: self.overlays.none(),
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

    /// Whether the whole source has to be compared with a digest before any of it is sent.
    pub(crate) fn is_checked(&self) -> bool {
        self.checksum.is_some()
    }

    /// Returns how many bytes reading the files adds to memory. A source that is in memory already adds none.
    pub(crate) fn size_to_read(&self) -> u64 {
        match &self.content {
            Content::File(..) => self.source_size() + self.overlays.size_to_read(),
            Content::CachedSource(..) | Content::Fetched(_) => self.overlays.size_to_read(),
        }
    }

    /// Returns the state of the source's file if, as long as the file stays in this state, the same response can be
    /// sent again. Returns `None` for a source that was fetched or is in memory already, for one that must match a
    /// digest, and for a file with a modification time in the future, which is sent as the present time.
    pub(crate) fn same_again(&self) -> Option<Identity> {
        match &self.content {
            // A modification time in the future is sent as the present moment, so it changes with every response.
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

    /// Returns a function that reads the source's file, if that is not in memory yet and there are no overlays to read.
    pub(crate) fn reader(
        &self,
    ) -> Option<impl Fn(Blocking) -> Result<Bytes, Error> + Send + 'static> {
        let Content::File(file, metrics) = &self.content else {
            return None;
        };
        let (file, metrics, most_bytes) = (file.clone(), metrics.clone(), self.most_bytes);
        let reader = move |blocking| read_and_count(&metrics, &file, most_bytes, blocking);
        self.overlays.is_empty().then_some(reader)
    }

    /// Returns this source with its file in memory. A source that is not an unread file does not change.
    pub(crate) fn with_cached(mut self, cached: CachedSource) -> Self {
        if let Content::File(file, _) = &self.content {
            self.content = Content::CachedSource(file.identity, cached);
        }
        self
    }

    /// Returns the file with up to `most` bytes of its beginning, for callers that read the rest in pieces.
    ///
    /// # Errors
    /// `Pixels(Limit)` if the file is too large; `Changing` if it has changed since it was opened; `Io` if it cannot be
    /// read; `Missing` if the source is not an unread file.
    pub(crate) fn begin(&self, most: usize, blocking: Blocking) -> Result<FileHead, Error> {
        let Content::File(file, metrics) = &self.content else {
            return Err(Error::Missing {
                path: self.path.clone(),
            });
        };
        let start = Instant::now();
        let size = file.check_size(self.most_bytes);
        let result = size.and_then(|size| Ok((size, file.piece(0, most, blocking)?)));
        let bytes = result.as_ref().map(|(size, _)| Some(*size));
        metrics.count_unless_blocked(bytes, start.elapsed(), blocking);
        Ok(FileHead {
            beginning: result?.1,
            file: file.clone(),
        })
    }

    /// Reads the source and the overlays.
    ///
    /// # Errors
    /// `Pixels(Limit)` if a file is too large; `Pixels(Unfit)` if the source does not have the digest that the URL
    /// states; `Changing` if a file has changed since it was opened; `Io` if one cannot be read.
    pub fn read(&self) -> Result<Read, Error> {
        self.read_if(Blocking::Allowed)
    }

    /// Reads the source and the overlays. `blocking` says whether this thread may wait for a disk.
    ///
    /// # Errors
    /// The errors of [`OpenSource::read`]; `Io(WouldBlock)` if the thread may not wait and would have to.
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
            Content::File(file, metrics) => (
                read_and_count(metrics, file, self.most_bytes, blocking)?,
                None,
            ),
            Content::CachedSource(_, cached) => (cached.bytes.clone(), Some(cached.hold.clone())),
            Content::Fetched(source) => (source.bytes.clone(), Some(source.hold.clone())),
        };
        let is_other = |checksum: &Checksum| !checksum.is_of(&source);
        if self.checksum.as_ref().is_some_and(is_other) {
            let why = "its digest is another than the URL says".to_owned();
            return Err(unfit(format!("/{}", self.path), why));
        }
        Ok(Read {
            source,
            overlays: self.overlays.read(self.most_bytes, blocking)?,
            hold,
        })
    }
}

/// Returns the error for a source that does not meet the conditions of its request: `piece` is the path of the source,
/// and `why` says what is wrong.
fn unfit(piece: String, why: String) -> Error {
    Error::Pixels(andon_pixels::Error::Unfit { piece, why })
}

/// Reads a file, and counts the read in the metrics of its origin.
fn read_and_count(
    metrics: &OriginMetrics,
    file: &OpenFile,
    most_bytes: u64,
    blocking: Blocking,
) -> Result<Bytes, Error> {
    let start = Instant::now();
    let result = file.read(most_bytes, blocking);
    let bytes = result.as_ref().map(|bytes| Some(bytes.len() as u64));
    metrics.count_unless_blocked(bytes, start.elapsed(), blocking);
    Ok(Bytes::from_owner(result?))
}
