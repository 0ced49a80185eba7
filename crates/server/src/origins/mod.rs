//! Origins, from which images are fetched. The origin with the longest matching prefix is used, and prefixes match
//! whole path segments.

mod advice;
mod beneath;
mod blocking;
mod bucket;
mod budget;
mod file;
mod folder;
mod freshness;
mod http;
mod listing;
mod metrics;
mod names;
mod objects;
mod origin;
mod pace;
mod platform;
mod secrets;
mod shared;
mod source;
mod stores;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use andon_dialects::Source as Location;
use percent_encoding::percent_decode_str;
use url::Url;

use self::folder::Folder;
use self::http::HttpOrigin;
use self::http::client::Client;
use self::names::{ESCAPED, beyond, encoded, missing, with_query_of};
use self::origin::{Backend, Origin};
use crate::config::{ConfigError, Files, OriginConfig, Place};
use crate::error::Error;

pub use beneath::Root;
pub use blocking::Blocking;
pub use budget::{Budget, Reservation, SourceMemory};
#[cfg(test)]
pub(crate) use file::SETTLED;
pub use file::{Entry, Identity, OpenFile};
pub(crate) use file::{READ_AHEAD, Status};
pub use freshness::{Freshness, Told};
pub(crate) use http::client::{retry_after, trouble};
pub(crate) use http::connect::{Connector, pool};
pub(crate) use listing::Listing;
pub(crate) use metrics::{Line, OriginMetrics, RESULTS};
pub use objects::{ObjectInfo, Objects};
pub(crate) use shared::open as open_store;
pub use source::{Fetched, Source, SourceValidators};

/// All origins, sorted so that those with the longest prefix come first.
#[derive(Debug)]
pub struct Origins(Vec<Origin>);

/// The current state and counters of one origin.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The origin's prefix with a leading slash, or the first of its patterns of URLs or buckets.
    pub(crate) name: String,
    pub(crate) figures: &'a OriginMetrics,
    /// Metrics of the requests to this origin; `None` unless it is accessed over a network.
    pub(crate) line: Option<Line>,
}

impl Origins {
    /// Opens every origin. Sources of more than `most_bytes` are refused. For a reload, `former` are the origins in use
    /// before: an origin keeps the request slots that it had under the same prefix, and their number until
    /// `Origins::resize`.
    ///
    /// # Errors
    /// An error that names the origin that cannot be opened.
    pub fn open(
        configs: &[OriginConfig],
        most_bytes: u64,
        former: Option<&Self>,
    ) -> Result<Self, ConfigError> {
        let mut origins = configs
            .iter()
            .enumerate()
            .map(|(index, config)| {
                let former = former.map_or(&[][..], |former| &former.0);
                Origin::open(config, most_bytes, former)
                    .map_err(|what| ConfigError::new(format!("origin.{index}"), what))
            })
            .collect::<Result<Vec<_>, _>>()?;
        origins.sort_by_key(|origin| std::cmp::Reverse(origin.place.rank()));
        Ok(Self(origins))
    }

    /// Sets the number of request slots of every origin to the configured one.
    pub(crate) fn resize(&self) {
        self.0
            .iter()
            .filter_map(Origin::client)
            .for_each(Client::resize);
    }

    /// Whether `source` belongs to an origin, whether or not the source exists.
    pub(crate) fn has(&self, source: &str) -> bool {
        self.find(source).is_ok()
    }

    /// Whether `source` is on an origin over a network, which only [`Origins::fetch`] can access.
    #[must_use]
    pub fn is_remote(&self, source: &str) -> bool {
        matches!(self.find(source), Ok((origin, _)) if !matches!(origin.backend, Backend::Folder(_)))
    }

    /// Converts an absolute URL to the name of a source, or `None` if no origin serves it. The name is a path if the
    /// URL names a file of a folder origin, or if a web server origin requests exactly this URL for a path. Otherwise
    /// the name is the URL itself.
    pub(crate) fn locate(&self, url: &str) -> Option<Location> {
        let text = url.split('#').next().unwrap_or_default();
        let url = Url::parse(text).ok()?;
        let is_listed = |origin: &Origin| {
            matches!(origin.place, Place::Urls(_)) && origin.place.rest(url.as_str()).is_some()
        };
        let path = self
            .file_of_url(&url)
            .or_else(|| match self.0.iter().any(is_listed) {
                true => None,
                false => self.path_by(|http| http.path_of(&url)),
            });
        match path {
            Some(path) => Some(Location::from_path(&path)),
            None => self
                .find(url.as_str())
                .is_ok()
                .then(|| Location::Url(with_query_of(text, &url))),
        }
    }

    /// Normalizes the name of a source, so that each source has only one. An escaped path stays escaped only if it may
    /// name another source than the decoded path: on a web server or in a bucket.
    pub(crate) fn settle(&self, source: Location) -> Location {
        let Location::Escaped(text) = &source else {
            return source;
        };
        let is_distinct = match self.find(text) {
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
        match is_distinct {
            true => source,
            false => Location::Path(source.place().into_owned()),
        }
    }

    /// Calls `path_of` with each web server origin that has a prefix, the longest prefix first, until it returns a
    /// path. Returns this path with the origin's prefix before it.
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
    /// origin or names a file in a folder.
    pub(crate) fn path_of_url(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let file = self.file_of_url(&url);
        file.or_else(|| self.path_by(|http| http.path_below(&url)))
    }

    /// Returns the path, including the prefix, of the file that a URL names in the folder of an origin. If `urls` of
    /// several folders contain the URL, the longest counts. Paths at which another origin with a longer prefix serves
    /// its own files do not count.
    fn file_of_url(&self, url: &Url) -> Option<String> {
        let files = self.0.iter().filter_map(|origin| {
            let (Backend::Folder(folder), Place::Below(prefix)) = (&origin.backend, &origin.place)
            else {
                return None;
            };
            let (length, path) = folder.path_of(url)?;
            let path = format!("{prefix}/{path}");
            let is_here = |(other, _): (&Origin, _)| std::ptr::eq(other, origin);
            self.find(&path)
                .is_ok_and(is_here)
                .then_some((length, path))
        });
        files.max().map(|(_, path)| path)
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

    /// Opens the file or folder that `source` names in a folder origin. `source` is a percent-decoded path below `/`.
    ///
    /// # Errors
    /// The errors of [`Root::entry`]; `Missing` also for sources that are not in a folder origin; `Withheld` also for
    /// names that begin with a dot.
    pub fn entry(&self, source: &str, blocking: Blocking) -> Result<Entry, Error> {
        let (origin, path) = self.find(source)?;
        let Backend::Folder(folder) = &origin.backend else {
            return Err(missing(source));
        };
        let start = Instant::now();
        let entry = folder.entry(&path, blocking);
        // A file that is found is counted when it is read.
        if let Err(error) = &entry {
            let (figures, duration) = (&origin.figures, start.elapsed());
            figures.count_unless_blocked(Err(error), duration, blocking);
        }
        entry.map_err(|error| origin.complete_error(error, source))
    }

    /// Whether the file `source` in a folder origin still has this status; see [`Root::is_still`].
    pub(crate) fn is_still(&self, source: &str, status: &Status) -> bool {
        let folder = self.folder(source);
        folder.is_some_and(|(folder, path)| folder.root.is_still(&path, status))
    }

    /// Returns which files the folder origin of `source` serves unchanged.
    pub(crate) fn files(&self, source: &str) -> Files {
        let folder = self.folder(source);
        folder.map_or(Files::Images, |(folder, _)| folder.files)
    }

    /// Whether `source` is in a folder origin that serves images only.
    pub(crate) fn has_only_images(&self, source: &str) -> bool {
        let folder = self.folder(source);
        folder.is_some_and(|(folder, _)| folder.files == Files::Images)
    }

    /// Returns the paths of the first images, up to `most`, that a short search finds in the folder that is served at
    /// `/`, if there is one.
    pub(crate) fn images(&self, most: usize, is_image: impl Fn(&OpenFile) -> bool) -> Vec<String> {
        let folder = self.folder("");
        folder.map_or_else(Vec::new, |(folder, _)| folder.images(most, is_image))
    }

    /// Lists up to `most` files for whose names `is_named` returns true in the folder that is served at `/`. The list
    /// is empty if there is no such folder.
    pub(crate) fn listing(&self, most: usize, is_named: impl Fn(&str) -> bool) -> Listing {
        let folder = self.folder("");
        folder.map_or_else(Listing::default, |(folder, _)| folder.list(most, is_named))
    }

    /// Returns the metrics of the origin of `source`, in which reads of its files are counted.
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

    /// Fetches the whole source from its origin, unless it still has these `validators`.
    ///
    /// # Errors
    /// `Missing`, `Forbidden` or `Withheld` if there is no such source, or it may not be read or is not served;
    /// `Origin` if a fetch over a network failed; `Io` or `Changing` if a file cannot be read or is written to
    /// meanwhile; `Pixels(Limit)` for a source that is too large; `Target` for an object key that cannot be requested.
    pub async fn fetch(
        &self,
        source: &str,
        validators: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let (origin, path) = self.find(source)?;
        let start = Instant::now();
        let result = match &origin.backend {
            Backend::Folder(folder) => folder.fetch(&path, validators, budget).await,
            Backend::Http(origin) => origin.fetch(&path, validators, budget).await,
            Backend::Bucket(origin) => origin.fetch(&path, validators, budget).await,
        };
        let outcome = result.as_ref().map(|result| match result {
            Fetched::Body(source) => Some(source.bytes.len() as u64),
            Fetched::NotModified(_) => None,
        });
        origin.figures.count(outcome, start.elapsed());
        result.map_err(|error| origin.complete_error(error, source))
    }

    /// Returns the name of the origin of `source`, or empty text if there is none.
    pub(crate) fn name(&self, source: &str) -> String {
        let entry = self.find(source);
        entry.map_or_else(|_| String::new(), |(origin, _)| origin.place.to_string())
    }

    /// Returns the origin of `source`, and the rest of the path below its prefix. The rest of an escaped path is
    /// escaped as well and begins with `ESCAPED` again, unless the origin is a folder.
    fn find<'a>(&self, source: &'a str) -> Result<(&Origin, Cow<'a, str>), Error> {
        if let Some(raw) = source.strip_prefix(ESCAPED) {
            let place = Location::Escaped(source.to_owned()).place().into_owned();
            let (origin, path) = self.find_plain(&place)?;
            let rest = match (&origin.backend, &origin.place) {
                (Backend::Folder(_), _) | (_, Place::Urls(_) | Place::Buckets(..)) => {
                    path.to_owned()
                }
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

    /// Returns the folder of `source` and the path below its prefix, if its origin is a folder.
    fn folder<'a>(&self, source: &'a str) -> Option<(&Folder, Cow<'a, str>)> {
        let (origin, path) = self.find(source).ok()?;
        match &origin.backend {
            Backend::Folder(folder) => Some((folder, path)),
            Backend::Http(_) | Backend::Bucket(_) => None,
        }
    }

    /// Returns the origin of a decoded path or a URL, and the rest of it below the origin's prefix.
    fn find_plain<'a>(&self, source: &'a str) -> Result<(&Origin, &'a str), Error> {
        let path = source.trim_start_matches('/');
        let of_place = |origin: &'_ Origin| origin.place.rest(path);
        let entry = (self.0.iter()).find_map(|origin| Some((origin, of_place(origin)?)));
        // A path is never mistaken for a URL, because slashes in paths are merged.
        let below_a_base = || {
            let url = path.contains("://").then(|| Url::parse(path).ok())??;
            let is_above = |origin: &&Origin| match &origin.backend {
                Backend::Http(http) => http.may_ask(&url),
                _ => false,
            };
            Some((self.0.iter().find(is_above)?, path))
        };
        entry.or_else(below_a_base).ok_or_else(|| missing(source))
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
