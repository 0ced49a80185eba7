//! Parses a server's URL, and headers, as users write them on a command line.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use crate::Endpoint;

/// Why a URL or a header on a command line cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The URL's scheme is neither `http` nor `unix`.
    #[error("`{0}`: write http://HOST:PORT/PATH or unix:/path")]
    Scheme(String),
    /// The host's name cannot be resolved.
    #[error("`{0}` cannot be found")]
    UnknownHost(String, #[source] io::Error),
    /// The host resolves to no address.
    #[error("`{0}` has no address")]
    NoAddress(String),
    /// The header has no colon.
    #[error("`{0}` is not a header: write `name: value`")]
    Header(String),
}

/// Parses the URL of a server (`http://HOST:PORT/PATH` or `unix:/path`), and returns its endpoint and the path in the
/// URL, which is `/` if the URL has none.
///
/// # Errors
/// If the URL has another scheme, or its host cannot be resolved.
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

/// Parses the URL of a server with TLS (`https://HOST:PORT/PATH`), and returns the server's address and the path in the
/// URL, which is `/` if the URL has none. Returns `None` if the URL has another scheme.
///
/// # Errors
/// If the host cannot be resolved.
pub fn from_secure_url(url: &str) -> Result<Option<(SocketAddr, String)>, TargetError> {
    let rest = url.strip_prefix("https://");
    rest.map(|rest| at(rest, 443)).transpose()
}

/// Resolves a URL without its scheme into an address and a path. `usual_port` applies if the URL has no port.
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
pub fn headers(texts: &[String]) -> Result<Vec<(String, String)>, TargetError> {
    let pairs = texts.iter().map(|header| {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| TargetError::Header(header.clone()))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    pairs.collect()
}
