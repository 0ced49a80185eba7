//! Explains errors of object stores, and names the setting to check. Stores send errors as XML documents, and their
//! client library reports chains of causes. The advice is for the log and for commands: clients of the server do not
//! get it.

use std::error::Error as StdError;
use std::io::ErrorKind;

use hyper::header::HeaderMap;
use hyper::{StatusCode, header};

use crate::config::Store;
use crate::error::OriginError;

/// Who reads the advice. Operators know a setting by its configuration key, users of a command by its environment
/// variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader {
    /// The operator who configured a bucket of this store.
    Operator(Store),
    /// The user of a command for an S3 bucket, who sets the environment variables of Amazon's tools.
    Command,
}

/// An error response of an object store, such as S3.
pub(super) struct ErrorResponse<'a> {
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    /// The beginning of the body.
    pub(super) body: &'a str,
}

/// A setting of a bucket.
#[derive(Clone, Copy)]
enum Setting {
    Bucket,
    Region,
    Endpoint,
    AccessKey,
    Secret,
    Session,
}

/// The problem that an object store's error code stands for, regardless of the vendor's wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    NoBucket,
    UnknownKey,
    WrongSecret,
    Clock,
    OtherRegion,
    Expired,
    Denied,
}

/// The error codes that S3, Google Cloud Storage and Azure Blob Storage send, grouped by what they mean.
const CODES: &[(Meaning, &[&str])] = &[
    (
        Meaning::NoBucket,
        &["NoSuchBucket", "InvalidBucketName", "ContainerNotFound"],
    ),
    (Meaning::UnknownKey, &["InvalidAccessKeyId", "NotSignedUp"]),
    (
        Meaning::WrongSecret,
        &["SignatureDoesNotMatch", "AuthenticationFailed"],
    ),
    (Meaning::Clock, &["RequestTimeTooSkewed"]),
    (
        Meaning::OtherRegion,
        &[
            "PermanentRedirect",
            "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException",
            "IncorrectEndpoint",
        ],
    ),
    (
        Meaning::Expired,
        &["ExpiredToken", "InvalidToken", "TokenRefreshRequired"],
    ),
    (
        Meaning::Denied,
        &[
            "AccessDenied",
            "AllAccessDisabled",
            "AuthenticationRequired",
            "AuthorizationFailure",
            "AuthorizationPermissionMismatch",
            "InsufficientAccountPermissions",
            "NoAuthenticationInformation",
            "PublicAccessNotPermitted",
        ],
    ),
];

/// The codes for missing objects, which are no error of the configuration.
const OF_MISSING_OBJECTS: [&str; 2] = ["NoSuchKey", "BlobNotFound"];

fn meaning_of(code: &str) -> Option<Meaning> {
    let row = CODES.iter().find(|(_, codes)| codes.contains(&code));
    row.map(|(meaning, _)| *meaning)
}

impl Reader {
    /// Returns why a store has refused a request, and what to do about it. `None` for a missing object.
    pub(super) fn on_reply(self, response: &ErrorResponse<'_>) -> Option<String> {
        let code = element(response.body, "Code");
        let region = response.headers.get("x-amz-bucket-region");
        let region = region.and_then(|value| value.to_str().ok());
        let region = region.or_else(|| element(response.body, "Region"));
        let region = region.filter(|it| is_word(it));
        let has_way = response.headers.contains_key(header::LOCATION);
        let meaning = match (code, response.status) {
            // Without a region in the response, the code is about another part of the header.
            (Some("AuthorizationHeaderMalformed"), _) if region.is_none() => None,
            (Some(code), _) => meaning_of(code),
            (None, StatusCode::MOVED_PERMANENTLY | StatusCode::TEMPORARY_REDIRECT) => {
                (!has_way).then_some(Meaning::OtherRegion)
            }
            (None, StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED) => Some(Meaning::Denied),
            (None, _) => None,
        };
        let known_code = code.filter(|code| is_word(code) && !OF_MISSING_OBJECTS.contains(code));
        match (meaning, known_code) {
            (Some(meaning), Some(code)) => Some(format!("{} ({code})", self.on(meaning, region))),
            (Some(meaning), None) => Some(self.on(meaning, region)),
            (None, Some(code)) => Some(format!("the store says {code}")),
            (None, None) => None,
        }
    }

    /// Returns what to check if a store cannot be reached. `None` if the error itself says everything.
    pub(super) fn on_origin_error(self, error: &OriginError) -> Option<String> {
        let endpoint = self.name_of(Setting::Endpoint);
        Some(match error {
            OriginError::UnknownName => {
                let region = self.name_of(Setting::Region);
                format!("check {endpoint} and {region}, which the store's name is made of")
            }
            OriginError::Unreachable(ErrorKind::ConnectionRefused, address) => {
                format!("nothing listens at {address}: check {endpoint}")
            }
            OriginError::Unreachable(kind, address) => {
                format!("no connection to {address} ({kind}): check {endpoint}, and firewalls")
            }
            OriginError::Insecure(why) => why.clone(),
            OriginError::Credentials(why) => why.clone(),
            _ => return None,
        })
    }

    /// Returns one line about an error of the client library `object_store`.
    pub(super) fn on_error(self, error: &object_store::Error) -> String {
        if let Some(origin_error) = origin_error_in(error) {
            return match self.on_origin_error(origin_error) {
                Some(advice) => format!("{origin_error}: {advice}"),
                None => origin_error.to_string(),
            };
        }
        let text = with_causes(error);
        self.on_text(error, &text).unwrap_or_else(|| {
            // The error document of a store has many lines.
            let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            line.chars().take(MOST_MESSAGE).collect()
        })
    }

    /// Returns advice for an error that reports something as missing, if it is the bucket that is missing.
    pub(super) fn on_missing_bucket(self, error: &object_store::Error) -> Option<String> {
        let text = with_causes(error);
        let code = element(&text, "Code")?;
        let meaning = meaning_of(code).filter(|it| *it == Meaning::NoBucket)?;
        Some(format!("{} ({code})", self.on(meaning, None)))
    }

    fn on_text(self, error: &object_store::Error, text: &str) -> Option<String> {
        let status = match error {
            object_store::Error::PermissionDenied { .. } => StatusCode::FORBIDDEN,
            object_store::Error::Unauthenticated { .. } => StatusCode::UNAUTHORIZED,
            _ if text.contains("redirect without LOCATION") => StatusCode::MOVED_PERMANENTLY,
            _ => StatusCode::BAD_REQUEST,
        };
        self.on_reply(&ErrorResponse {
            status,
            headers: &HeaderMap::new(),
            body: text,
        })
    }

    /// Returns the advice for an error with this meaning. `region` is that of the bucket, if the store names it.
    fn on(self, meaning: Meaning, region: Option<&str>) -> String {
        let of = |setting| self.name_of(setting);
        match meaning {
            Meaning::NoBucket => format!(
                "the store has no bucket of this name: check {}, {} and {}",
                of(Setting::Bucket),
                of(Setting::Endpoint),
                of(Setting::Region)
            ),
            Meaning::UnknownKey => format!(
                "the store does not know the access key: check {}",
                of(Setting::AccessKey)
            ),
            Meaning::WrongSecret => format!(
                "the signature is wrong, so the secret is not that of the access key: check {} and {}",
                of(Setting::Secret),
                of(Setting::AccessKey)
            ),
            Meaning::Clock => {
                "this machine's clock is too far from the store's: set it by NTP (`timedatectl` shows it)"
                    .to_owned()
            }
            Meaning::OtherRegion => {
                let place = region.map_or("another region".to_owned(), |it| format!("the region {it}"));
                format!("the bucket is in {place}: set {}", of(Setting::Region))
            }
            Meaning::Expired => format!(
                "the credentials have expired: renew {}, or let the platform issue them \
                 (`credentials = \"platform\"`)",
                of(Setting::Session)
            ),
            Meaning::Denied => format!(
                "the credentials may not do this, or there are none and the bucket is not public: {}; check {}",
                self.permission(),
                of(Setting::AccessKey)
            ),
        }
    }

    /// Returns the permissions that the credentials need.
    fn permission(self) -> &'static str {
        match self {
            Self::Operator(Store::Gcs) => "they need the role Storage Object Viewer",
            Self::Operator(Store::Azure) => "they need the role Storage Blob Data Reader",
            Self::Operator(Store::S3) | Self::Command => {
                "their policy has to allow s3:GetObject, and s3:ListBucket, without which a missing object is refused \
                 as well"
            }
        }
    }

    /// Returns the name of a setting for this reader.
    fn name_of(self, setting: Setting) -> String {
        let key = |store: Store, key: &str| format!("`{store}.{key}`");
        match (self, setting) {
            (Self::Command, Setting::Bucket) => "the name after s3://".to_owned(),
            (Self::Command, Setting::Region) => "AWS_REGION".to_owned(),
            (Self::Command, Setting::Endpoint) => "AWS_ENDPOINT_URL".to_owned(),
            (Self::Command, Setting::AccessKey) => "AWS_ACCESS_KEY_ID".to_owned(),
            (Self::Command, Setting::Secret) => "AWS_SECRET_ACCESS_KEY".to_owned(),
            (Self::Command, Setting::Session) => "AWS_SESSION_TOKEN".to_owned(),
            (Self::Operator(store @ Store::Azure), Setting::Bucket) => key(store, "container"),
            (Self::Operator(store), Setting::Bucket) => key(store, "bucket"),
            (Self::Operator(store), Setting::Endpoint) => key(store, "endpoint"),
            (Self::Operator(store @ Store::Azure), Setting::Region) => key(store, "account"),
            (Self::Operator(store), Setting::Region) => match store {
                Store::S3 => key(store, "region"),
                Store::Gcs | Store::Azure => key(store, "bucket"),
            },
            (Self::Operator(store @ Store::Gcs), _) => key(store, "credentials_env"),
            (Self::Operator(store @ Store::Azure), Setting::Session) => key(store, "sas_env"),
            (Self::Operator(store @ Store::S3), Setting::Session) => {
                key(store, "session_token_env")
            }
            (Self::Operator(store @ Store::S3), Setting::Secret) => key(store, "secret_key_env"),
            (Self::Operator(store), Setting::AccessKey | Setting::Secret) => {
                key(store, "access_key_env")
            }
        }
    }
}

/// Returns an error and its causes, outermost first.
fn chain<'a>(error: &'a (dyn StdError + 'static)) -> Vec<&'a (dyn StdError + 'static)> {
    let mut chain = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        chain.push(error);
        next = error.source();
    }
    chain
}

/// Returns the [`OriginError`] in a chain of causes, if there is one.
fn origin_error_in<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a OriginError> {
    chain(error).into_iter().find_map(|it| it.downcast_ref())
}

/// Returns the message of an error with those of its causes.
fn with_causes(error: &(dyn StdError + 'static)) -> String {
    let mut text = String::new();
    for error in chain(error) {
        let more = error.to_string();
        if !text.contains(&more) {
            let colon = if text.is_empty() { "" } else { ": " };
            text.push_str(colon);
            text.push_str(&more);
        }
    }
    text
}

/// Returns the text of the first element of this name. Errors of stores are flat documents without attributes.
fn element<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once("</")?;
    Some(text.trim())
}

/// Whether text from a store may be repeated in a message: it is a single word, such as a code or a region.
fn is_word(text: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=64).contains(&text.len()) && text.chars().all(is_of_word)
}

/// Maximum number of characters of an error without advice.
const MOST_MESSAGE: usize = 300;

#[cfg(test)]
mod tests;
