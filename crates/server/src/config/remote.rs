//! The parts of `[[origin]]` for origins that are asked over a network: `http`, `s3` and `timeouts`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;
use url::Url;

use super::{ConfigError, Span};

/// A web server: `http.base = "https://pictures.example/originals"`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// What stands before each path.
    pub base: BaseUrl,
    /// Sent with each request to the base's own host, and to no other.
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
    /// Ports beside the base's own that a redirect may lead to at an address of `allow`.
    #[serde(default)]
    pub redirect_ports: Vec<u16>,
    /// Times a request is sent again after its connection broke before anything was answered.
    #[serde(default = "one")]
    pub retries: u32,
}

/// A bucket of S3 or of a store that speaks like it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3Config {
    /// Its name.
    pub bucket: String,
    /// What stands before each key, such as `originals`.
    #[serde(default)]
    pub folder: String,
    /// Where it is.
    #[serde(default = "first_region")]
    pub region: String,
    /// The store's URL, the bucket not in it; Amazon's by default.
    pub endpoint: Option<BaseUrl>,
    /// The environment variable that holds the access key; without keys the bucket is read as anybody
    /// may.
    pub access_key_env: Option<String>,
    /// The environment variable that holds the secret key.
    pub secret_key_env: Option<String>,
    /// The environment variable that holds a session's token.
    pub session_token_env: Option<String>,
    /// A PEM file with authorities to trust beside the public ones.
    pub ca: Option<PathBuf>,
    /// Times a request is sent again after its connection broke before anything was answered.
    #[serde(default = "one")]
    pub retries: u32,
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

    pub(super) fn validate(&self, origin: &str) -> Result<(), ConfigError> {
        few(format!("{origin}.http.redirects"), self.redirects)?;
        few(format!("{origin}.http.retries"), self.retries)
    }
}

impl S3Config {
    pub(super) fn resolve(&mut self, folder: &Path) {
        resolve(&mut self.ca, folder);
    }

    pub(super) fn validate(&self, origin: &str) -> Result<(), ConfigError> {
        let sound = !self.bucket.is_empty() && !self.bucket.contains('/');
        check(sound, format!("{origin}.s3.bucket"), || {
            format!(
                "\"{}\" is no name of a bucket; what stands before the keys is `s3.folder`",
                self.bucket
            )
        })?;
        few(format!("{origin}.s3.retries"), self.retries)
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

fn first_region() -> String {
    "us-east-1".to_owned()
}

const FEW: u32 = 10;

const LONGEST: Duration = Duration::from_secs(1800);
