//! What asks a server that already runs, and looks at its replies: for `andon warm`, `shadow` and `purge`, and for the laboratory.
//!
//! - [`from_url`] finds the [`Endpoint`] that a user names: where a server listens, [`Connection`] one connection to it, [`Fetcher`] asks for one whole reply after
//!   the other.
//! - [`Past`] reads access logs, [`urls`] lists of URLs.
//! - [`Picture`] is a decoded reply; [`ssim`] says how alike two are.

#![forbid(unsafe_code)]

mod connection;
mod endpoint;
mod fetch;
mod html;
mod numbers;
mod past;
mod picture;
mod random;
mod similarity;
mod target;
mod units;
pub mod urls;

use std::io;

pub use connection::{Connection, HttpVersion};
pub use endpoint::{Endpoint, reason};
pub use fetch::{Fetched, Fetcher};
pub use html::escape;
pub use numbers::{median, quantile};
pub use past::{Past, Request};
pub use picture::Picture;
pub use random::Random;
pub use similarity::ssim;
pub use target::{TargetError, from_url, headers};
pub use units::{Seconds, Share};

/// Why a server cannot be asked at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A target, method or header that cannot be sent.
    #[error("`{what}` cannot be sent: {why}")]
    InvalidRequest {
        /// The offending text.
        what: String,
        /// The reason for which it cannot be sent.
        why: String,
    },
    /// Nobody answers there at all.
    #[error("cannot connect to {0}")]
    Unreachable(io::Error),
    /// The client's own threads or files.
    #[error("the client could not start: {0}")]
    Client(io::Error),
}

/// By hand: as thiserror's `from` it would be the source as well as in the sentence, and be printed twice.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Client(error)
    }
}
