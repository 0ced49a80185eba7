//! Origins, where images come from. The longest matching prefix wins, and prefixes match whole path segments.

mod beneath;
mod blocking;
mod bucket;
mod budget;
mod freshness;
mod http;
mod metrics;
mod objects;
mod shared;
mod source;

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[cfg(test)]
pub(crate) use beneath::SETTLED;
pub use beneath::{Entry, Identity, OpenFile, Root};
pub(crate) use beneath::{READ_AHEAD, Status};
pub use blocking::Blocking;
pub use budget::{Budget, Reservation, SourceMemory};
pub use freshness::{Freshness, Told};
pub(crate) use metrics::{Line, OriginMetrics, RESULTS};
pub use objects::{ObjectInfo, Objects};
pub(crate) use shared::open as open_store;
pub use source::{Fetched, Source, SourceValidators};

use self::bucket::BucketOrigin;
use self::http::HttpOrigin;
use self::http::client::{Client, Rules};
use self::http::encoded;
use andon_dialects::Source as Location;
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::config::{ConfigError, Files, FsConfig, OriginConfig, OriginKind, Place, RemoteConfig};
use crate::error::{Error, Withheld};
use crate::permits::Permits;

/// All origins, those with the longest prefix first.
#[derive(Debug)]
pub struct Origins(Vec<Origin>);

#[derive(Debug)]
struct Origin {
    place: Place,
    backend: Backend,
    figures: Arc<OriginMetrics>,
}

/// The current state and counters of one origin.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The origin's prefix with a leading slash, or the first of its URL patterns.
    pub(crate) name: String,
    pub(crate) figures: &'a OriginMetrics,
    /// Counters of its connections; `None` unless the origin is asked over a network.
    pub(crate) line: Option<Line>,
}

/// Where an origin's images are stored.
#[derive(Debug)]
enum Backend {
    Folder(Folder),
    Http(HttpOrigin),
    Bucket(BucketOrigin),
}

#[derive(Clone, Debug)]
struct Folder {
    root: Arc<Root>,
    /// The folder's path, for the log.
    path: PathBuf,
    files: Files,
    most_bytes: u64,
}

impl Origins {
    /// Opens every origin. No source may have more than `most_bytes`. Origins keep the request slots that they had
    /// under the same prefix in `before`, ahead of a reload, and in the same number until [`Origins::resize`].
    ///
    /// # Errors
    /// An error that names the origin which cannot be opened.
    pub fn open(
        configs: &[OriginConfig],
        most_bytes: u64,
        before: Option<&Self>,
    ) -> Result<Self, ConfigError> {
        let mut origins = configs
            .iter()
            .enumerate()
            .map(|(index, config)| {
                Origin::open(config, most_bytes, before)
                    .map_err(|what| ConfigError::new(format!("origin.{index}"), what))
            })
            .collect::<Result<Vec<_>, _>>()?;
        origins.sort_by_key(|origin| std::cmp::Reverse(origin.place.rank()));
        Ok(Self(origins))
    }

    /// Sets the number of request slots of every origin to that of this configuration.
    pub(crate) fn resize(&self) {
        self.0
            .iter()
            .filter_map(Origin::client)
            .for_each(Client::resize);
    }

    /// Whether `source` is on an origin that is asked over a network, by [`Origins::fetch`] alone.
    #[must_use]
    pub fn is_remote(&self, source: &str) -> bool {
        matches!(self.find(source), Ok((origin, _)) if !matches!(origin.backend, Backend::Folder(_)))
    }

    /// Converts an absolute URL to the name of a source, or `None` if no origin may be asked for it. The name is a path
    /// if the URL is below the base of an origin that requests the same URL for that path, and the URL itself
    /// otherwise.
    pub(crate) fn locate(&self, url: &str) -> Option<Location> {
        let text = url.split('#').next().unwrap_or_default();
        let url = Url::parse(text).ok()?;
        let is_listed = |origin: &Origin| {
            matches!(origin.place, Place::Urls(_)) && origin.place.rest(url.as_str()).is_some()
        };
        let path = match self.0.iter().any(is_listed) {
            true => None,
            false => self.path_by(|http| http.path_of(&url)),
        };
        match path {
            Some(path) => Some(Location::from_path(&path)),
            None => self
                .find(url.as_str())
                .is_ok()
                .then(|| Location::Url(with_query_of(text, &url))),
        }
    }

    /// Normalizes the name of a source so that each source has one. An escaped path stays escaped only where it may
    /// name another source than the decoded path does: on a web server or in a bucket.
    pub(crate) fn settle(&self, source: Location) -> Location {
        let Location::Escaped(text) = &source else {
            return source;
        };
        let says_more = match self.find(text) {
            Ok((origin, rest)) => match &origin.backend {
                Backend::Folder(_) => false,
                Backend::Http(_) => true,
                Backend::Bucket(_) => {
                    let key = percent_decode_str(&rest[ESCAPED.len()..]).decode_utf8_lossy();
                    key.split('/').any(str::is_empty)
                }
            },
            Err(_) => false,
        };
        match says_more {
            true => source,
            false => Location::Path(source.place().into_owned()),
        }
    }

    /// Returns the path, prefix included, from the first web server below a prefix for which `path_of` returns one.
    fn path_by(&self, path_of: impl Fn(&HttpOrigin) -> Option<String>) -> Option<String> {
        self.0
            .iter()
            .find_map(|origin| match (&origin.backend, &origin.place) {
                (Backend::Http(http), Place::Below(prefix)) => {
                    Some(format!("{prefix}/{}", path_of(http)?))
                }
                _ => None,
            })
    }

    /// Returns the path of the source that a URL may lead to, whatever its query, if the URL is below the base of an
    /// origin.
    pub(crate) fn path_of_url(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        self.path_by(|http| http.path_below(&url))
    }

    /// Whether a path is the key of an object in a bucket, in which dot segments are not resolved.
    pub(crate) fn is_key(&self, source: &str) -> bool {
        matches!(self.find(source), Ok((origin, _)) if matches!(origin.backend, Backend::Bucket(_)))
    }

    /// Returns the prefix and the path of each origin that is a folder.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&str, &std::path::Path)> {
        self.0
            .iter()
            .filter_map(|origin| match (&origin.backend, &origin.place) {
                (Backend::Folder(folder), Place::Below(prefix)) => Some((&**prefix, &*folder.path)),
                _ => None,
            })
    }

    /// Opens the file or folder that `source` names in a folder origin. `source` is a path below `/`, percent-decoded
    /// already.
    ///
    /// # Errors
    /// `Missing`, also for sources that are not in a folder origin; `Forbidden`, `Io`, as for [`Root::entry`].
    pub fn entry(&self, source: &str, blocking: Blocking) -> Result<Entry, Error> {
        let (origin, path) = self.find(source)?;
        let Backend::Folder(folder) = &origin.backend else {
            return Err(missing(source));
        };
        let began = Instant::now();
        let entry = folder.entry(&path, blocking);
        // What is found is counted when it is read.
        if let Err(error) = &entry {
            let (figures, took) = (&origin.figures, began.elapsed());
            figures.count_unless_blocked(Err(error), took, blocking);
        }
        entry.map_err(|error| origin.told(error, source))
    }

    /// Whether the file `source` in a folder origin is still in this state; see [`Root::is_still`].
    pub(crate) fn is_still(&self, source: &str, status: &Status) -> bool {
        let Ok((origin, path)) = self.find(source) else {
            return false;
        };
        matches!(&origin.backend, Backend::Folder(folder) if folder.root.is_still(&path, status))
    }

    /// Returns which files are served unchanged in the folder origin of `source`.
    pub(crate) fn files(&self, source: &str) -> Files {
        match self.find(source).map(|(origin, _)| &origin.backend) {
            Ok(Backend::Folder(folder)) => folder.files,
            _ => Files::Images,
        }
    }

    /// Returns the paths of the first images, up to `most`, that a short search finds in the folder served at `/`, if a
    /// folder is served there.
    pub(crate) fn images(&self, most: usize, is_image: impl Fn(&OpenFile) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        let Ok(Backend::Folder(folder)) = self.find("").map(|(origin, _)| &origin.backend) else {
            return found;
        };
        let mut looks = 0..LOOKS_EACH * most;
        let mut folders = vec![String::new()];
        while let Some(inside) = folders.pop() {
            let mut names = folder.root.names(&inside, MOST_NAMES).unwrap_or_default();
            names.sort_unstable_by(|one, other| other.cmp(one));
            let mut below = Vec::new();
            while let Some(name) = names.pop() {
                let path = format!("{inside}{name}");
                if name.starts_with('.') {
                    continue;
                }
                if looks.next().is_none() || found.len() == most {
                    return found;
                }
                match folder.entry(&path, Blocking::Allowed) {
                    Ok(Entry::File(file)) if is_image(&file) => found.push(path),
                    Ok(Entry::Folder) => below.push(format!("{path}/")),
                    _ => {}
                }
            }
            below.reverse();
            folders.extend(below);
        }
        found
    }

    /// Returns the counters of the origin of `source`, in which reading an open file is counted.
    pub(crate) fn figures_of(&self, source: &str) -> Result<Arc<OriginMetrics>, Error> {
        Ok(self.find(source)?.0.figures.clone())
    }

    /// Returns the current state and counters of each origin.
    pub(crate) fn readings(&self) -> impl Iterator<Item = Reading<'_>> {
        self.0.iter().map(|origin| Reading {
            name: origin.place.to_string(),
            figures: &origin.figures,
            line: origin.client().map(Client::line),
        })
    }

    /// Fetches the whole source from its origin, unless it is still in the state that `known` describes.
    ///
    /// # Errors
    /// `Missing`, `Forbidden`, `Origin`, `Io`, `Changing`, `Pixels(Limit)`.
    pub async fn fetch(
        &self,
        source: &str,
        known: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (origin, path) = self.find(source)?;
        let began = Instant::now();
        let fetched = match &origin.backend {
            Backend::Folder(folder) => folder.fetch(&path, known, budget).await,
            Backend::Http(origin) => origin.fetch(&path, known, budget).await,
            Backend::Bucket(origin) => origin.fetch(&path, known, budget).await,
        };
        let outcome = fetched.as_ref().map(|fetched| match fetched {
            Fetched::Body(source) => Some(source.bytes.len() as u64),
            Fetched::NotModified(_) => None,
        });
        origin.figures.count(outcome, began.elapsed());
        fetched.map_err(|error| origin.told(error, source))
    }

    /// Returns the name of the origin of `source`, or an empty text if there is none.
    pub(crate) fn name(&self, source: &str) -> String {
        let found = self.find(source);
        found.map_or_else(|_| String::new(), |(origin, _)| origin.place.to_string())
    }

    /// Returns the origin of `source` and the rest of the path below its prefix. For an escaped path, the rest is
    /// escaped as well and begins with `ESCAPED` again, unless the origin is a folder.
    fn find<'a>(&self, source: &'a str) -> Result<(&Origin, Cow<'a, str>), Error> {
        if let Some(raw) = source.strip_prefix(ESCAPED) {
            let place = Location::Escaped(source.to_owned()).place().into_owned();
            let (origin, path) = self.find_plain(&place)?;
            let rest = match (&origin.backend, &origin.place) {
                (Backend::Folder(_), _) | (_, Place::Urls(_)) => path.to_owned(),
                (_, Place::Below(prefix)) => match beyond(raw, prefix) {
                    Some(rest) => format!("{ESCAPED}{rest}"),
                    None => format!("{ESCAPED}{}", encoded(path.trim_start_matches('/'))),
                },
            };
            return Ok((origin, rest.into()));
        }
        let (origin, path) = self.find_plain(source)?;
        Ok((origin, path.into()))
    }

    fn find_plain<'a>(&self, source: &'a str) -> Result<(&Origin, &'a str), Error> {
        let path = source.trim_start_matches('/');
        let of_place = |origin: &'_ Origin| origin.place.rest(path);
        let found = (self.0.iter()).find_map(|origin| Some((origin, of_place(origin)?)));
        // No path is read as a URL: slashes in them are merged.
        let below_a_base = || {
            let url = path.contains("://").then(|| Url::parse(path).ok())??;
            let is_above = |origin: &&Origin| match &origin.backend {
                Backend::Http(http) => http.may_ask(&url),
                _ => false,
            };
            Some((self.0.iter().find(is_above)?, path))
        };
        found.or_else(below_a_base).ok_or_else(|| missing(source))
    }
}

impl Origin {
    fn open(
        config: &OriginConfig,
        most_bytes: u64,
        before: Option<&Origins>,
    ) -> Result<Self, String> {
        let place = config.place();
        let former = before.and_then(|before| before.0.iter().find(|it| it.place == place));
        let rules = |remote| rules(remote, most_bytes, former.and_then(Self::client));
        let backend = match &config.keeper {
            OriginKind::Fs(fs) => Backend::Folder(Folder::open(fs, most_bytes)?),
            OriginKind::Http(http, remote) => {
                Backend::Http(HttpOrigin::new(http, &remote.allow, rules(remote))?)
            }
            OriginKind::Bucket(store, bucket, remote) => {
                let rules = rules(remote);
                Backend::Bucket(BucketOrigin::new(*store, bucket, &remote.allow, rules)?)
            }
        };
        Ok(Self {
            place,
            backend,
            figures: Arc::default(),
        })
    }

    /// Returns the HTTP client of the origin, or `None` for a folder.
    fn client(&self) -> Option<&Client> {
        match &self.backend {
            Backend::Folder(_) => None,
            Backend::Http(http) => Some(http.client()),
            Backend::Bucket(bucket) => Some(bucket.client()),
        }
    }

    /// Completes an error for clients and the log: its path includes the prefix, and for the log it names the origin
    /// and the place.
    fn told(&self, error: Error, source: &str) -> Error {
        let path = source.trim_start_matches('/').to_owned();
        match error {
            Error::Unkept(error) => Error::Unkept(Box::new(self.told(*error, source))),
            Error::Missing { .. } => Error::Missing { path },
            Error::Forbidden { .. } => Error::Forbidden { path },
            Error::Withheld { why, .. } => Error::Withheld { path, why },
            Error::At { error, place } => Error::At {
                error,
                place: format!("origin \"{}\", {place}", self.place),
            },
            error @ (Error::Io(_) | Error::Origin(_)) => error.at(|| match &self.backend {
                Backend::Folder(folder) => {
                    let below = self.place.rest(&path).unwrap_or(&path);
                    let file = folder.path.join(below.trim_start_matches('/'));
                    format!("origin \"{}\", file {}", self.place, file.display())
                }
                Backend::Http(_) | Backend::Bucket(_) => {
                    format!("origin \"{}\", /{path}", self.place)
                }
            }),
            error => error,
        }
    }
}

impl Folder {
    fn open(config: &FsConfig, most_bytes: u64) -> Result<Self, String> {
        let path = &config.root;
        let root = Root::open(path).map_err(|error| {
            let error = match error.kind() {
                io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
                _ => error.to_string(),
            };
            format!("cannot serve {}: {error}", path.display())
        })?;
        Ok(Self {
            root: Arc::new(root.following_outside_links(config.outside_links)),
            path: path.clone(),
            files: config.files,
            most_bytes,
        })
    }

    /// Opens the file or folder at `path`, unless a name in the path begins with a dot.
    fn entry(&self, path: &str, blocking: Blocking) -> Result<Entry, Error> {
        let hidden = |name: &str| name.starts_with('.') && !matches!(name, "." | "..");
        match path.split('/').any(hidden) {
            true => Err(Error::Withheld {
                path: path.to_owned(),
                why: Withheld::Hidden,
            }),
            false => self.root.entry(path, blocking),
        }
    }

    async fn fetch(
        &self,
        path: &str,
        known: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (folder, path) = (self.clone(), path.to_owned());
        let file = waiting(move || match folder.entry(&path, Blocking::Allowed)? {
            Entry::File(file) => Ok(file),
            Entry::Folder => Err(missing(&path)),
        })
        .await?;
        let validators = SourceValidators::of_file(&file.identity);
        if known.is_some_and(|known| known.identity == validators.identity) {
            return Ok(Fetched::NotModified(Freshness::default()));
        }
        let most_bytes = self.most_bytes;
        let hold = budget.held.take(file.identity.size.min(most_bytes)).await;
        let bytes = waiting(move || file.read(most_bytes, Blocking::Allowed)).await?;
        Ok(Fetched::Body(Source {
            bytes: Bytes::from_owner(bytes),
            validators,
            freshness: Freshness::default(),
            bounded: true,
            media_type: None,
            hold: Arc::new(hold),
        }))
    }
}

/// Returns the normalized URL with its query as it was written in `text`: URL parsers escape apostrophes in queries.
fn with_query_of(text: &str, url: &Url) -> String {
    let is_query =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte);
    match (text.split_once('?'), url.as_str().split_once('?')) {
        (Some((_, query)), Some((before, _))) if query.bytes().all(is_query) => {
            format!("{before}?{query}")
        }
        _ => url.to_string(),
    }
}

/// Returns the rest of an escaped path below a prefix, without the slash between them.
fn beyond<'a>(raw: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = raw;
    for segment in prefix.split('/').filter(|segment| !segment.is_empty()) {
        let (first, after) = rest.trim_start_matches('/').split_once('/')?;
        if percent_decode_str(first).decode_utf8().ok()? != segment {
            return None;
        }
        rest = after;
    }
    Some(rest)
}

/// The beginning of an escaped path, which tells it from a decoded path or a URL in the same place.
const ESCAPED: &str = "//";

/// Number of file names that a search looks at for each image it may return.
const LOOKS_EACH: usize = 25;

/// Maximum number of file names that a search looks at in one folder.
const MOST_NAMES: usize = 1000;

fn rules(config: &RemoteConfig, most_bytes: u64, former: Option<&Client>) -> Rules {
    let fetches = config.fetches();
    Rules {
        timeouts: config.timeouts,
        fetches,
        slots: former.map_or_else(|| Permits::of(fetches), |former| former.slots().clone()),
        most_bytes: config
            .max_bytes
            .map_or(most_bytes, |own| own.0.min(most_bytes)),
        redirects: 0,
        retries: 0,
    }
}

/// Runs work that may wait for a disk on a blocking thread.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work);
    done.await.unwrap_or(Err(Error::Panicked))
}

fn missing(source: &str) -> Error {
    Error::Missing {
        path: source.trim_start_matches('/').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_wins_and_cannot_be_climbed_out_of() {
        let house = tempfile::tempdir().unwrap();
        for name in ["all", "icons"] {
            std::fs::create_dir(house.path().join(name)).unwrap();
            std::fs::write(house.path().join(name).join("a"), name).unwrap();
        }
        let origin = |prefix: &str, folder: &str| OriginConfig {
            prefix: prefix.to_owned(),
            ..OriginConfig::folder(house.path().join(folder))
        };
        let origins =
            Origins::open(&[origin("/", "all"), origin("/i/", "icons")], 100, None).unwrap();
        let text = |source: &str| match origins.entry(source, Blocking::Allowed) {
            Ok(Entry::File(file)) => {
                String::from_utf8(file.read(100, Blocking::Allowed).unwrap().into_vec()).unwrap()
            }
            other => format!("{other:?}"),
        };
        assert_eq!(text("a"), "all");
        assert_eq!(text("i/a"), "icons");
        assert!(text("i/../a").contains("Missing"));
    }

    #[test]
    fn a_file_is_one_source_however_its_path_is_written() {
        let house = tempfile::tempdir().unwrap();
        let folder = OriginConfig {
            prefix: "/i".to_owned(),
            ..OriginConfig::folder(house.path().to_owned())
        };
        let origins = Origins::open(&[folder], 100, None).unwrap();
        for raw in ["i/x/a+b", "/i//x///a+b", "i/x%2Fa%2Bb", "%69/%78/a%2bb"] {
            let source = origins.settle(Location::from_raw(raw).unwrap());
            assert_eq!(source, Location::Path("i/x/a+b".to_owned()), "{raw}");
        }
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error =
            Origins::open(&[OriginConfig::folder("/no/such/folder")], 100, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`origin`: cannot serve /no/such/folder: there is no such folder"
        );
    }
}
