//! `[[origin]]`: where images come from.

use std::fmt;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use andon_settings::check;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use url::Url;

use super::prefix::check_prefix;
use super::{
    BaseUrl, BucketConfig, BucketPattern, Bytes, ConfigError, HttpConfig, OriginTimeouts, Store,
    UrlPattern, is_below,
};
use crate::net::Cidr;

/// One `[[origin]]` table: a place that images come from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct OriginConfig {
    /// Paths that begin with this prefix (whole segments) belong to the origin, which gets them without the prefix.
    /// Empty for an origin of absolute URLs.
    pub prefix: String,
    /// Where the origin's images are stored.
    pub keeper: OriginKind,
}

/// Where an origin's images are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginKind {
    /// A local folder.
    Fs(FsConfig),
    /// A web server.
    Http(HttpConfig, RemoteConfig),
    /// A bucket of an object store.
    Bucket(Store, BucketConfig, RemoteConfig),
}

/// Which sources belong to an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Paths below this prefix, which has no slash at either end.
    Below(String),
    /// Absolute URLs that match one of these patterns.
    Urls(Vec<UrlPattern>),
    /// URLs of this store, such as `s3://BUCKET/KEY`, whose bucket one of these patterns covers.
    Buckets(Store, Vec<BucketPattern>),
}

impl Place {
    /// Priority of this place among those of other origins; the highest is tried first.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Below(prefix) => prefix.len(),
            Self::Urls(_) | Self::Buckets(..) => 0,
        }
    }

    /// Returns what an origin calls the source: the part of a path after the prefix, or the whole of a permitted URL.
    /// Returns `None` if `source` does not belong to this place.
    pub(crate) fn rest<'a>(&self, source: &'a str) -> Option<&'a str> {
        let source = source.trim_start_matches('/');
        // A path is never taken for a URL, because double slashes in paths are merged before.
        let url = source.contains("://").then(|| Url::parse(source).ok());
        match (self, url.flatten()) {
            (Self::Below(prefix), None) => {
                is_below(prefix, source).then(|| &source[prefix.len()..])
            }
            (Self::Urls(urls), Some(url)) => {
                urls.iter().any(|it| it.permits(&url)).then_some(source)
            }
            (Self::Buckets(store, patterns), Some(url)) => {
                names_an_object(&url, *store, patterns).then_some(source)
            }
            _ => None,
        }
    }

    /// Returns the name of this place in messages about `source`: of several patterns, the one that covers it.
    pub(crate) fn name_for(&self, source: &str) -> String {
        let url = Url::parse(source.trim_start_matches('/')).ok();
        let covering = url.and_then(|url| match self {
            Self::Below(_) => None,
            Self::Urls(urls) => {
                let covers = |it: &&UrlPattern| it.permits(&url);
                Some(Self::Urls(vec![urls.iter().find(covers)?.clone()]))
            }
            Self::Buckets(store, patterns) => {
                let covers =
                    |it: &&BucketPattern| names_an_object(&url, *store, std::slice::from_ref(it));
                let pattern = patterns.iter().find(covers)?.clone();
                Some(Self::Buckets(*store, vec![pattern]))
            }
        });
        covering.as_ref().unwrap_or(self).to_string()
    }
}

/// Writes the prefix, or the first of the patterns. Metrics and the log name origins by this text.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(prefix) => write!(f, "/{prefix}"),
            Self::Urls(urls) => f.write_str(urls.first().map_or("", UrlPattern::as_str)),
            Self::Buckets(store, patterns) => {
                let first = patterns.first().map(BucketPattern::to_string);
                write!(f, "{}://{}", store.scheme(), first.unwrap_or_default())
            }
        }
    }
}

/// Whether a URL names an object in a bucket of this store: one of the patterns covers the bucket, and the URL has a
/// key, but no user, port, query or fragment.
fn names_an_object(url: &Url, store: Store, patterns: &[BucketPattern]) -> bool {
    let bucket = url.host_str().unwrap_or_default();
    let path = percent_decode_str(url.path()).decode_utf8_lossy();
    let climbs = path.split(['/', '\\']).any(|segment| segment == "..");
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.port().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    url.scheme() == store.scheme()
        && is_plain
        && !climbs
        && patterns.iter().any(|pattern| pattern.covers(bucket))
}

/// An origin that is a folder of files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FsConfig {
    /// The folder. Files outside of it are not served, unless `outside_links` is set.
    pub root: PathBuf,
    /// Base URLs under which the files of the folder can be requested as well, such as those of the site that the files
    /// belong to: with `https://shop.example/media/`, `https://shop.example/media/a.jpg` is `a.jpg` of the folder. The files
    /// are read from the folder, and no request is sent to the site; a query is ignored.
    #[serde(default)]
    pub urls: Vec<BaseUrl>,
    /// Which files are served unchanged. Names that begin with a dot never are.
    #[serde(default)]
    pub files: Files,
    /// Whether symbolic links that lead out of the folder are followed.
    #[serde(default)]
    pub outside_links: bool,
}

/// Which files of a folder are served unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Files {
    /// Images, recognized by their content.
    #[default]
    Images,
    /// Every file, and `index.html` for a folder.
    All,
}

/// Settings that all remote origins have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteConfig {
    /// Maximum number of simultaneous requests to the origin; `None` means 32.
    pub fetches: Option<usize>,
    /// Maximum number of requests to the origin per second. Further requests wait for their turn.
    pub fetches_per_second: Option<NonZeroU32>,
    /// Maximum bytes of one source; `limits.source_bytes` applies as well.
    pub max_bytes: Option<Bytes>,
    /// Addresses that the origin may have in addition to those of the public internet.
    pub allow: Vec<Cidr>,
    /// Timeouts of a fetch.
    pub timeouts: OriginTimeouts,
}

/// An `[[origin]]` table as it is written in the configuration file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    prefix: Option<String>,
    fs: Option<FsConfig>,
    http: Option<HttpConfig>,
    s3: Option<BucketConfig>,
    gcs: Option<BucketConfig>,
    azure: Option<BucketConfig>,
    fetches: Option<usize>,
    fetches_per_second: Option<NonZeroU32>,
    max_bytes: Option<Bytes>,
    allow: Option<Vec<Cidr>>,
    timeouts: Option<OriginTimeouts>,
}

impl TryFrom<Written> for OriginConfig {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written {
            prefix,
            fs,
            http,
            s3,
            gcs,
            azure,
            fetches,
            fetches_per_second,
            max_bytes,
            allow,
            timeouts,
        } = written;
        let urls = http.as_ref().is_some_and(|http| !http.urls.is_empty());
        let buckets = [&s3, &gcs, &azure]
            .into_iter()
            .flatten()
            .any(|it| !it.buckets.is_empty());
        let prefix = match (prefix, urls || buckets) {
            (Some(prefix), true) => {
                let key = if urls { "http.urls" } else { "buckets" };
                return Err(format!(
                    "an origin with `{key}` is asked by absolute URLs; the prefix \"{prefix}\" means nothing there"
                ));
            }
            (prefix, false) => prefix.unwrap_or_else(everything),
            (None, true) => String::new(),
        };
        let only_remote = [
            ("fetches", fetches.is_some()),
            ("fetches_per_second", fetches_per_second.is_some()),
            ("max_bytes", max_bytes.is_some()),
            ("allow", allow.is_some()),
            ("timeouts", timeouts.is_some()),
        ];
        let remote = RemoteConfig {
            fetches,
            fetches_per_second,
            max_bytes,
            allow: allow.unwrap_or_default(),
            timeouts: timeouts.unwrap_or_default(),
        };
        let mut buckets = [(Store::S3, s3), (Store::Gcs, gcs), (Store::Azure, azure)]
            .into_iter()
            .filter_map(|(store, config)| Some((store, config?)));
        let bucket = buckets.next();
        let keeper = match (fs, http, bucket, buckets.next()) {
            (Some(fs), None, None, None) => {
                if let Some((key, _)) = only_remote.iter().find(|(_, is_set)| *is_set) {
                    return Err(format!(
                        "`{key}` means nothing for a folder; for all of them together see [limits] and [timeouts]"
                    ));
                }
                OriginKind::Fs(fs)
            }
            (None, Some(http), None, None) => OriginKind::Http(http, remote),
            (None, None, Some((store, bucket)), None) => OriginKind::Bucket(store, bucket, remote),
            _ => {
                return Err(format!(
                    "the origin \"{prefix}\" needs exactly one of `fs.root`, `http.base`, `http.urls`, `s3.bucket`, `s3.buckets` and their like of \
                     `gcs` and `azure`"
                ));
            }
        };
        Ok(Self { prefix, keeper })
    }
}

impl OriginConfig {
    /// Whether the origin is accessed over a network.
    pub(crate) fn is_remote(&self) -> bool {
        !matches!(self.keeper, OriginKind::Fs(_))
    }

    /// The origin that serves the folder `root` at `/`.
    pub fn folder(root: impl Into<PathBuf>) -> Self {
        Self {
            prefix: everything(),
            keeper: OriginKind::Fs(FsConfig {
                root: root.into(),
                urls: Vec::new(),
                files: Files::default(),
                outside_links: false,
            }),
        }
    }

    /// Returns which sources belong to this origin.
    pub(crate) fn place(&self) -> Place {
        match &self.keeper {
            OriginKind::Http(http, _) if !http.urls.is_empty() => Place::Urls(http.urls.clone()),
            OriginKind::Bucket(store, bucket, _) if !bucket.buckets.is_empty() => {
                Place::Buckets(*store, bucket.buckets.clone())
            }
            _ => Place::Below(self.prefix.trim_matches('/').to_owned()),
        }
    }

    pub(super) fn resolve(&mut self, folder: &Path) {
        match &mut self.keeper {
            OriginKind::Fs(fs) => fs.root = folder.join(&fs.root),
            OriginKind::Http(http, _) => http.resolve(folder),
            OriginKind::Bucket(_, bucket, _) => bucket.resolve(folder),
        }
    }
}

impl RemoteConfig {
    /// Maximum number of simultaneous requests: as configured, or 32, enough for a page full of images.
    #[must_use]
    pub fn fetches(&self) -> usize {
        self.fetches.unwrap_or(32)
    }

    fn validate(&self, origin: &str) -> Result<(), ConfigError> {
        let fetches = self.fetches();
        check(
            (1..=MOST_FETCHES).contains(&fetches),
            format!("{origin}.fetches"),
            || format!("{fetches} must be between 1 and {MOST_FETCHES}"),
        )?;
        self.timeouts.validate(origin)
    }
}

pub(super) fn validate(origins: &[OriginConfig]) -> Result<(), ConfigError> {
    for (index, origin) in origins.iter().enumerate() {
        let (prefix, key) = (&origin.prefix, format!("origin.{index}"));
        let place = origin.place();
        if matches!(place, Place::Below(_)) {
            check_prefix(prefix, format!("{key}.prefix"))?;
        }
        let has_same_place =
            |other: &OriginConfig| matches!(place, Place::Below(_)) && other.place() == place;
        check(
            !origins[..index].iter().any(has_same_place),
            format!("{key}.prefix"),
            || format!("another origin has the prefix \"{prefix}\", and only one could be reached"),
        )?;
        match &origin.keeper {
            OriginKind::Fs(folder) => {
                for BaseUrl(url) in &folder.urls {
                    check(
                        !url.as_str().contains('*'),
                        format!("{key}.fs.urls"),
                        || format!("`{url}` has a `*`; write each host by itself"),
                    )?;
                }
            }
            OriginKind::Http(http, remote) => {
                http.validate(&key)?;
                remote.validate(&key)?;
            }
            OriginKind::Bucket(store, bucket, remote) => {
                bucket.validate(*store, &key)?;
                remote.validate(&key)?;
            }
        }
    }
    Ok(())
}

/// Advice on keys that an origin does not have but that people write.
pub(super) const ADVICE: &[(&str, &str)] = &[
    ("root", FOLDER),
    ("fs", FOLDER),
    ("origin.root", FOLDER),
    ("origin.folder", FOLDER),
    ("origin.path", FOLDER),
    ("origin.dir", FOLDER),
    ("origin.directory", FOLDER),
    ("origin.url", SERVER),
    ("origin.base", SERVER),
    ("origin.base_url", SERVER),
    ("origin.host", SERVER),
    ("origin.urls", URLS),
    ("origin.hosts", URLS),
    ("origin.ca", AUTHORITY),
    ("origin.bucket", BUCKET),
    ("origin.region", BUCKET),
    ("origin.endpoint", BUCKET),
];

const FOLDER: &str =
    "a folder of images is\n  [[origin]]\n  prefix = \"/\"\n  fs.root = \"photos\"";
const SERVER: &str = "a web server with images is\n  [[origin]]\n  prefix = \"/\"\n  http.base = \"https://images.example/originals\"";
const URLS: &str =
    "images of any of these URLs are\n  [[origin]]\n  http.urls = [\"https://images.example/*\"]";
const AUTHORITY: &str = "the certificate of a web server or of its authority is (for a bucket: `s3.ca`)\n  [[origin]]\n  prefix = \"/\"\n  http.base = \"https://images.example/originals\"\n  http.ca = \"ca.pem\"";
const BUCKET: &str = "a bucket is `s3`, `gcs` or `azure` with its keys:\n  [[origin]]\n  prefix = \"/\"\n  s3.bucket = \"photos\"\n  s3.region = \"eu-central-1\"";

fn everything() -> String {
    "/".to_owned()
}

/// Upper bound of `fetches`: more connections than any server grants one client.
const MOST_FETCHES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_matches_whole_segments_only() {
        let below = |prefix: &str| Place::Below(prefix.to_owned());
        assert_eq!(below("").rest("a.jpg"), Some("a.jpg"));
        assert_eq!(below("photos").rest("photos/a.jpg"), Some("/a.jpg"));
        assert_eq!(below("photos").rest("photos"), Some(""));
        assert_eq!(below("photos").rest("photos2/a.jpg"), None);
        assert_eq!(below("").rest("https://a.test/a.jpg"), None);
    }

    #[test]
    fn messages_name_the_pattern_that_covers_the_source() {
        let urls = [
            "http://cdn.test/",
            "https://*.shop.test/",
            "https://cdn.test/a/",
        ];
        let urls = urls.map(|text| UrlPattern::try_from(text.to_owned()).unwrap());
        let urls = Place::Urls(urls.into());
        let buckets = ["logos", "assets-*"].map(str::to_owned);
        let buckets = buckets.map(|text| BucketPattern::try_from(text).unwrap());
        let buckets = Place::Buckets(Store::S3, buckets.into());
        for (place, source, name) in [
            (&urls, "https://a.shop.test/a.jpg", "https://*.shop.test/"),
            (&urls, "/https://cdn.test/a/b.jpg", "https://cdn.test/a/"),
            (&urls, "http://cdn.test/a/b.jpg", "http://cdn.test/"),
            (&urls, "https://other.test/b.jpg", "http://cdn.test/"),
            (&buckets, "s3://assets-eu/a.jpg", "s3://assets-*"),
            (
                &Place::Below("photos".to_owned()),
                "photos/a.jpg",
                "/photos",
            ),
        ] {
            assert_eq!(place.name_for(source), name, "{source}");
        }
    }

    #[test]
    fn a_url_of_a_store_names_a_bucket_that_a_pattern_covers_and_a_key() {
        let patterns = ["assets-*", "logos", "*-public"].map(str::to_owned);
        let patterns = patterns.map(|text| BucketPattern::try_from(text).unwrap());
        let place = Place::Buckets(Store::S3, patterns.into());
        for url in [
            "s3://assets-eu/a.jpg",
            "s3://assets-/a//b%20c.jpg",
            "s3://logos/%2e./a.jpg",
            "s3://my-public/a.jpg",
        ] {
            assert_eq!(place.rest(url), Some(url), "{url}");
        }
        for url in [
            "s3://assets/a.jpg",
            "s3://logos2/a.jpg",
            "gs://logos/a.jpg",
            "https://logos/a.jpg",
            "s3://me@logos/a.jpg",
            "s3://logos:80/a.jpg",
            "s3://logos/a.jpg?versionId=1",
            "s3://logos/..%2fa.jpg",
            "s3://assets-%2f/a.jpg",
            "s3://assets-é/a.jpg",
            "s3://.-public/a.jpg",
            "logos/a.jpg",
        ] {
            assert_eq!(place.rest(url), None, "{url}");
        }
        assert_eq!(place.to_string(), "s3://assets-*");
        for (text, why) in [
            ("*", "every bucket"),
            ("", "names no bucket"),
            ("a*b*", "more than one `*`"),
            ("a/b", "more than one `*`"),
        ] {
            let error = BucketPattern::try_from(text.to_owned()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
