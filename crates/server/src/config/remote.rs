//! The parts of `[[origin]]` for remote origins: `http` and `timeouts`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use andon_settings::check;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use url::Url;

use super::{ConfigError, Span, is_below};

/// A web server, such as `http.base = "https://images.example/originals"`, or the web servers of absolute URLs that
/// requests name, such as `http.urls = ["https://*.example.org/photos/"]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// The URL that is prepended to each path.
    pub base: Option<BaseUrl>,
    /// Patterns of the absolute URLs that are served.
    #[serde(default)]
    pub urls: Vec<UrlPattern>,
    /// Headers that are sent with each request to the host of `base` or of the requested URL, and to no other host.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The user name for basic authentication, together with `password_env`.
    pub user: Option<String>,
    /// The environment variable that holds the password for basic authentication.
    pub password_env: Option<String>,
    /// The environment variable that holds a bearer token.
    pub bearer_env: Option<String>,
    /// A PEM file with certificate authorities that are trusted in addition to the public ones.
    pub ca: Option<PathBuf>,
    /// Maximum number of redirects that are followed.
    #[serde(default = "three")]
    pub redirects: u32,
    /// Ports, in addition to those of `base` or `urls`, that a redirect may lead to at an address in the origin's
    /// `allow`.
    #[serde(default)]
    pub redirect_ports: Vec<u16>,
    /// How many times a request is repeated after its connection broke before any response.
    #[serde(default = "one")]
    pub retries: u32,
}

/// Timeouts of a fetch from a remote origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OriginTimeouts {
    /// Time limit for the name look-up, the connection and, with TLS, its handshake.
    pub connect: Span,
    /// Time limit from the request, connecting included, to the end of the response's headers.
    pub first_byte: Span,
    /// Time limit between two reads of a response's body.
    pub idle: Span,
    /// Time limit for the whole fetch, including waiting for a free request slot and for the rate limit, redirects and
    /// retries.
    pub total: Span,
}

/// An http or https URL without credentials, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BaseUrl(pub Url);

/// A pattern of absolute URLs: it permits those that begin with it, in whole segments. The host `*.example.org` stands
/// for every name below `example.org`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct UrlPattern {
    begin: Url,
    /// The suffix that hosts must have, such as `.example.org`; `None` for a host without a wildcard.
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
        let is_valid = match &below {
            Some(rest) => rest.starts_with('.') && rest.len() > 1 && !rest.contains('*'),
            None => !host.contains('*'),
        };
        match is_valid {
            true => Ok(Self { begin, below }),
            false => Err(format!(
                "`{begin}` has a `*` that is not the first label of a host; write it like \
                 \"https://*.example.org/photos/\", and each host that is no part of another by itself"
            )),
        }
    }
}

impl UrlPattern {
    /// Whether this pattern permits `url`. It never permits a URL with a user name or password, nor a path that a server may
    /// interpret as one with `..`.
    pub(crate) fn permits(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_host = match &self.below {
            Some(end) => host
                .strip_suffix(end.as_str())
                .is_some_and(|name| !name.is_empty()),
            None => Some(host) == self.begin.host_str(),
        };
        let path = percent_decode_str(url.path()).decode_utf8_lossy();
        let climbs = path.split(['/', '\\']).any(|segment| segment == "..");
        let folder = self.begin.path().trim_end_matches('/');
        is_host
            && !climbs
            && url.scheme() == self.begin.scheme()
            && url.port() == self.begin.port()
            && url.username().is_empty()
            && url.password().is_none()
            && is_below(folder, url.path())
    }

    /// Returns the port of the permitted URLs.
    pub(crate) fn port(&self) -> Option<u16> {
        self.begin.port_or_known_default()
    }

    /// Returns the normalized URL of the pattern.
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

    /// Returns the base URL or, without one, the first of the URL patterns.
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
        check_few(format!("{origin}.http.redirects"), self.redirects)?;
        check_few(format!("{origin}.http.retries"), self.retries)
    }
}

pub(super) fn resolve(path: &mut Option<PathBuf>, folder: &Path) {
    if let Some(path) = path {
        *path = folder.join(&path);
    }
}

pub(super) fn check_few(key: String, value: u32) -> Result<(), ConfigError> {
    check(value <= FEW, key, || {
        format!("{value} is over {FEW}: nobody waits that long")
    })
}

pub(super) fn one() -> u32 {
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
