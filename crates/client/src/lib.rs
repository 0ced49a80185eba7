//! Sends requests to a server that is already running, and examines its responses: for `andon warm`, `shadow` and
//! `purge`, and for the laboratory.
//!
//! - [`from_url`] parses a server's URL into an [`Endpoint`], the address on which the server listens. A
//!   [`Connection`] is one connection to it, and a [`Fetcher`] requests complete responses one after the other.
//! - [`Past`] reads access logs, [`urls`] reads lists of URLs.
//! - [`DecodedImage`] is the decoded body of a response. [`ssim`] measures how similar two of them are.

#![forbid(unsafe_code)]

mod connection;
mod endpoint;
mod fetch;
mod html;
mod image;
mod numbers;
mod past;
mod random;
mod similarity;
mod target;
mod tls;
mod units;
pub mod urls;

use std::io;

pub use connection::{Connection, HttpVersion};
pub use endpoint::{Endpoint, reason};
pub use fetch::{Fetched, Fetcher};
pub use html::escape;
pub use image::DecodedImage;
pub use numbers::{median, quantile};
pub use past::{Past, Request};
pub use random::Random;
pub use similarity::ssim;
pub use target::{TargetError, from_secure_url, from_url, headers};
pub use tls::Tls;
pub use units::{Seconds, Share};

/// The reasons for which no request can be sent to a server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A target, method or header cannot be sent.
    #[error("`{what}` cannot be sent: {why}")]
    InvalidRequest {
        /// The target, method or header that cannot be sent.
        what: String,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// The server cannot be reached.
    #[error("cannot connect to {0}")]
    Unreachable(io::Error),
    /// The server's certificate is not accepted, for example because it is for another host.
    #[error("cannot connect to {0}")]
    Certificate(String),
    /// The client could not start, for lack of threads or file descriptors.
    #[error("the client could not start: {0}")]
    Client(io::Error),
}

/// Written by hand, because thiserror's `#[from]` also makes the `io::Error` the `source` of this error. Its message
/// would then be printed twice, because this error's message contains it.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Client(error)
    }
}
