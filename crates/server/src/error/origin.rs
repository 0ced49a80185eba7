//! Errors of origins that are reached over a network.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::StatusCode;

/// A failed request to an origin. `Display` is the public sentence: it reveals neither the origin's name nor its
/// address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each sentence says it")]
pub enum OriginError {
    #[error("the origin's name could not be resolved")]
    UnknownName,
    #[error(
        "the origin is at an address that may not be asked, unless its `allow` lists it \
         (and `http.redirect_ports` the port of a redirect)"
    )]
    Denied(SocketAddr),
    #[error("the origin could not be reached: {0}")]
    Unreachable(io::ErrorKind, SocketAddr),
    /// No TLS connection could be made. The reason is only for the log.
    #[error("no secure connection to the origin could be made")]
    Insecure(String),
    #[error("the origin {late} within {after:?}")]
    Slow { late: Late, after: Duration },
    #[error("the origin's reply broke off")]
    BrokenOff,
    #[error("the origin's reply does not say where it ends, so a broken one would look the same")]
    Unbounded,
    #[error("the origin's reply is not HTTP as it should be")]
    Garbled,
    #[error(
        "the origin's reply is packed as {0:?}, which was not asked for and is not unpacked here (gzip is)"
    )]
    Packed(String),
    #[error("the origin answered {0}")]
    Status(u16),
    #[error("the origin answered {status} and asks to be spared for {seconds} s")]
    Spared { status: u16, seconds: u32 },
    #[error(
        "the origin is asked at most {per_second} times per second (`fetches_per_second`), and the next turn is in {seconds} s"
    )]
    Paced { per_second: u32, seconds: u32 },
    /// The platform issued no valid credentials. The reason is only for the log.
    #[error("the server has no valid credentials for the origin")]
    Credentials(String),
    #[error("the origin sent us on {0}")]
    Redirect(RedirectError),
}

/// The part of a fetch from an origin that timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The connection was not established in time.
    Connection,
    /// The head of the reply did not arrive in time.
    Head,
    /// The next piece of the body did not arrive in time.
    Piece,
    /// The whole reply did not arrive in time.
    Whole,
}

/// Why a redirect is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectError {
    /// There were more redirects than are followed.
    TooMany {
        /// Maximum number of redirects that are followed.
        limit: u32,
    },
    /// The redirect has no `Location`, or one that is not a URL.
    Nowhere,
    /// The scheme of the target is neither http nor https.
    Scheme,
    /// The redirect leads from https to http.
    Downgrade,
    /// The target is not one of the URLs in `http.urls`. The target, without its query, is only for the log.
    Unlisted(String),
}

impl OriginError {
    /// Returns the status of the reply: 504 for timeouts, 503 if the server itself limits requests to the origin, and 502
    /// for all other errors.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Slow { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::Paced { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_GATEWAY,
        }
    }

    /// Returns the error's label in logs and metrics, a single word.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::UnknownName => "origin_name",
            Self::Denied(_) => "origin_denied",
            Self::Unreachable(..) => "origin_unreachable",
            Self::Insecure(_) => "origin_tls",
            Self::Slow { .. } => "origin_slow",
            Self::BrokenOff | Self::Unbounded => "origin_cut",
            Self::Garbled | Self::Packed(_) => "origin_garbled",
            Self::Status(_) | Self::Spared { .. } => "origin_status",
            Self::Paced { .. } => "origin_paced",
            Self::Credentials(_) => "origin_credentials",
            Self::Redirect(_) => "origin_redirect",
        }
    }

    /// Whether the same request may succeed right now on another connection. Only meaningful before any part of the
    /// reply was used.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(..) | Self::BrokenOff)
    }

    /// Returns the origin's address where the error happened, for the log only.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Denied(address) | Self::Unreachable(_, address) => Some(*address),
            _ => None,
        }
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connection => "took no connection",
            Self::Head => "did not begin to answer",
            Self::Piece => "stopped in the middle of its answer and did not go on",
            Self::Whole => "did not finish its answer",
        })
    }
}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { limit } => write!(f, "more than {limit} times"),
            Self::Nowhere => f.write_str("without saying where to"),
            Self::Scheme => f.write_str("to what is neither http nor https"),
            Self::Downgrade => f.write_str("from https to http"),
            Self::Unlisted(_) => f.write_str("to a URL that is none of `http.urls`"),
        }
    }
}
