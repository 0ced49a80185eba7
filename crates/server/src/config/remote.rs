//! The parts of `[[origin]]` for origins that are asked over a network: `http`, `s3`, `gcs`, `azure` and
//! `timeouts`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use andon_settings::check;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use url::Url;

use super::{ConfigError, Span, is_below};

/// A web server: `http.base = "https://pictures.example/originals"`. Or those of absolute URLs that requests name:
/// `http.urls = ["https://*.example.org/photos/"]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// What stands before each path.
    pub base: Option<BaseUrl>,
    /// Which absolute URLs are served.
    #[serde(default)]
    pub urls: Vec<UrlPattern>,
    /// Sent with each request to the host of the base or of the URL that was asked for, and to no other.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// For basic authentication, with `password_env`.
    pub user: Option<String>,
    /// The environment variable that holds the password.
    pub password_env: Option<String>,
    /// The environment variable that holds a bearer token.
    pub bearer_env: Option<String>,
    /// A PEM file with authorities to trust beside the public ones.
    pub ca: Option<PathBuf>,
    /// Redirects that are followed.
    #[serde(default = "three")]
    pub redirects: u32,
    /// Ports beside those of the base or URLs that a redirect may lead to at an address of `allow`.
    #[serde(default)]
    pub redirect_ports: Vec<u16>,
    /// Times a request is sent again after its connection broke before anything was answered.
    #[serde(default = "one")]
    pub retries: u32,
}

/// A bucket. What is none of its store's keys is an error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketConfig {
    /// Its name; Azure calls it a container.
    #[serde(alias = "container")]
    pub bucket: String,
    /// What stands before each key, such as `originals`.
    #[serde(default)]
    pub folder: String,
    /// Where it is: S3's.
    pub region: Option<String>,
    /// The account it belongs to: Azure's.
    pub account: Option<String>,
    /// The store's URL, the bucket not in it; the store's own by default.
    pub endpoint: Option<BaseUrl>,
    /// The environment variable that holds the access key of S3 or of Azure's account; without any the bucket is
    /// read as anybody may.
    pub access_key_env: Option<String>,
    /// The environment variable that holds the secret key: S3's.
    pub secret_key_env: Option<String>,
    /// The environment variable that holds a session's token: S3's.
    pub session_token_env: Option<String>,
    /// The environment variable that holds a service account's key in JSON, or the path of its file: Google's.
    pub credentials_env: Option<String>,
    /// The environment variable that holds a shared access signature: Azure's.
    pub sas_env: Option<String>,
    /// A PEM file with authorities to trust beside the public ones.
    pub ca: Option<PathBuf>,
    /// Times a request is sent again after its connection broke before anything was answered.
    #[serde(default = "one")]
    pub retries: u32,
}

/// Who keeps a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Amazon, or a store that speaks like its S3.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure's Blob Storage.
    Azure,
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S3 => "s3",
            Self::Gcs => "gcs",
            Self::Azure => "azure",
        })
    }
}

/// How long an origin may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OriginTimeouts {
    /// To be found, connected to and, with TLS, believed.
    pub connect: Span,
    /// From a request to the whole head of its reply, the connection included.
    pub first_byte: Span,
    /// Between two pieces of a body.
    pub idle: Span,
    /// For all of it: waiting for a turn, redirects and retries included.
    pub total: Span,
}

/// An http or https URL without credentials, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BaseUrl(pub Url);

/// Absolute URLs that begin so, whole segments counted; a host of `*.example.org` stands for every name below it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct UrlPattern {
    begin: Url,
    /// What hosts end with, if it is not all of them.
    below: Option<String>,
}

impl TryFrom<String> for BaseUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |why: &str| {
            Err(format!(
                "`{text}` {why}; write it like \"https://pictures.example/originals\""
            ))
        };
        let Ok(url) = Url::parse(&text) else {
            return wrong("is no URL");
        };
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "a URL with a name or password in it ends up in logs; use `user` and \
                 `password_env`, or `bearer_env`"
                    .to_owned(),
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return wrong("has a query or a fragment, after which no path can follow");
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for UrlPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let BaseUrl(begin) = BaseUrl::try_from(text)?;
        let host = begin.host_str().unwrap_or_default();
        let below = host.strip_prefix('*').map(str::to_owned);
        let sound = match &below {
            Some(rest) => rest.starts_with('.') && rest.len() > 1 && !rest.contains('*'),
            None => !host.contains('*'),
        };
        match sound {
            true => Ok(Self { begin, below }),
            false => Err(format!(
                "`{begin}` has a `*` that is not the first label of a host; write it like \
                 \"https://*.example.org/photos/\", and each host that is no part of another by itself"
            )),
        }
    }
}

impl UrlPattern {
    /// Is it one of these? Not if it says who asks, or if a server may read `..` in its path.
    pub(crate) fn permits(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let here = match &self.below {
            Some(end) => host
                .strip_suffix(end.as_str())
                .is_some_and(|name| !name.is_empty()),
            None => Some(host) == self.begin.host_str(),
        };
        let decoded = percent_decode_str(url.path()).decode_utf8_lossy();
        let climbs = decoded.split(['/', '\\']).any(|segment| segment == "..");
        let folder = self.begin.path().trim_end_matches('/');
        here && !climbs
            && url.scheme() == self.begin.scheme()
            && url.port() == self.begin.port()
            && url.username().is_empty()
            && url.password().is_none()
            && is_below(folder, url.path())
    }

    /// The port that is asked.
    pub(crate) fn port(&self) -> Option<u16> {
        self.begin.port_or_known_default()
    }

    /// As it is written.
    pub(crate) fn as_str(&self) -> &str {
        self.begin.as_str()
    }
}

impl Default for OriginTimeouts {
    fn default() -> Self {
        let seconds = |seconds| Span(Duration::from_secs(seconds));
        Self {
            connect: seconds(3),
            first_byte: seconds(10),
            idle: seconds(5),
            total: seconds(20),
        }
    }
}

impl OriginTimeouts {
    pub(super) fn validate(&self, origin: &str) -> Result<(), ConfigError> {
        for (key, span) in [
            ("connect", self.connect),
            ("first_byte", self.first_byte),
            ("idle", self.idle),
            ("total", self.total),
        ] {
            check(
                !span.0.is_zero() && span.0 <= LONGEST,
                format!("{origin}.timeouts.{key}"),
                || "must be more than \"0s\" and at most half an hour (\"30m\")".to_owned(),
            )?;
        }
        Ok(())
    }
}

impl HttpConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        resolve(&mut self.ca, folder);
    }

    /// The base, or the first of the URLs.
    #[must_use]
    pub fn place(&self) -> &str {
        let base = self.base.as_ref().map(|base| base.0.as_str());
        let first = || self.urls.first().map(UrlPattern::as_str);
        base.or_else(first).unwrap_or_default()
    }

    pub(super) fn validate(&self, origin: &str) -> Result<(), ConfigError> {
        check(
            self.base.is_some() == self.urls.is_empty(),
            format!("{origin}.http"),
            || {
                "needs either `base`, the server of paths below the prefix, or `urls`, which absolute URLs are served"
                    .to_owned()
            },
        )?;
        few(format!("{origin}.http.redirects"), self.redirects)?;
        few(format!("{origin}.http.retries"), self.retries)
    }
}

impl BucketConfig {
    /// Is it read without credentials?
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        let named = [&self.access_key_env, &self.credentials_env, &self.sas_env];
        named.iter().all(|name| name.is_none())
    }

    /// The region of the bucket, `us-east-1` unless another is configured.
    #[must_use]
    pub fn region(&self) -> &str {
        self.region.as_deref().unwrap_or("us-east-1")
    }

    /// The URL that its keys, or for all but Amazon its name and they, stand behind.
    pub(crate) fn endpoint_of(&self, store: Store) -> String {
        match (&self.endpoint, store) {
            (Some(endpoint), _) => endpoint.0.as_str().trim_end_matches('/').to_owned(),
            (None, Store::S3) => {
                format!("https://{}.s3.{}.amazonaws.com", self.bucket, self.region())
            }
            (None, Store::Gcs) => "https://storage.googleapis.com".to_owned(),
            (None, Store::Azure) => {
                let account = self.account.as_deref().unwrap_or_default();
                format!("https://{account}.blob.core.windows.net")
            }
        }
    }

    pub(super) fn resolve(&mut self, folder: &Path) {
        resolve(&mut self.ca, folder);
    }

    pub(super) fn validate(&self, store: Store, origin: &str) -> Result<(), ConfigError> {
        use Store::{Azure, Gcs, S3};
        let sound = !self.bucket.is_empty() && !self.bucket.contains('/');
        check(sound, format!("{origin}.{store}.bucket"), || {
            format!(
                "\"{}\" is no name of a bucket; what stands before the keys is `{store}.folder`",
                self.bucket
            )
        })?;
        for (key, given, stores) in [
            ("region", &self.region, &[S3][..]),
            ("account", &self.account, &[Azure]),
            ("access_key_env", &self.access_key_env, &[S3, Azure]),
            ("secret_key_env", &self.secret_key_env, &[S3]),
            ("session_token_env", &self.session_token_env, &[S3]),
            ("credentials_env", &self.credentials_env, &[Gcs]),
            ("sas_env", &self.sas_env, &[Azure]),
        ] {
            let known = given.is_none() || stores.contains(&store);
            check(known, format!("{origin}.{store}.{key}"), || {
                let theirs: Vec<String> = stores.iter().map(Store::to_string).collect();
                format!("is a key of {} only", theirs.join(" and "))
            })?;
        }
        let named = self.account.as_deref().is_some_and(|name| !name.is_empty());
        check(
            store != Azure || named,
            format!("{origin}.azure.account"),
            || "must be the name of the storage account".to_owned(),
        )?;
        few(format!("{origin}.{store}.retries"), self.retries)
    }
}

fn resolve(path: &mut Option<PathBuf>, folder: &Path) {
    if let Some(path) = path {
        *path = folder.join(&path);
    }
}

fn few(key: String, value: u32) -> Result<(), ConfigError> {
    check(value <= FEW, key, || {
        format!("{value} is over {FEW}: nobody waits that long")
    })
}

fn one() -> u32 {
    1
}

fn three() -> u32 {
    3
}

const FEW: u32 = 10;

const LONGEST: Duration = Duration::from_secs(1800);

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(pattern: &str, url: &str) -> bool {
        let pattern = UrlPattern::try_from(pattern.to_owned()).unwrap();
        pattern.permits(&url.parse().unwrap())
    }

    #[test]
    fn a_pattern_permits_what_begins_so_and_nothing_that_only_looks_like_it() {
        for (pattern, url) in [
            ("https://a.test/", "https://a.test/x.jpg?v=2"),
            ("https://a.test", "https://A.test:443/x.jpg"),
            ("https://a.test/p", "https://a.test/p/q/x.jpg"),
            ("https://*.a.test/p/", "https://img.eu.a.test/p/x.jpg"),
            (
                "http://bücher.test:8080/",
                "http://xn--bcher-kva.test:8080/x",
            ),
            ("https://a.test/p", "https://a.test/q/%2e%2e/p/x.jpg"),
        ] {
            assert!(permits(pattern, url), "{pattern} {url}");
        }
        for (pattern, url) in [
            ("https://a.test/", "http://a.test/x.jpg"),
            ("https://a.test/", "https://a.test:8443/x.jpg"),
            ("https://a.test/", "https://a.test.evil.test/x.jpg"),
            ("https://a.test/", "https://a.test@evil.test/x.jpg"),
            ("https://a.test/", "https://me:secret@a.test/x.jpg"),
            ("https://a.test/p/", "https://a.test/pq/x.jpg"),
            ("https://a.test/p/", "https://a.test/p/../x.jpg"),
            ("https://a.test/p/", "https://a.test/p/%2e%2E/x.jpg"),
            ("https://a.test/p/", "https://a.test/p/..%2fx.jpg"),
            ("https://a.test/p/", "https://a.test/p/..%5Cx.jpg"),
            ("https://*.a.test/", "https://a.test/x.jpg"),
            ("https://*.a.test/", "https://ba.test/x.jpg"),
        ] {
            assert!(!permits(pattern, url), "{pattern} {url}");
        }
    }

    #[test]
    fn a_pattern_that_would_mean_too_much_is_refused() {
        for (text, why) in [
            ("https://*/", "first label"),
            ("https://*.", "first label"),
            ("https://img*.a.test/", "first label"),
            ("https://*.*.test/", "first label"),
            ("ftp://a.test/", "neither http nor https"),
            ("a.test/photos", "no URL"),
            ("https://me:secret@a.test/", "ends up in logs"),
        ] {
            let error = UrlPattern::try_from(text.to_owned()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
