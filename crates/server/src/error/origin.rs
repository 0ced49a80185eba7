//! What can go wrong between us and an origin that is asked over a network.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::StatusCode;

/// One trouble. `Display` is the public sentence: whose fault it is and no more; neither the origin's
/// name nor its address is anybody else's business.
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
    #[error("no secure connection to the origin could be made")]
    Insecure,
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
    #[error("the origin sent us on {0}")]
    Redirect(RedirectError),
}

/// What did not happen in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The connection.
    Connection,
    /// The head of the reply.
    Head,
    /// The next piece of the body.
    Piece,
    /// The whole reply.
    Whole,
}

/// A redirect that is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectError {
    /// One too many.
    TooMany {
        /// How many are followed.
        limit: u32,
    },
    /// Without a place, or to one that is no URL.
    Nowhere,
    /// To a scheme other than HTTP's two.
    Scheme,
    /// From https to http.
    Downgrade,
    /// To a URL that is none of `http.urls`.
    Unlisted,
}

impl OriginError {
    /// 504 for what took too long, 502 for the rest.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Slow { .. } => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::BAD_GATEWAY,
        }
    }

    /// One word for logs and metrics.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::UnknownName => "origin_name",
            Self::Denied(_) => "origin_denied",
            Self::Unreachable(..) => "origin_unreachable",
            Self::Insecure => "origin_tls",
            Self::Slow { .. } => "origin_slow",
            Self::BrokenOff | Self::Unbounded => "origin_cut",
            Self::Garbled | Self::Packed(_) => "origin_garbled",
            Self::Status(_) | Self::Spared { .. } => "origin_status",
            Self::Redirect(_) => "origin_redirect",
        }
    }

    /// May the same request succeed on another connection, right now? Only asked before any part of
    /// the reply is used.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(..) | Self::BrokenOff)
    }

    /// The address it happened at, for the log alone.
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
            Self::Unlisted => f.write_str("to a URL that is none of `http.urls`"),
        }
    }
}
