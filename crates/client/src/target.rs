//! What users of a command-line program write: the server's URL, and headers.

use std::io;
use std::net::ToSocketAddrs;

use crate::Endpoint;

/// Why a URL or a header on a command line cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Neither HTTP nor a Unix socket.
    #[error("`{0}`: write http://HOST:PORT/PATH or unix:/path (TLS is not spoken here)")]
    Scheme(String),
    /// The host's name has no address that is known here.
    #[error("`{0}` cannot be found")]
    UnknownHost(String, #[source] io::Error),
    /// The name is known, without an address.
    #[error("`{0}` has no address")]
    NoAddress(String),
    /// A header without a colon.
    #[error("`{0}` is not a header: write `name: value`")]
    Header(String),
}

/// The server that a URL names (`http://HOST:PORT/PATH` or `unix:/path`), and the path that is asked of it, `/` where none is given.
///
/// # Errors
/// Another scheme, or a host that is not known.
pub fn from_url(url: &str) -> Result<(Endpoint, String), TargetError> {
    if let Some(path) = url.strip_prefix("unix:") {
        return Ok((Endpoint::Unix(path.into()), "/".to_owned()));
    }
    let Some(rest) = url.strip_prefix("http://") else {
        return Err(TargetError::Scheme(url.to_owned()));
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let with_port = if host.rsplit(']').next().is_some_and(|end| end.contains(':')) {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let mut addresses = with_port
        .to_socket_addrs()
        .map_err(|error| TargetError::UnknownHost(host.to_owned(), error))?;
    let address = addresses
        .next()
        .ok_or_else(|| TargetError::NoAddress(host.to_owned()))?;
    let path = if path.is_empty() { "/" } else { path };
    Ok((Endpoint::Tcp(address), path.to_owned()))
}

/// Headers, each written `name: value`, as pairs without the space around them.
///
/// # Errors
/// A header without a colon.
pub fn headers(written: &[String]) -> Result<Vec<(String, String)>, TargetError> {
    let pairs = written.iter().map(|header| {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| TargetError::Header(header.clone()))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    pairs.collect()
}
