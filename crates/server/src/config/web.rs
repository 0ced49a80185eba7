//! The tables `[negotiation]`, `[cors]`, `[headers]` and `[admin]`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use andon_settings::check;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;

use super::{ConfigError, Span};

/// The table `[negotiation]`: the format that an image is written in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NegotiationConfig {
    /// The format of an image whose URL names none.
    pub default: DefaultFormat,
    /// Names of the formats to choose from.
    pub formats: Vec<String>,
    /// Maximum time for encoding the best format. If encoding would take longer, the reply uses the next best format, and
    /// the result in the best format is made later, while the server is idle.
    pub patience: Span,
}

/// The format of an image whose URL names none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultFormat {
    /// The format of the source.
    #[default]
    Source,
    /// The best format that the client accepts, as with the option `of=auto` of small_light URLs.
    Auto,
}

/// The table `[cors]`: the pages of other sites that may read replies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorsConfig {
    /// Sites whose pages may read replies, each as an origin of the web (scheme, host and port) such as
    /// `https://shop.example`, or `*` for all.
    pub origins: Vec<String>,
    /// How long a browser may cache the answer to a preflight request.
    pub max_age: Span,
}

/// The table `[headers]`: additional headers of replies, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct HeadersConfig(BTreeMap<String, String>);

/// The table `[admin]`: the administrator's token.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdminConfig {
    /// The administrator's token, which purge requests and other administrative requests must carry.
    pub token: Option<String>,
    /// The environment variable that holds the administrator's token.
    pub token_env: Option<String>,
}

impl Default for NegotiationConfig {
    fn default() -> Self {
        Self {
            default: DefaultFormat::Source,
            formats: ["jxl", "avif", "webp"].map(str::to_owned).to_vec(),
            patience: Span(Duration::from_millis(500)),
        }
    }
}

impl Default for CorsConfig {
    fn default() -> Self {
        Self {
            origins: Vec::new(),
            max_age: Span(Duration::from_secs(600)),
        }
    }
}

/// Omits the token, because configurations may be printed to logs.
impl fmt::Debug for AdminConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminConfig")
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("token_env", &self.token_env)
            .finish()
    }
}

impl NegotiationConfig {
    /// Checks that `negotiation.formats` is not empty if `imgproxy.enforce` needs it. `is_enforced` says whether URLs of
    /// imgproxy get one of these formats even if they name another.
    pub(super) fn validate(&self, is_enforced: bool) -> Result<(), ConfigError> {
        check(
            !is_enforced || !self.formats.is_empty(),
            "imgproxy.enforce",
            || "`negotiation.formats` is empty: name a format there, such as \"webp\"".to_owned(),
        )
    }
}

impl CorsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let wrong = |origin: &&String| {
            let scheme = origin.contains("://") && !origin.ends_with('/');
            (!scheme && *origin != "*") || HeaderValue::from_str(origin).is_err()
        };
        match self.origins.iter().find(wrong) {
            Some(origin) => Err(ConfigError::new(
                "cors.origins",
                format!(
                    "\"{origin}\" is no origin; write it like \"https://shop.example\", without a path, or \"*\""
                ),
            )),
            None => Ok(()),
        }
    }
}

impl HeadersConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let wrong = |name: &str, why: &str| {
            let key = format!("headers.{name}");
            Err(ConfigError::new(key, why.to_owned()))
        };
        for (name, value) in &self.0 {
            match HeaderName::from_bytes(name.as_bytes()) {
                Err(_) => return wrong(name, "is no name of a header"),
                Ok(name) if OWN.contains(&name) => {
                    return wrong(name.as_str(), "is said by the server itself");
                }
                Ok(_) if HeaderValue::from_str(value).is_err() => {
                    return wrong(name, "has a value that no header can have");
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the headers in the form in which replies carry them.
    #[must_use]
    pub fn map(&self) -> HeaderMap {
        let headers = self.0.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        headers.collect()
    }
}

/// Headers that only the server itself may set, because they describe a reply's content, validity and length.
const OWN: [HeaderName; 12] = [
    header::ACCEPT_RANGES,
    header::CACHE_CONTROL,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
    header::DATE,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LOCATION,
    header::TRANSFER_ENCODING,
    header::VARY,
];

impl AdminConfig {
    /// Returns the administrator's token, or `None` if administration is switched off.
    ///
    /// # Errors
    /// If both `token` and `token_env` are given, if the environment variable is not set, or if the token is too short
    /// to be a secret.
    pub fn secret(&self) -> Result<Option<String>, ConfigError> {
        let token = match (&self.token, &self.token_env) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                return Err(ConfigError::new(
                    "admin.token",
                    "`admin.token_env` is there as well; keep one",
                ));
            }
            (Some(token), None) => token.clone(),
            (None, Some(name)) => std::env::var(name).map_err(|_| {
                ConfigError::new(
                    "admin.token_env",
                    format!("the environment variable {name} is not set"),
                )
            })?,
        };
        check(token.len() >= SHORTEST_TOKEN, "admin", || {
            format!("the token has fewer than {SHORTEST_TOKEN} bytes: it can be guessed")
        })?;
        Ok(Some(token))
    }
}

const SHORTEST_TOKEN: usize = 16;
