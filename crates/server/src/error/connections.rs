//! Too many connections.

/// Which ceiling was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLimit {
    /// Connections in total.
    Server,
    /// Those of this client.
    Client,
}

impl ConnectionLimit {
    /// For whoever meets it.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Server => {
                "the limit of connections is reached (`limits.connections`); retry later"
            }
            Self::Client => {
                "the limit of connections of one client is reached (`limits.connections_per_client`); reuse them"
            }
        }
    }
}
