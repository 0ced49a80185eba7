//! Which clients may use the restricted parts of the server.

use serde::Deserialize;

/// Which clients may use a part of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllowedClients {
    /// No clients.
    #[default]
    Off,
    /// Clients on this machine that connect over a Unix socket, and all clients with the administrator's token.
    /// Loopback addresses count as local only if the server runs without a configuration file: otherwise a proxy on
    /// this machine may connect from such an address on behalf of all its clients.
    Local,
    /// All clients.
    All,
}
