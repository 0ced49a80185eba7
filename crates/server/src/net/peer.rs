//! The client at the other end of a connection.

use std::fmt;
use std::net::IpAddr;

/// A client, as far as its connection identifies it. Every request carries it among its extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process of this machine, through a Unix socket.
    Unix,
    /// An IP address. An IPv4 address stays IPv4, even on a socket for both families.
    Tcp(IpAddr),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix => f.write_str("unix"),
            Self::Tcp(address) => address.fmt(f),
        }
    }
}
