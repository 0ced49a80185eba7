//! Who may use what is not for everybody.

use serde::Deserialize;

/// Which clients may use a part of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllowedClients {
    /// No clients.
    #[default]
    Off,
    /// Those of this machine, over Unix sockets, and those with the administrator's token. Loopback addresses count only
    /// where a server runs without a configuration file: a proxy on this machine has one, with all its clients.
    Local,
    /// Everybody.
    All,
}
