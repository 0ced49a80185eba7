//! Who may use what is not for everybody.

use serde::Deserialize;

use crate::net::Peer;

/// Which clients may use a part of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllowedClients {
    /// None.
    #[default]
    Off,
    /// Those of this machine: over Unix sockets and from loopback addresses. A proxy on this machine is
    /// one of them, with all its clients.
    Local,
    /// Everybody.
    All,
}

impl AllowedClients {
    pub(crate) fn contains(self, peer: Peer) -> bool {
        match self {
            Self::Off => false,
            Self::Local => peer.is_local(),
            Self::All => true,
        }
    }
}
