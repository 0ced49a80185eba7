//! Sockets that were listening before the server started (systemd's socket activation).
//!
//! The service manager keeps them open. While the server restarts, new connections wait in their backlog instead of
//! being refused.

use std::os::unix;
use std::path::PathBuf;
use std::{io, net};

use listenfd::ListenFd;
use tokio::net::lookup_host;

use super::listener::{Address, Listener, SocketFile, send_at_once};
use crate::config::Listen;

/// Sockets that another process has opened and bound for this one.
#[derive(Debug, Default)]
pub struct Inherited {
    sockets: Vec<Socket>,
}

#[derive(Debug)]
enum Socket {
    Tcp(net::TcpListener),
    Unix(unix::net::UnixListener),
}

impl Inherited {
    /// Takes the sockets that `LISTEN_FDS` lists, unless `LISTEN_PID` names another process. Call this while there is
    /// only one thread, because it removes the environment variables.
    ///
    /// # Errors
    /// If one of the descriptors is not a listening stream socket.
    pub fn from_environment() -> io::Result<Self> {
        let mut descriptors = ListenFd::from_env();
        let sockets = (0..descriptors.len()).map(|place| {
            let socket = match descriptors.take_tcp_listener(place) {
                Ok(socket) => socket.map(Socket::Tcp),
                Err(_) => descriptors.take_unix_listener(place)?.map(Socket::Unix),
            };
            let socket = socket.ok_or_else(|| io::Error::other("the descriptor is taken"))?;
            socket.set_options()?;
            Ok(socket)
        });
        let sockets = sockets.collect::<io::Result<_>>();
        let sockets = sockets.map_err(|error: io::Error| {
            let text = format!("LISTEN_FDS names what is no listening socket: {error}");
            io::Error::new(error.kind(), text)
        })?;
        Ok(Self { sockets })
    }

    /// Returns the inherited socket that listens at `listen`, if there is one. The original stays open, so that a later
    /// reload can listen there again.
    pub(crate) async fn listener(&self, listen: &Listen) -> io::Result<Option<Listener>> {
        for socket in &self.sockets {
            if socket.is_at(listen).await? {
                return socket.listener().map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the error of a failed bind. If an inherited socket occupies the port, the error names that socket and the
    /// remedy.
    pub(crate) fn in_the_way(&self, error: io::Error, listen: &Listen) -> io::Error {
        let Listen::Tcp(target) = listen else {
            return error;
        };
        let (host, port) = target.rsplit_once(':').unwrap_or_default();
        let takes_all = ["0.0.0.0", "[::]"].contains(&host);
        let is_there = |address: &Address| match address {
            Address::Tcp(address) => {
                let is_same_host = takes_all || address.ip().is_unspecified();
                address.port().to_string() == port && is_same_host
            }
            _ => false,
        };
        let mut addresses = self.sockets.iter().filter_map(|it| it.address().ok());
        match addresses.find(is_there) {
            Some(inherited) if error.kind() == io::ErrorKind::AddrInUse => io::Error::new(
                error.kind(),
                format!(
                    "cannot listen on {listen}: the socket {inherited} that the server was started with has this port; have the socket unit \
                     open {target} in its place: {EDIT}"
                ),
            ),
            _ => error,
        }
    }

    /// Refuses a configuration that leaves out one of the inherited sockets, because clients of that socket would wait
    /// for ever.
    pub(crate) async fn check(
        &self,
        places: impl Iterator<Item = &Listen> + Clone,
    ) -> io::Result<()> {
        for socket in &self.sockets {
            let mut is_named = false;
            for listen in places.clone() {
                is_named |= socket.is_at(listen).await?;
            }
            if !is_named {
                let address = socket.address()?;
                let text = format!(
                    "the socket {address} that the server was started with is not in `listen`; add it there, or have the socket unit \
                     open the addresses of `listen` alone: {EDIT}"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
        }
        Ok(())
    }
}

/// Advice, for error messages, on how to change the socket unit.
const EDIT: &str =
    "`systemctl edit andon.socket`, as docs/packages.md has it under Other addresses";

impl Socket {
    /// Sets the options that sockets opened by this process have.
    fn set_options(&self) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => {
                send_at_once(socket);
                socket.set_nonblocking(true)
            }
            Self::Unix(socket) => socket.set_nonblocking(true),
        }
    }

    fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Tcp(socket) => Address::Tcp(socket.local_addr()?),
            Self::Unix(socket) => Address::Unix(path(socket)?),
        })
    }

    async fn is_at(&self, listen: &Listen) -> io::Result<bool> {
        Ok(match (self.address()?, listen) {
            (Address::Tcp(address), Listen::Tcp(name)) => lookup_host(name)
                .await?
                .any(|candidate| candidate == address),
            (Address::Unix(path), Listen::Unix(listen_path)) => path == *listen_path,
            _ => false,
        })
    }

    fn listener(&self) -> io::Result<Listener> {
        Ok(match self {
            Self::Tcp(socket) => Listener::Tcp(socket.try_clone()?),
            Self::Unix(socket) => {
                Listener::Unix(socket.try_clone()?, SocketFile::of_another(path(socket)?))
            }
        })
    }
}

/// Returns the path of a Unix socket, or an empty one if it has none.
fn path(socket: &unix::net::UnixListener) -> io::Result<PathBuf> {
    let address = socket.local_addr()?;
    Ok(address.as_pathname().map(Into::into).unwrap_or_default())
}
