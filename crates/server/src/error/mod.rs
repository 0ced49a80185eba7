//! Errors that requests are answered with: who is at fault, the status, one public sentence, and a label for logs.

mod connections;
mod origin;
mod rejection;
mod stuck;

use andon_pixels::BoundOn;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use andon_dialects::{ErrorStyle, Fault as Kind, Refusal};
use hyper::{Method, StatusCode};

pub use self::connections::ConnectionLimit;
pub use self::origin::{Late, OriginError, RedirectError};
pub use self::rejection::{Cause, Rejection};
pub use self::stuck::{Stuck, Threads};

/// Who is at fault for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The client that sent the request.
    Client,
    /// The origin that the image comes from.
    Origin,
    /// This server, for internal errors and overload.
    Server,
}

/// An error that a request is answered with. `Display` names the offending value and is for the log: `At` adds a place,
/// which may be a path of this machine. `public` returns the sentence for clients.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each sentence says it")]
pub enum Error {
    #[error("{0}")]
    Target(Refusal),
    #[error("there is no file /{path}")]
    Missing { path: String },
    #[error("the file /{path} may not be read")]
    Forbidden { path: String },
    #[error("the file /{path} is not served: {why}")]
    Withheld { path: String, why: Withheld },
    #[error("{error} ({place})")]
    At { error: Box<Self>, place: String },
    /// An error about an image that is laid over the source.
    #[error("overlay image {name}: {error}")]
    Overlay { name: String, error: Box<Self> },
    /// An error that must not be cached, because its origin's headers forbid it.
    #[error("{0}")]
    Unkept(Box<Self>),
    #[error("see {to}")]
    Moved {
        to: String,
        status: u16,
        errors: ErrorStyle,
    },
    #[error("{}{}", .0, remedy(.0))]
    Pixels(andon_pixels::Error),
    #[error("the file is being changed right now; try again")]
    Changing,
    #[error("the file could not be read: {}", .0.kind())]
    Io(#[from] io::Error),
    #[error(transparent)]
    Origin(#[from] OriginError),
    #[error("the server has no memory or no thread left for this request; try again in a moment")]
    NoRoom,
    #[error("{0}")]
    Refused(Rejection),
    #[error("{0}")]
    Stuck(Stuck),
    #[error("the image's header was not read within {:?}; try again later", .0)]
    SlowHeader(Duration),
    #[error("the answer was not ready after {:?}; try again later", .0)]
    Late(Duration),
    #[error("the format takes too long to write right now; try again")]
    Postponed,
    #[error("the server is {0}")]
    NotReady(&'static str),
    #[error("internal error; see the server's log")]
    Panicked,
    #[error("method {0} not allowed (allowed: GET, HEAD)")]
    Method(Method),
    #[error(transparent)]
    Shared(#[from] SharedError),
    #[error(
        "this needs the administrator's token, as `Authorization: Bearer TOKEN`; none was sent, or another"
    )]
    Unauthorized,
    #[error(
        "purging is disabled; set `[admin] token_env` (or `token`) in the server's configuration"
    )]
    NoPurges,
    #[error("{0}")]
    PurgeRequest(String),
    #[error("`Andon-Priority: {0}` is not known; the one priority is `idle`")]
    Priority(String),
    #[error(
        "priorities are for the administrator; set `[admin] token_env` (or `token`) in the server's configuration"
    )]
    NoPriority,
    #[error(
        "the server is busy with requests that go before those of `Andon-Priority: idle`; retry in {0} s"
    )]
    NotIdle(u32),
    #[error("an HTTP/1.1 request names one Host, no more and no less")]
    Host,
    #[error("the request target has {length} bytes, more than the {limit} that are read")]
    TargetTooLong { length: usize, limit: usize },
    #[error("{0}")]
    Upload(String),
    #[error("{0}")]
    Play(String),
    #[error("{0} browsers watch already, which is as many as may")]
    Watched(usize),
    #[error("pages of other sites may not ask for this")]
    OtherSite,
    #[error("this page is for this machine, and its Host the name of another one")]
    OtherHost,
    #[error(
        "uploads are disabled for this client; `[upload] allow = \"local\"` admits the administrator's token, and clients of a \
         Unix socket that is not in `proxy.trusted`"
    )]
    NoUploads,
    #[error("method {0} not allowed (allowed: POST)")]
    PostOnly(Method),
    #[error(
        "the image is over the limit of {limit} bytes; `limits.source_bytes` in the server's configuration sets it"
    )]
    BodyTooLarge { limit: u64 },
    #[error("{}", .0.sentence())]
    ConnectionLimit(ConnectionLimit),
    #[error("the image was not here after {:?}", .0)]
    BodyLate(Duration),
    #[error("the image broke off before its end")]
    BodyCut,
}

/// Why an existing file is not served. Clients get the same response as for a file that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Withheld {
    /// A component of the file's path begins with a dot.
    #[error("a name in its path begins with a dot")]
    Hidden,
    /// The file is not an image.
    #[error("it is not an image; `fs.files = \"all\"` of its origin serves every file as it is")]
    NoImage,
    /// A symbolic link is absolute or leads out of its origin's folder.
    #[error(
        "a symbolic link leads out of its origin's folder, or is absolute; \
         `fs.outside_links = true` allows that"
    )]
    OutsideLink,
}

impl Withheld {
    fn label(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::NoImage => "no_image",
            Self::OutsideLink => "outside_link",
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Target(refusal)
    }
}

/// Wraps the error. `source()` does not return it, since `Display` contains its text already.
impl From<andon_pixels::Error> for Error {
    fn from(error: andon_pixels::Error) -> Self {
        Self::Pixels(error)
    }
}

/// An error that several requests are answered with.
pub type SharedError = Arc<Error>;

impl Error {
    /// Returns the underlying error, without the wrappers `Shared`, `At` and `Unkept`.
    pub(crate) fn root(&self) -> &Self {
        match self {
            Self::Shared(shared) => shared.root(),
            Self::At { error, .. } | Self::Unkept(error) => error.root(),
            own => own,
        }
    }

    /// Wraps the error so that several requests can be answered with it.
    pub(crate) fn shared(self) -> SharedError {
        match self {
            Self::Shared(shared) => shared,
            error => Arc::new(error),
        }
    }

    /// Adds the place where the error happened, which is only for the log. An error that has a place already, or is shared,
    /// does not change.
    pub(crate) fn at(self, place: impl FnOnce() -> String) -> Self {
        match self {
            Self::At { .. } | Self::Shared(_) => self,
            error => Self::At {
                error: Box::new(error),
                place: place(),
            },
        }
    }

    /// Adds which overlay image the error is about.
    pub(crate) fn of_overlay(self, name: &str) -> Self {
        Self::Overlay {
            name: name.to_owned(),
            error: Box::new(self),
        }
    }

    /// Returns the status, who is at fault and the log label. This one table covers all errors.
    fn facts(&self) -> (u16, Fault, &'static str) {
        match self {
            Self::Target(refusal) => {
                let (status, label) = refusal_facts(refusal.fault);
                (status.as_u16(), Fault::Client, label)
            }
            Self::Missing { .. } => (404, Fault::Client, "not_found"),
            Self::Forbidden { .. } => (403, Fault::Origin, "forbidden"),
            Self::Withheld { why, .. } => (404, Fault::Client, why.label()),
            Self::At { error, .. } | Self::Overlay { error, .. } | Self::Unkept(error) => {
                error.facts()
            }
            Self::Moved { status, .. } => (*status, Fault::Client, "moved"),
            Self::Pixels(error) => (error.status(), pixels_fault(error), error.kind()),
            Self::Changing => (503, Fault::Origin, "changing"),
            Self::Io(_) => (502, Fault::Origin, "io"),
            Self::Origin(trouble) => (trouble.status().as_u16(), Fault::Origin, trouble.label()),
            Self::NoRoom => (503, Fault::Server, "no_room"),
            Self::Refused(rejection) => (503, Fault::Server, rejection.cause.label()),
            Self::Stuck(_) => (503, Fault::Server, "stuck"),
            Self::SlowHeader(_) => (503, Fault::Origin, "slow_header"),
            Self::Late(_) => (503, Fault::Server, "timeout"),
            Self::Postponed => (503, Fault::Server, "postponed"),
            Self::NotReady(_) => (503, Fault::Server, "not_ready"),
            Self::Panicked => (500, Fault::Server, "panic"),
            Self::Method(_) => (405, Fault::Client, "method"),
            Self::Shared(shared) => shared.facts(),
            Self::Unauthorized => (401, Fault::Client, "unauthorized"),
            Self::NoPurges => (403, Fault::Client, "purge_forbidden"),
            Self::PurgeRequest(_) => (400, Fault::Client, "purge_request"),
            Self::Priority(_) => (400, Fault::Client, "priority"),
            Self::NoPriority => (403, Fault::Client, "priority_forbidden"),
            // Not 503: a load balancer would retry on another node, and the result would end up in that node's cache.
            Self::NotIdle(_) => (429, Fault::Client, "not_idle"),
            Self::Host => (400, Fault::Client, "host"),
            Self::TargetTooLong { .. } => (414, Fault::Client, "target"),
            Self::Upload(_) => (400, Fault::Client, "upload"),
            Self::Play(_) => (400, Fault::Client, "play"),
            Self::Watched(_) => (503, Fault::Client, "watched"),
            Self::OtherSite => (403, Fault::Client, "other_site"),
            Self::OtherHost => (403, Fault::Client, "other_host"),
            Self::NoUploads => (403, Fault::Client, "upload_forbidden"),
            Self::PostOnly(_) => (405, Fault::Client, "method"),
            Self::ConnectionLimit(ConnectionLimit::Server) => (503, Fault::Server, "connections"),
            Self::ConnectionLimit(ConnectionLimit::Client) => {
                (503, Fault::Client, "client_connections")
            }
            Self::BodyTooLarge { .. } => (413, Fault::Client, "body_too_large"),
            Self::BodyLate(_) => (408, Fault::Client, "body_late"),
            Self::BodyCut => (400, Fault::Client, "body_cut"),
        }
    }

    /// The status of the reply.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.facts().0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns who is at fault.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.facts().1
    }

    /// Returns the error's label in logs and metrics, a single word.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.facts().2
    }

    /// Classifies the error in the terms in which URL dialects report errors.
    #[must_use]
    pub fn kind(&self) -> Kind {
        use andon_pixels::Error as P;
        match self.root() {
            Self::Target(refusal) => refusal.fault,
            Self::Overlay { error, .. } => error.kind(),
            Self::Missing { .. } | Self::Withheld { .. } => Kind::Missing,
            Self::Forbidden { .. } => Kind::Source,
            Self::Pixels(P::Recipe { .. } | P::NotPermitted { .. }) => Kind::Url,
            Self::Pixels(P::UnknownFormat) => Kind::NotImage,
            Self::Pixels(P::Broken { .. }) => Kind::Damaged,
            Self::Pixels(P::Unsupported { .. } | P::Unfit { .. }) => Kind::Unsupported,
            Self::Pixels(P::Limit { .. }) => Kind::Limit,
            Self::Method(_) => Kind::Method,
            Self::TargetTooLong { .. } | Self::Host => Kind::Url,
            Self::NoRoom
            | Self::NotReady(_)
            | Self::Refused(_)
            | Self::Stuck(_)
            | Self::ConnectionLimit(_) => Kind::Busy,
            Self::Late(_) | Self::SlowHeader(_) => Kind::Late,
            Self::Io(_) => Kind::Origin,
            Self::Origin(trouble) => match trouble.status() {
                StatusCode::NOT_FOUND => Kind::Missing,
                StatusCode::GATEWAY_TIMEOUT => Kind::Late,
                _ => Kind::Origin,
            },
            _ => Kind::Internal,
        }
    }

    /// Returns the code that the URL's dialect has for the error; empty if there is none.
    #[must_use]
    pub(crate) fn code(&self) -> &'static str {
        match self.root() {
            Self::Target(refusal) => refusal.code,
            _ => "",
        }
    }

    /// Returns the status (4xx) with which the origin rejected our request for the source, if it did.
    #[must_use]
    pub fn answered(&self) -> Option<u16> {
        match self.root() {
            Self::Forbidden { .. } => Some(403),
            Self::Origin(OriginError::Status(status)) => {
                Some(*status).filter(|status| (400..500).contains(status))
            }
            _ => None,
        }
    }

    /// Returns the sentence for clients. Internal details stay in the log.
    #[must_use]
    pub fn public(&self) -> String {
        match self.root() {
            Self::Pixels(andon_pixels::Error::Internal(_)) => Self::Panicked.to_string(),
            Self::Withheld { path, .. } => Self::Missing { path: path.clone() }.to_string(),
            Self::Overlay { name, error } => format!("overlay image {name}: {}", error.public()),
            other => other.to_string(),
        }
    }

    /// Returns the number of seconds after which a retry makes sense, if it does.
    #[must_use]
    pub fn retry_after(&self) -> Option<u32> {
        match self.root() {
            Self::Refused(rejection) => Some(rejection.retry_after),
            Self::NotIdle(seconds) => Some(*seconds),
            Self::Origin(
                OriginError::Spared { seconds, .. } | OriginError::Paced { seconds, .. },
            ) => Some(*seconds),
            Self::Overlay { error, .. } => error.retry_after(),
            _ => (self.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(1),
        }
    }

    /// Whether the work was cancelled because nobody waits for its result any more, or because it missed its deadline.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self.root(), Self::Pixels(andon_pixels::Error::Interrupted))
    }

    /// Whether the error may be cached and sent to later requests for the same image.
    pub(crate) fn may_be_kept(&self) -> bool {
        match self {
            Self::Unkept(_) => false,
            Self::Shared(shared) => shared.may_be_kept(),
            Self::At { error, .. } | Self::Overlay { error, .. } => error.may_be_kept(),
            _ => true,
        }
    }

    /// Returns for how many seconds the origin asks not to be contacted (its `Retry-After`), if it does.
    pub(crate) fn origin_pause(&self) -> Option<u32> {
        match self.root() {
            Self::Origin(OriginError::Spared { seconds, .. }) => Some(*seconds),
            _ => None,
        }
    }
}

/// Returns who is at fault if an image cannot be made.
fn pixels_fault(error: &andon_pixels::Error) -> Fault {
    use andon_pixels::Error as P;
    match error {
        P::Recipe { .. } | P::NotPermitted { .. } => Fault::Client,
        // The URL determines the size of the result and the work for it.
        P::Limit { bound, .. } if matches!(bound.on, BoundOn::Result | BoundOn::Work) => {
            Fault::Client
        }
        P::Interrupted | P::Crashed { .. } | P::Internal(_) => Fault::Server,
        P::UnknownFormat
        | P::Broken { .. }
        | P::Unfit { .. }
        | P::Unsupported { .. }
        | P::NotRead { .. }
        | P::Suspect { .. }
        | P::Limit { .. } => Fault::Origin,
    }
}

/// Returns the status and the label for a refused request target.
fn refusal_facts(fault: Kind) -> (StatusCode, &'static str) {
    match fault {
        Kind::Signature => (StatusCode::FORBIDDEN, "signature"),
        Kind::Expired => (StatusCode::GONE, "expired"),
        Kind::Source => (StatusCode::FORBIDDEN, "forbidden"),
        Kind::Missing => (StatusCode::NOT_FOUND, "not_found"),
        Kind::Unsupported => (StatusCode::NOT_IMPLEMENTED, "not_implemented"),
        Kind::Limit => (StatusCode::UNPROCESSABLE_ENTITY, "limit"),
        _ => (StatusCode::BAD_REQUEST, "bad_request"),
    }
}

/// Returns the end of a sentence that names the configuration key of the exceeded limit, or nothing if no key sets it.
fn remedy(error: &andon_pixels::Error) -> String {
    let andon_pixels::Error::Limit { bound, .. } = error else {
        return String::new();
    };
    let sets = |key| format!("; `{key}` in the server's configuration sets it");
    bound.key().map_or_else(String::new, sets)
}

impl Fault {
    /// Returns a label for logs, a single word.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Origin => "origin",
            Self::Server => "server",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_insides_of_an_internal_error_stay_inside() {
        let error = Error::Pixels(andon_pixels::Error::Internal("plane 3 of 2".to_owned()));
        assert_eq!(error.status(), 500);
        assert!(!error.public().contains("plane"));
    }

    #[test]
    fn every_503_says_when_to_come_back() {
        for error in [
            Error::NoRoom,
            Error::Late(Duration::from_secs(1)),
            Error::Changing,
        ] {
            assert_eq!(error.status(), 503);
            assert!(error.retry_after().is_some());
        }
        assert!(Error::Panicked.retry_after().is_none());
    }

    #[test]
    fn a_limit_is_named_with_its_value() {
        let error = Error::Pixels(andon_pixels::Error::Limit {
            bound: andon_pixels::Bound::PIXELS,
            value: 10,
            limit: 5,
        });
        assert_eq!(error.status(), 422);
        assert_eq!(
            error.public(),
            "pixels 10 is over the limit of 5 pixels; `limits.pixels` in the server's configuration sets it"
        );
    }

    #[test]
    fn no_setting_is_named_for_what_a_format_cannot_hold() {
        let error = Error::Pixels(andon_pixels::Error::Limit {
            bound: andon_pixels::Bound::of_format("webp", "side", "px"),
            value: 20_000,
            limit: 16_383,
        });
        assert_eq!(error.status(), 422);
        assert_eq!(
            error.public(),
            "webp_side 20000 is over the limit of 16383 px"
        );
    }
}
