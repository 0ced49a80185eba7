//! What other machines on the web are told and asked: `[negotiation]`, `[cors]`, `[headers]`, `[admin]`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use andon_recipe::unknown;
use andon_settings::check;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;

use super::{ConfigError, Span};

/// `[negotiation]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NegotiationConfig {
    /// What an image is written as whose URL names no format.
    pub default: DefaultFormat,
    /// Formats to choose from; those that cannot be written are passed over.
    pub formats: Vec<String>,
    /// How long writing may take. What takes longer is answered in the next best format, and made once nobody waits.
    pub patience: Span,
}

/// What an image is written as whose URL names no format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultFormat {
    /// The source's own.
    #[default]
    Source,
    /// The best that the client accepts, as with `of=auto`.
    Auto,
}

/// `[cors]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorsConfig {
    /// Origins whose pages may read replies, such as `https://shop.example`, or `*`.
    pub origins: Vec<String>,
    /// How long a browser need not ask again.
    pub max_age: Span,
}

/// `[headers]`: further headers of replies, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct HeadersConfig(BTreeMap<String, String>);

/// `[admin]`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdminConfig {
    /// What whoever purges must know.
    pub token: Option<String>,
    /// The environment variable that holds it.
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

/// Without the token: configurations end up in logs.
impl fmt::Debug for AdminConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminConfig")
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("token_env", &self.token_env)
            .finish()
    }
}

impl NegotiationConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let wrong = self.formats.iter().find(|it| !FORMATS.contains(&&***it));
        match wrong {
            Some(name) => Err(ConfigError::new(
                "negotiation.formats",
                unknown("format", name, FORMATS),
            )),
            None => Ok(()),
        }
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

    /// As replies have them.
    #[must_use]
    pub fn map(&self) -> HeaderMap {
        let said = self.0.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        said.collect()
    }
}

/// Headers that say what a reply is, how long it is good and where it ends.
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
    /// The token, if administration is switched on.
    ///
    /// # Errors
    /// When both keys are there, or the variable is not, or the token is too short to be a secret.
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

/// Those that browsers know; which of them can be written is another matter.
const FORMATS: &[&str] = &["avif", "gif", "jpeg", "jxl", "png", "webp"];

const SHORTEST_TOKEN: usize = 16;
