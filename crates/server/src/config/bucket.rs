//! The parts of `[[origin]]` and `[store]` for buckets: `s3`, `gcs` and `azure`.

use std::fmt;
use std::path::{Path, PathBuf};

use andon_settings::check;
use serde::Deserialize;
use url::{Host, Url};

use super::ConfigError;
use super::remote::{BaseUrl, check_few, one, resolve};

/// The configuration of a bucket of an object store. A key that does not apply to the kind of store is an error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketConfig {
    /// The bucket's name. Azure calls a bucket a container. Empty if `buckets` is given.
    #[serde(default, alias = "container")]
    pub bucket: String,
    /// Patterns of the names of buckets, instead of `bucket`: requests name the bucket, as in `s3://BUCKET/KEY`.
    #[serde(default, alias = "containers")]
    pub buckets: Vec<BucketPattern>,
    /// The folder inside the bucket that is prepended to each key, such as `originals`.
    #[serde(default)]
    pub folder: String,
    /// The bucket's region; for S3 only.
    pub region: Option<String>,
    /// The storage account that the container belongs to; for Azure only.
    pub account: Option<String>,
    /// The store's URL without the bucket. The default is the URL of Amazon, Google or the Azure account.
    pub endpoint: Option<BaseUrl>,
    /// Where the credentials come from if no key names an environment variable for them. With `None`, the bucket is
    /// then read anonymously.
    pub credentials: Option<Credentials>,
    /// The environment variable that holds the access key ID of S3 or the account key of Azure. Without any
    /// credentials, the bucket is read anonymously.
    pub access_key_env: Option<String>,
    /// The environment variable that holds the secret access key; for S3 only.
    pub secret_key_env: Option<String>,
    /// The environment variable that holds the session token; for S3 only.
    pub session_token_env: Option<String>,
    /// The environment variable that holds a service account's key in JSON or the path of its file; for Google only.
    pub credentials_env: Option<String>,
    /// The environment variable that holds a shared access signature (SAS); for Azure only.
    pub sas_env: Option<String>,
    /// A PEM file with certificate authorities that are trusted in addition to the public ones.
    pub ca: Option<PathBuf>,
    /// How many times a request is repeated after its connection broke before any response.
    #[serde(default = "one")]
    pub retries: u32,
}

/// A source of credentials that are issued for a limited time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Credentials {
    /// The platform on which the server runs. The credentials are looked for where the SDKs of the store's provider
    /// look for them, such as in a metadata service.
    Platform,
}

/// A pattern of names of buckets: a name, or a name in which one `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BucketPattern {
    begin: String,
    /// The text after the `*`; `None` for a pattern without `*`.
    end: Option<String>,
}

/// The kind of object store that a bucket is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Amazon S3, or a store with a compatible API.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
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

impl Store {
    /// The scheme of URLs that name a bucket and a key: `s3`, `gs` as for `gsutil`, or `abs` as for imgproxy.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gs",
            Self::Azure => "abs",
        }
    }
}

impl TryFrom<String> for BucketPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |why: &str| {
            Err(format!(
                "`{text}` {why}; write it like \"assets\" or \"assets-*\""
            ))
        };
        let (begin, end) = match text.split_once('*') {
            Some((begin, end)) => (begin, Some(end)),
            None => (text.as_str(), None),
        };
        let is_valid = |part: &str| part.bytes().all(is_of_name);
        match (is_valid(begin), end.is_none_or(is_valid)) {
            _ if text.is_empty() => wrong("names no bucket"),
            _ if text == "*" => wrong("is every bucket that the credentials can read"),
            (true, true) => Ok(Self {
                begin: begin.to_owned(),
                end: end.map(str::to_owned),
            }),
            _ => wrong("has more than one `*`, or characters that names of buckets do not have"),
        }
    }
}

impl BucketPattern {
    /// Whether this is the name of a bucket that the pattern covers.
    pub(crate) fn covers(&self, bucket: &str) -> bool {
        let matches = match &self.end {
            None => bucket == self.begin,
            Some(end) => bucket
                .strip_prefix(self.begin.as_str())
                .is_some_and(|rest| rest.ends_with(end.as_str())),
        };
        // This excludes `..`, which would lead out of the path of an endpoint.
        let is_name = bucket.starts_with(|first: char| first.is_ascii_alphanumeric());
        matches && is_name && bucket.bytes().all(is_of_name)
    }
}

impl fmt::Display for BucketPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.end {
            None => f.write_str(&self.begin),
            Some(end) => write!(f, "{}*{end}", self.begin),
        }
    }
}

/// Whether names of buckets may contain this byte. None of the permitted bytes has a special meaning in a URL's host.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(&byte)
}

impl BucketConfig {
    /// Whether the bucket is read without credentials.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.credentials.is_none() && self.named_keys().next().is_none()
    }

    /// The name of the bucket, or the first of the patterns.
    #[must_use]
    pub fn name(&self) -> String {
        match self.buckets.first() {
            Some(pattern) => pattern.to_string(),
            None => self.bucket.clone(),
        }
    }

    /// Returns the keys with which this bucket's configuration names environment variables that hold credentials.
    fn named_keys(&self) -> impl Iterator<Item = &'static str> {
        [
            ("access_key_env", &self.access_key_env),
            ("secret_key_env", &self.secret_key_env),
            ("session_token_env", &self.session_token_env),
            ("credentials_env", &self.credentials_env),
            ("sas_env", &self.sas_env),
        ]
        .into_iter()
        .filter_map(|(key, name)| name.is_some().then_some(key))
    }

    /// The region of the bucket, `us-east-1` unless another is configured.
    #[must_use]
    pub fn region(&self) -> &str {
        self.region.as_deref().unwrap_or("us-east-1")
    }

    /// Returns the URL to which the name of `bucket` and a key are appended. Amazon's own URL contains the bucket's name
    /// already, so only the key is appended to it.
    pub(crate) fn endpoint_of(&self, store: Store, bucket: &str) -> String {
        match (&self.endpoint, store) {
            (Some(endpoint), _) => endpoint.0.as_str().trim_end_matches('/').to_owned(),
            (None, Store::S3) => format!("https://{bucket}.s3.{}.amazonaws.com", self.region()),
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
        check(
            self.bucket.is_empty() != self.buckets.is_empty(),
            format!("{origin}.{store}"),
            || {
                "needs either `bucket`, the one bucket below the prefix, or `buckets`, which buckets URLs may name"
                    .to_owned()
            },
        )?;
        let is_name = !self.bucket.contains('/');
        check(is_name, format!("{origin}.{store}.bucket"), || {
            format!(
                "\"{}\" is no name of a bucket; what stands before the keys is `{store}.folder`",
                self.bucket
            )
        })?;
        for (key, value, stores) in [
            ("region", &self.region, &[S3][..]),
            ("account", &self.account, &[Azure]),
            ("access_key_env", &self.access_key_env, &[S3, Azure]),
            ("secret_key_env", &self.secret_key_env, &[S3]),
            ("session_token_env", &self.session_token_env, &[S3]),
            ("credentials_env", &self.credentials_env, &[Gcs]),
            ("sas_env", &self.sas_env, &[Azure]),
        ] {
            let is_allowed = value.is_none() || stores.contains(&store);
            check(is_allowed, format!("{origin}.{store}.{key}"), || {
                let theirs: Vec<String> = stores.iter().map(Store::to_string).collect();
                format!("is a key of {} only", theirs.join(" and "))
            })?;
        }
        let has_account = self.account.as_deref().is_some_and(|name| !name.is_empty());
        check(
            store != Azure || has_account,
            format!("{origin}.azure.account"),
            || "must be the name of the storage account".to_owned(),
        )?;
        self.validate_credentials(store, origin)?;
        check_few(format!("{origin}.{store}.retries"), self.retries)
    }

    fn validate_credentials(&self, store: Store, origin: &str) -> Result<(), ConfigError> {
        // Amazon's secrets only sign requests, whereas the tokens of the other stores are sent with each request.
        let is_safe = |url: &BaseUrl| url.0.scheme() == "https" || is_loopback(&url.0);
        let sends_tokens = store != Store::S3 && self.credentials.is_some();
        let insecure_url = self
            .endpoint
            .as_ref()
            .filter(|url| sends_tokens && !is_safe(url));
        if let Some(url) = insecure_url {
            let what = format!(
                "{} is not encrypted, and with `credentials = \"platform\"` each request carries a token that opens what \
                 the server may open; use https, or a loopback address for an emulator",
                url.0
            );
            return Err(ConfigError::new(format!("{origin}.{store}.endpoint"), what));
        }
        if self.credentials.is_some()
            && let Some(key) = self.named_keys().next()
        {
            let what = format!("names credentials, and so does `{key}`; give one of them");
            return Err(ConfigError::new(
                format!("{origin}.{store}.credentials"),
                what,
            ));
        }
        // These keys sign URLs of a single bucket.
        let signs = match store {
            Store::S3 => None,
            Store::Gcs => self.credentials_env.as_ref().map(|_| "credentials_env"),
            Store::Azure => self.access_key_env.as_ref().map(|_| "access_key_env"),
        };
        check(
            self.buckets.is_empty() || signs.is_none(),
            format!("{origin}.{store}.buckets"),
            || {
                format!(
                    "does not go with `{}`, which signs URLs of one bucket; use `credentials = \"platform\"`, or an \
                     origin for each bucket",
                    signs.unwrap_or_default()
                )
            },
        )
    }
}

/// Whether the host of this URL is a loopback address, so that requests do not leave the machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}
