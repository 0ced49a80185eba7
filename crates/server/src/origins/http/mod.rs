//! Images on another web server, requested over HTTP/1.1 with or without TLS.
//!
//! The environment variables for proxies are not read, cookies are not stored, and compression is not requested. The
//! guard in the module `private_net` decides which addresses may be connected to.

pub(crate) mod body;
pub(crate) mod client;
mod coding;
pub(crate) mod connect;
mod redirect;
pub(crate) mod tls;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use self::client::{Ask, Client, Rules};
use super::budget::Budget;
use super::names::{ESCAPED, encoded, path_below};
use super::secrets::from_env;
use super::source::{Fetched, SourceValidators};
use crate::config::{HttpConfig, UrlPattern};
use crate::error::{Error, OriginError};
use crate::net::{Cidr, Guard};

/// An origin that is a web server, or all the web servers of URLs that match its patterns.
#[derive(Debug)]
pub(crate) struct HttpOrigin {
    base: Option<Url>,
    urls: Vec<UrlPattern>,
    headers: HeaderMap,
    client: Client,
}

impl HttpOrigin {
    /// Reads credentials and certificates. Does not connect to anything yet.
    ///
    /// # Errors
    /// A sentence about the configuration key that cannot work.
    pub(crate) fn new(config: &HttpConfig, allow: &[Cidr], rules: Rules) -> Result<Self, String> {
        let rules = Rules {
            redirects: config.redirects,
            retries: config.retries,
            ..rules
        };
        Ok(Self {
            base: config.base.clone().map(|base| base.0),
            urls: config.urls.clone(),
            headers: headers(config)?,
            client: Client::new(config.ca.as_deref(), guard(config, allow), rules)?,
        })
    }

    /// Returns the client for the requests to this origin.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the percent-decoded path of an absolute URL below the base URL, if fetching that path requests exactly
    /// this URL.
    pub(crate) fn path_of(&self, url: &Url) -> Option<String> {
        let path = self.path_below(url)?;
        let request_url = below(self.base.as_ref()?, &path)?;
        // Slashes in paths are merged, so such a path would request another URL.
        (request_url == *url && !path.contains("//")).then_some(path)
    }

    /// Whether this absolute URL may be requested: it has to be below the base URL and contain no credentials.
    pub(crate) fn may_ask(&self, url: &Url) -> bool {
        let is_plain = url.username().is_empty() && url.password().is_none();
        is_plain && self.path_below(url).is_some()
    }

    /// Returns the percent-decoded path of a URL below the base URL, whatever its other parts (such as a query): the
    /// server may send the same source for it.
    pub(crate) fn path_below(&self, url: &Url) -> Option<String> {
        path_below(self.base.as_ref()?, url)
    }

    /// Requests a source, unless it still has these `validators`. `path` is a percent-decoded path below the base URL,
    /// `//` followed by a percent-encoded one, or a URL that may be requested.
    ///
    /// # Errors
    /// The errors of [`Client::get`].
    pub(crate) async fn fetch(
        &self,
        path: &str,
        validators: Option<&SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetched, Error> {
        let missing = || Error::Missing {
            path: path.to_owned(),
        };
        let whole = (path.contains("://") && !path.starts_with(ESCAPED))
            .then(|| Url::parse(path).ok())
            .flatten();
        let is_whole = whole.is_some();
        let url = match (&self.base, whole) {
            (Some(base), None) if path.starts_with(ESCAPED) => {
                without_escaping(base, &path[ESCAPED.len()..])
            }
            (Some(_), Some(url)) => Some(url).filter(|url| self.may_ask(url)),
            (Some(base), None) => below(base, path),
            (None, url) => url,
        };
        let url = url.ok_or_else(missing)?;
        let (name, uri) = match is_whole {
            true => (path, path.parse().map_err(|_| OriginError::Garbled)?),
            false => (url.as_str(), client::target(&url)?),
        };
        let ask = Ask {
            path,
            name,
            uri,
            headers: &self.headers,
            authorize: None,
            validators,
            patterns: &self.urls,
            store: None,
        };
        self.client.get(&ask, budget).await
    }
}

fn guard(config: &HttpConfig, allow: &[Cidr]) -> Guard {
    let mut ports = config.redirect_ports.clone();
    let base = config.base.as_ref();
    ports.extend(base.and_then(|base| base.0.port_or_known_default()));
    ports.extend(config.urls.iter().filter_map(UrlPattern::port));
    Guard::allowing(allow.to_vec(), ports)
}

fn headers(config: &HttpConfig) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, text) in &config.headers {
        let wrong = |what: &str| format!("`http.headers` has a {what} that cannot be sent: {name}");
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name"))?;
        if RESERVED.contains(&key) {
            return Err(format!(
                "`http.headers` may not set {name}: the client itself does"
            ));
        }
        headers.insert(
            key,
            HeaderValue::from_str(text).map_err(|_| wrong("value"))?,
        );
    }
    let authorization = match (&config.user, &config.password_env, &config.bearer_env) {
        (Some(user), Some(name), None) => {
            let password = from_env("http.password_env", name)?;
            Some(format!(
                "Basic {}",
                base64(format!("{user}:{password}").as_bytes())
            ))
        }
        (None, None, Some(name)) => Some(format!("Bearer {}", from_env("http.bearer_env", name)?)),
        (None, None, None) => None,
        _ => {
            return Err(
                "give `http.user` and `http.password_env` together, or `http.bearer_env` alone"
                    .to_owned(),
            );
        }
    };
    if let Some(text) = authorization {
        let value = HeaderValue::from_str(&text)
            .map_err(|_| "the credentials hold what cannot be sent in a header".to_owned())?;
        headers.insert(header::AUTHORIZATION, value);
    }
    for value in headers.values_mut() {
        value.set_sensitive(true);
    }
    Ok(headers)
}

/// Returns the URL of `path` below `base`, or `None` for an empty path and for one that would leave the base.
pub(crate) fn below(base: &Url, path: &str) -> Option<Url> {
    let path = path.trim_start_matches('/');
    let unfit = |segment: &str| matches!(segment, "." | "..") || segment.contains(char::is_control);
    if path.is_empty() || path.split('/').any(unfit) {
        return None;
    }
    let base = base.as_str().trim_end_matches('/');
    Url::parse(&format!("{base}/{}", encoded(path))).ok()
}

/// Returns the URL of a path below `base`. The path is escaped already and must stay exactly as it is.
fn without_escaping(base: &Url, raw: &str) -> Option<Url> {
    let text = format!("{}/{raw}", base.as_str().trim_end_matches('/'));
    Url::parse(&text).ok().filter(|url| url.as_str() == text)
}

/// Encodes bytes in Base64 with padding (RFC 4648). It is used only once, which does not justify a crate.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut bits = 0u32;
        for index in 0..3 {
            bits = bits << 8 | u32::from(group.get(index).copied().unwrap_or(0));
        }
        for index in 0..4 {
            let letter = BASE64[(bits >> (18 - 6 * index)) as usize & 63];
            text.push(if index <= group.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Request headers that the configuration may not set, because they decide what a response means, or belong to the
/// connection.
const RESERVED: [HeaderName; 11] = [
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::EXPECT,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_RANGE,
    header::RANGE,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_base_and_are_encoded_once() {
        let url = |base: &str, path: &str| below(&base.parse().unwrap(), path).map(String::from);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(url("http://o.test", "/a.jpg"), some("http://o.test/a.jpg"));
        assert_eq!(
            url("http://o.test/x/", "a/b.jpg"),
            some("http://o.test/x/a/b.jpg")
        );
        assert_eq!(
            url("http://o.test/x", "ü ?#%2e%2e&+.jpg"),
            some("http://o.test/x/%C3%BC%20%3F%23%252e%252e&+.jpg")
        );
        assert_eq!(
            url("http://o.test/x", "..\\y"),
            some("http://o.test/x/..%5Cy")
        );
        assert_eq!(
            url("http://o.test/x", "@evil.test/y"),
            some("http://o.test/x/@evil.test/y")
        );
        for path in [
            "",
            "/",
            "../y",
            "a/../../y",
            "a/./b",
            "a/..",
            "a\0b",
            "a\r\nb",
        ] {
            assert_eq!(url("http://o.test/x", path), None, "{path:?}");
        }
    }

    #[test]
    fn base64_is_as_in_its_rfc() {
        for (text, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("\u{ff}\u{3ff}", "w7/Pvw=="),
        ] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }
}
