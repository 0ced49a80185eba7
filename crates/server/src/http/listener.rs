//! Listening on TCP and on Unix sockets.

use std::fmt;
use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{io, iter};

use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with, sockopt};
use tokio::io::{AsyncRead, AsyncWrite, Interest};
use tokio::net::{TcpSocket, TcpStream, UnixStream, lookup_host};

use crate::config::{Listen, SocketMode};
use crate::net::Peer;

/// A bound address that is not registered with a reactor yet.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(net::TcpListener),
    Unix(unix::net::UnixListener, SocketFile),
}

/// A bound address that is registered with a reactor, which wakes its acceptor for each connection.
#[derive(Debug)]
pub(crate) enum Accepting {
    Tcp(Watched),
    Unix {
        listener: Watched,
        /// The file of the socket, which is removed together with the listener.
        _file: SocketFile,
    },
}

/// A new connection that is not registered with a reactor yet.
#[derive(Debug)]
pub(crate) enum Accepted {
    Tcp(net::TcpStream, Peer),
    Unix(unix::net::UnixStream),
}

impl Accepted {
    pub(crate) fn peer(&self) -> Peer {
        match self {
            Self::Tcp(_, peer) => *peer,
            Self::Unix(_) => Peer::Unix,
        }
    }
}

/// A connection whose type is known only at run time. TCP without TLS, which carries the most requests, does not use
/// this trait.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Wire for S {}

impl TryFrom<Accepted> for Box<dyn Wire> {
    type Error = io::Error;

    /// Registers the connection with the reactor of the calling task.
    fn try_from(accepted: Accepted) -> io::Result<Self> {
        Ok(match accepted {
            Accepted::Tcp(stream, _) => Box::new(TcpStream::from_std(stream)?),
            Accepted::Unix(stream) => Box::new(UnixStream::from_std(stream)?),
        })
    }
}

/// An address that the server listens on, with its actual port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP.
    Tcp(SocketAddr),
    /// TCP with TLS.
    Tls(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::Tls(address) => write!(f, "https://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Listener {
    /// Binds to an address. Replaces a socket file on which no process listens any more.
    ///
    /// # Errors
    /// The system's error, with the address in its text.
    pub(crate) async fn bind(listen: &Listen, mode: SocketMode) -> io::Result<Self> {
        let result = match listen {
            Listen::Tcp(address) => bind_tcp(address).await.map(Self::Tcp),
            Listen::Unix(path) => bind_unix(path, mode)
                .await
                .map(|(listener, file)| Self::Unix(listener, file)),
        };
        result.map_err(|error| {
            let remedy = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "another program listens there; choose another port, or `--port 0` for any free one"
                }
                io::ErrorKind::PermissionDenied => {
                    "ports below 1024 are for privileged programs; choose a higher one"
                }
                _ => "",
            };
            let what = match remedy {
                "" => error.to_string(),
                remedy => format!("{}: {remedy}", error.kind()),
            };
            io::Error::new(error.kind(), format!("cannot listen on {listen}: {what}"))
        })
    }

    pub(crate) fn address(&self) -> io::Result<Address> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Address::Tcp),
            Self::Unix(_, file) => Ok(Address::Unix(file.path.clone())),
        }
    }

    /// Returns `count` listeners of the same address, among which the system distributes new connections, so that
    /// threads accept independently of each other. Returns a single listener for a Unix socket, and if the system does
    /// not allow more.
    pub(crate) fn split(self, count: usize) -> io::Result<Vec<Self>> {
        let others = match &self {
            Self::Tcp(listener) => {
                let address = listener.local_addr()?;
                let listen = || listen_tcp(address, Beside::Others);
                let others = iter::repeat_with(listen).take(count.saturating_sub(1));
                let others = others.collect::<io::Result<_>>();
                others.unwrap_or_else(|error| {
                    tracing::warn!(%address, %error, "one thread accepts all connections: the address has no more listeners");
                    Vec::new()
                })
            }
            Self::Unix(..) => Vec::new(),
        };
        let others = others.into_iter().map(Self::Tcp);
        Ok(iter::once(self).chain(others).collect())
    }

    /// Registers the listener with the reactor of the calling task.
    pub(crate) fn attach(self) -> io::Result<Accepting> {
        Ok(match self {
            Self::Tcp(listener) => Accepting::Tcp(Watched::new(listener)?),
            Self::Unix(listener, file) => Accepting::Unix {
                listener: Watched::new(listener)?,
                _file: file,
            },
        })
    }
}

impl Accepting {
    /// Accepts the next connection.
    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener) => {
                let (socket, address) = listener.accept().await?;
                let address = address.and_then(|address| SocketAddr::try_from(address).ok());
                // The system may report no address if the client has already disconnected.
                let address = address.ok_or(io::ErrorKind::ConnectionAborted)?;
                let peer = Peer::Tcp(address.ip().to_canonical());
                Ok(Accepted::Tcp(socket.into(), peer))
            }
            Self::Unix { listener, .. } => {
                let (socket, _) = listener.accept().await?;
                Ok(Accepted::Unix(socket.into()))
            }
        }
    }
}

/// A listening socket that is registered with a reactor.
///
/// Tokio's own listeners would register each connection with the reactor as well. Therefore the socket is registered as
/// if it were a stream, of which only the readiness is used.
#[derive(Debug)]
pub(crate) struct Watched(TcpStream);

impl Watched {
    fn new(listener: impl Into<OwnedFd>) -> io::Result<Self> {
        TcpStream::from_std(listener.into().into()).map(Self)
    }

    async fn accept(&self) -> io::Result<(OwnedFd, Option<SocketAddrAny>)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let accept = || Ok(acceptfrom_with(&self.0, flags)?);
        self.0.async_io(Interest::READABLE, accept).await
    }
}

/// Binds to the first address of a name that can be bound.
async fn bind_tcp(listen: &str) -> io::Result<net::TcpListener> {
    let mut last_error = None;
    for address in lookup_host(listen).await? {
        match listen_tcp(address, Beside::Nobody) {
            Ok(listener) => return Ok(listener),
            Err(error) => last_error = Some(error),
        }
    }
    Err(last_error.unwrap_or_else(|| io::Error::other("the name has no address")))
}

/// Which sockets may already listen at an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nobody,
    /// Other listeners of this process.
    Others,
}

fn listen_tcp(address: SocketAddr, beside: Beside) -> io::Result<net::TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // As `std`'s `bind` does, so that a server that is restarted can use its port again at once.
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(beside == Beside::Others)?;
    send_at_once(&socket);
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    // Lets further listeners of this process join. Set before `listen`, the option would let this socket join the
    // listeners of another server.
    sockopt::set_socket_reuseport(&listener, true)?;
    listener.into_std()
}

/// Sets `TCP_NODELAY` for all connections of a listener. A reply is written whole, so waiting to fill packets only
/// delays its end.
pub(super) fn send_at_once(listener: impl AsFd) {
    // A listener without this option works as well.
    let _ = sockopt::set_tcp_nodelay(listener, true);
}

/// Maximum number of connections that wait to be accepted. The system may allow fewer (`net.core.somaxconn`). If more
/// arrive at the same moment than fit, the rest try again after a whole second. The usual 128 were too few for 900
/// clients.
const BACKLOG: u32 = 4096;

async fn bind_unix(
    path: &Path,
    mode: SocketMode,
) -> io::Result<(unix::net::UnixListener, SocketFile)> {
    remove_stale(path).await?;
    let listener = unix::net::UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode.0))?;
    let file = SocketFile {
        path: path.to_owned(),
        inode: Some(std::fs::symlink_metadata(path)?.ino()),
    };
    Ok((listener, file))
}

/// Removes the socket file of a server that no longer runs, and no other file.
async fn remove_stale(path: &Path) -> io::Result<()> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is a file that is no socket; choose another path or remove it",
        ));
    }
    match UnixStream::connect(path).await {
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another server is listening there",
        )),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}

/// The file of a Unix socket. It is removed together with its server, unless another process has created it or another
/// server has replaced it in the meantime.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Inode number of the file, if this server created it.
    inode: Option<u64>,
}

impl SocketFile {
    pub(super) fn of_another(path: PathBuf) -> Self {
        Self { path, inode: None }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let metadata = std::fs::symlink_metadata(&self.path);
        let ours = metadata.is_ok_and(|metadata| Some(metadata.ino()) == self.inode);
        if ours {
            // If removing fails, the next server recognizes the file as stale.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn hundreds_of_clients_connect_at_the_same_moment() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn");
        let allowed = allowed.ok().and_then(|text| text.trim().parse().ok());
        let listener = bind_tcp("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // Nobody accepts them. One for which there is no room would be asked to try again after a second.
        let clients: Vec<_> = (0..allowed.unwrap_or(128).min(500))
            .map(|_| net::TcpStream::connect_timeout(&address, Duration::from_millis(900)))
            .collect();
        assert!(clients.iter().all(Result::is_ok));
    }

    #[tokio::test]
    async fn a_connection_has_what_it_needs_from_its_listener() {
        let listener = bind_tcp("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = Listener::Tcp(listener).attach().unwrap();
        let client = net::TcpStream::connect(address).unwrap();
        let Accepted::Tcp(stream, peer) = accepting.accept().await.unwrap() else {
            panic!("a connection of TCP");
        };
        assert_eq!(peer, Peer::Tcp(address.ip()));
        assert!(stream.nodelay().unwrap());
        let flags = rustix::fs::fcntl_getfl(&stream).unwrap();
        assert!(flags.contains(rustix::fs::OFlags::NONBLOCK));
        drop(client);
    }
}
