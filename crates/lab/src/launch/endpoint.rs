//! Where a server listens, and whose the listening socket is.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::proc::{self, Pid};

/// An address that a server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// A listening socket on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) inode: u64,
    /// Of whoever opened it; not known for Unix sockets.
    pub(super) uid: Option<u32>,
}

impl Endpoint {
    /// A port of the loopback interface that nobody listens on now. Somebody else may take it before the server
    /// does: whose it is, is looked at once the server is ready.
    pub(super) fn free_port() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok(Self::Tcp(listener.local_addr()?))
    }

    /// Those who listen here now.
    pub(super) fn listeners(&self) -> Vec<Listener> {
        match self {
            Self::Tcp(address) => ["/proc/net/tcp", "/proc/net/tcp6"]
                .iter()
                .flat_map(|table| tcp_listeners(&read(table), *address))
                .collect(),
            Self::Unix(path) => unix_listeners(&read("/proc/net/unix"), path),
        }
    }

    /// Asks for a path as plainly as can be, and gives the status; with an empty path: 0 once it accepts.
    pub(super) fn ask(&self, path: &str, patience: Duration) -> io::Result<u16> {
        let mut stream = self.connect(patience)?;
        if path.is_empty() {
            return Ok(0);
        }
        request(&mut stream, path)?;
        // "HTTP/1.1 200" and no more: the body may be long.
        let mut line = [0; 12];
        stream.read_exact(&mut line)?;
        let status = (line.starts_with(b"HTTP/1."))
            .then(|| std::str::from_utf8(&line[9..]).ok()?.parse().ok())
            .flatten();
        status.ok_or_else(|| io::Error::other("no HTTP reply"))
    }

    /// Connects once and closes again: an error says why nobody can be asked there.
    ///
    /// # Errors
    /// What the kernel says, with the address: `127.0.0.1:9: connection refused`.
    pub fn accepts(&self, patience: Duration) -> io::Result<()> {
        self.connect(patience)
            .map(drop)
            .map_err(|error| io::Error::new(error.kind(), format!("{self}: {}", reason(&error))))
    }

    /// The body of a small reply, e.g. `/metrics`.
    pub(crate) fn fetch(&self, path: &str, patience: Duration) -> io::Result<String> {
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

/// An error of the kernel without its number: `connection refused`.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// Either kind of connection.
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

/// Does a process hold this socket open? `None`: it may not be asked, or has ended.
pub(super) fn holds(pid: Pid, inode: u64) -> Option<bool> {
    let name = format!("socket:[{inode}]");
    let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut links = files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    Some(links.any(|link| link.as_os_str() == name.as_str()))
}

/// Who a listener belongs to, in words: `pid 123 (nginx: master process)`.
pub(super) fn owner(listener: Listener) -> String {
    let holder = proc::all().find(|pid| holds(*pid, listener.inode) == Some(true));
    match (holder, listener.uid) {
        (Some(pid), _) => format!("pid {pid} ({})", proc::command(pid)),
        (None, Some(uid)) => format!("a process of user {uid} that cannot be looked into"),
        (None, None) => "a process that cannot be looked into".into(),
    }
}

/// A server that listens on every address is reached by the loopback interface.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, address.port()).into(),
        IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, address.port()).into(),
        _ => address,
    }
}

/// HTTP/1.0: the reply has no chunks to be put together, and ends with the connection.
fn request(stream: &mut impl Write, path: &str) -> io::Result<()> {
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
}

fn read(table: &str) -> String {
    fs::read_to_string(table).unwrap_or_default()
}

fn tcp_listeners(table: &str, address: SocketAddr) -> Vec<Listener> {
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let local = socket_address(fields.get(1)?)?;
        let same = local.ip().is_unspecified() || local.ip().to_canonical() == address.ip();
        let here = local.port() == address.port() && (same || address.ip().is_unspecified());
        (here && *fields.get(3)? == LISTENING).then_some(())?;
        Some(Listener {
            inode: fields.get(9)?.parse().ok()?,
            uid: fields.get(7)?.parse().ok(),
        })
    });
    rows.collect()
}

/// `0100007F:1F90`: each 32-bit word as this machine would print it as a number.
fn socket_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::with_capacity(16);
    for at in (0..address.len()).step_by(8) {
        let word = u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?;
        bytes.extend(word.to_ne_bytes());
    }
    let ip: IpAddr = match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok()?.into(),
        _ => <[u8; 16]>::try_from(bytes).ok()?.into(),
    };
    Some((ip, port).into())
}

fn unix_listeners(table: &str, path: &Path) -> Vec<Listener> {
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let flags = u32::from_str_radix(fields.get(3)?, 16).ok()?;
        let here = flags & ACCEPTS != 0 && Path::new(fields.get(7)?) == path;
        here.then_some(Listener {
            inode: fields.get(6)?.parse().ok()?,
            uid: None,
        })
    });
    rows.collect()
}

/// TCP_LISTEN as /proc prints it.
const LISTENING: &str = "0A";

/// __SO_ACCEPTCON among a Unix socket's flags.
const ACCEPTS: u32 = 0x10000;

/// Metrics are far smaller.
const MOST_FETCHED: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_of_ours_is_found_and_named() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let endpoint = Endpoint::Tcp(listener.local_addr().expect("bound"));
        let found = endpoint.listeners();
        assert_eq!(found.len(), 1);
        let me = std::process::id();
        assert_eq!(holds(me as Pid, found[0].inode), Some(true));
        assert!(owner(found[0]).starts_with(&format!("pid {me} (")));
    }

    #[test]
    fn a_listener_on_every_address_is_found_by_its_port() {
        let Ok(listener) = TcpListener::bind("[::]:0") else {
            eprintln!("skipped: no IPv6 here");
            return;
        };
        let port = listener.local_addr().expect("bound").port();
        let endpoint = Endpoint::Tcp((Ipv4Addr::LOCALHOST, port).into());
        assert_eq!(endpoint.listeners().len(), 1);
    }

    #[test]
    fn a_unix_listener_is_found_by_its_path() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).expect("binds");
        assert_eq!(Endpoint::Unix(path).listeners().len(), 1);
    }
}
