//! The error for too many connections.

/// The connection limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLimit {
    /// The limit on all connections together.
    Server,
    /// The limit on the connections of one client.
    Client,
}

impl ConnectionLimit {
    /// Returns the public sentence for a client whose connection exceeds the limit.
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
