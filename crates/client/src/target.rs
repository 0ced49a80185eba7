//! Parses what users of a command-line program write: a server's URL, and headers.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use crate::Endpoint;

/// Why a URL or a header on a command line cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The URL is neither HTTP nor a Unix socket.
    #[error("`{0}`: write http://HOST:PORT/PATH or unix:/path")]
    Scheme(String),
    /// The host's name cannot be resolved.
    #[error("`{0}` cannot be found")]
    UnknownHost(String, #[source] io::Error),
    /// The host's name is known, but has no address.
    #[error("`{0}` has no address")]
    NoAddress(String),
    /// The header has no colon.
    #[error("`{0}` is not a header: write `name: value`")]
    Header(String),
}

/// Returns the server that a URL names (`http://HOST:PORT/PATH` or `unix:/path`), and the path in the URL, which is `/`
/// if the URL has none.
///
/// # Errors
/// If the URL has another scheme, or its host is unknown.
pub fn from_url(url: &str) -> Result<(Endpoint, String), TargetError> {
    if let Some(path) = url.strip_prefix("unix:") {
        return Ok((Endpoint::Unix(path.into()), "/".to_owned()));
    }
    let Some(rest) = url.strip_prefix("http://") else {
        return Err(TargetError::Scheme(url.to_owned()));
    };
    let (address, path) = at(rest, 80)?;
    Ok((Endpoint::Tcp(address), path))
}

/// Returns the address of the server that a URL with TLS names (`https://HOST:PORT/PATH`), and the path in the URL, which
/// is `/` if the URL has none. `None` if the URL has another scheme.
///
/// # Errors
/// If the host is unknown.
pub fn from_secure_url(url: &str) -> Result<Option<(SocketAddr, String)>, TargetError> {
    let rest = url.strip_prefix("https://");
    rest.map(|rest| at(rest, 443)).transpose()
}

/// Returns the address and the path of a URL without its scheme.
fn at(rest: &str, usual_port: u16) -> Result<(SocketAddr, String), TargetError> {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let with_port = if host.rsplit(']').next().is_some_and(|end| end.contains(':')) {
        host.to_owned()
    } else {
        format!("{host}:{usual_port}")
    };
    let mut addresses = with_port
        .to_socket_addrs()
        .map_err(|error| TargetError::UnknownHost(host.to_owned(), error))?;
    let address = addresses
        .next()
        .ok_or_else(|| TargetError::NoAddress(host.to_owned()))?;
    let path = if path.is_empty() { "/" } else { path };
    Ok((address, path.to_owned()))
}

/// Splits headers, each written as `name: value`, into names and values without surrounding spaces.
///
/// # Errors
/// If a header has no colon.
pub fn headers(written: &[String]) -> Result<Vec<(String, String)>, TargetError> {
    let pairs = written.iter().map(|header| {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| TargetError::Header(header.clone()))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    pairs.collect()
}
