//! Addresses that servers listen on, and simple requests to them.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// An address that a server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A TCP address.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Endpoint {
    /// Sends a minimal `GET` request for `path`, and returns the status. With an empty path, only connects and returns
    /// 0. `patience` limits connecting (TCP only) and each read and write.
    ///
    /// # Errors
    /// If the server cannot be reached, or its response is not HTTP.
    pub fn ask(&self, path: &str, patience: Duration) -> io::Result<u16> {
        let mut stream = self.connect(patience)?;
        if path.is_empty() {
            return Ok(0);
        }
        request(&mut stream, path)?;
        // Only "HTTP/1.1 200" is read, because the body may be long.
        let mut line = [0; 12];
        stream.read_exact(&mut line)?;
        let status = (line.starts_with(b"HTTP/1."))
            .then(|| std::str::from_utf8(&line[9..]).ok()?.parse().ok())
            .flatten();
        status.ok_or_else(|| io::Error::other("no HTTP reply"))
    }

    /// Opens a connection and closes it at once, to check whether a server listens on this address.
    ///
    /// # Errors
    /// The kernel's error, prefixed by the address: `127.0.0.1:9: connection refused`.
    pub fn accepts(&self, patience: Duration) -> io::Result<()> {
        self.connect(patience)
            .map(drop)
            .map_err(|error| io::Error::new(error.kind(), format!("{self}: {}", reason(&error))))
    }

    /// Returns the body of a small response, such as that of `/metrics`.
    ///
    /// # Errors
    /// If the server cannot be reached, or responds with a status other than 200.
    pub fn fetch(&self, path: &str, patience: Duration) -> io::Result<String> {
        let mut stream = self.connect(patience)?;
        request(&mut stream, path)?;
        let mut reply = Vec::new();
        stream.take(MOST_FETCHED).read_to_end(&mut reply)?;
        let reply = String::from_utf8_lossy(&reply);
        let (head, body) = reply
            .split_once("\r\n\r\n")
            .ok_or_else(|| io::Error::other("no HTTP reply"))?;
        match head.split_ascii_whitespace().nth(1) {
            Some("200") => Ok(body.to_owned()),
            other => Err(io::Error::other(format!("status {}", other.unwrap_or("?")))),
        }
    }

    fn connect(&self, patience: Duration) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect_timeout(&reachable(*address), patience)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Box::new(stream)
            }
            Self::Unix(socket) => {
                let stream = UnixStream::connect(socket)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Box::new(stream)
            }
        })
    }
}

/// Returns the text of a kernel error without its number, such as `connection refused`.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// A TCP or Unix connection.
trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Returns the address at which a server that listens on `address` can be reached: the loopback address if it listens
/// on all addresses.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, address.port()).into(),
        IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, address.port()).into(),
        _ => address,
    }
}

/// Writes a `GET` request with HTTP/1.0, so that the response is not chunked and ends when the connection is closed.
fn request(stream: &mut impl Write, path: &str) -> io::Result<()> {
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
}

/// Maximum number of response bytes that are read. Responses of `/metrics` are far smaller.
const MOST_FETCHED: u64 = 16 << 20;
