//! The `[metrics]` table: where the server's metrics can be read, and by whom.

use std::path::Path;

use serde::Deserialize;

use super::{AllowedClients, Listen};

/// The `[metrics]` table: where the server's metrics can be read, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsConfig {
    /// Which clients may read `/metrics` at the addresses where images are served.
    pub allow: AllowedClients,
    /// A further address that serves only `/metrics`, `/healthz`, `/readyz` and the live dashboard `/_andon/board`, to
    /// everyone who can reach it.
    pub listen: Option<Listen>,
}

impl Default for MetricsConfig {
    fn default() -> Self {
        Self {
            allow: AllowedClients::Local,
            listen: None,
        }
    }
}

impl MetricsConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        if let Some(listen) = &mut self.listen {
            listen.resolve(folder);
        }
    }
}
