//! The `[tls]` table: HTTPS without a proxy in front.

use std::path::{Path, PathBuf};

use andon_settings::check;
use serde::Deserialize;

use super::{ConfigError, Listen};

/// The `[tls]` table: HTTPS without a proxy in front.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsConfig {
    /// Addresses to listen on with TLS, in addition to [`Config::listen`](super::Config::listen).
    pub listen: Vec<Listen>,
    /// A PEM file with the certificate, followed by its intermediate certificates.
    pub certificate: Option<PathBuf>,
    /// A PEM file with the private key of the certificate.
    pub key: Option<PathBuf>,
    /// Whether HTTP/2 is offered in addition to HTTP/1.1.
    pub http2: bool,
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            certificate: None,
            key: None,
            http2: true,
        }
    }
}

impl TlsConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        for listen in &mut self.listen {
            listen.resolve(folder);
        }
        for path in [&mut self.certificate, &mut self.key].into_iter().flatten() {
            *path = folder.join(&path);
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        for (key, path) in [
            ("tls.certificate", &self.certificate),
            ("tls.key", &self.key),
        ] {
            check(self.listen.is_empty() || path.is_some(), key, || {
                "is missing: `tls.listen` needs a certificate and its key, both as PEM files"
                    .to_owned()
            })?;
        }
        Ok(())
    }
}
