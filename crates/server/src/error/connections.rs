//! Too many connections.

/// Which ceiling was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowded {
    /// Connections in total.
    House,
    /// Those of this client.
    Client,
}

impl Crowded {
    /// For whoever meets it.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::House => {
                "the limit of connections is reached (`limits.connections`); retry later"
            }
            Self::Client => {
                "the limit of connections of one client is reached (`limits.connections_per_client`); reuse them"
            }
        }
    }
}
