//! `[metrics]`: where the server's figures are read.

use std::path::Path;

use serde::Deserialize;

use super::{AllowedClients, Listen};

/// `[metrics]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsConfig {
    /// Who may read `/metrics` at the addresses where images are served.
    pub allow: AllowedClients,
    /// One more address, for `/metrics`, `/healthz` and `/readyz` alone; everybody who reaches it may read.
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
