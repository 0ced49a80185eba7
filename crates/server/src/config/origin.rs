//! `[[origin]]`: where pictures come from.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ConfigError;

/// One origin.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginConfig {
    /// Paths that begin with this (whole segments) belong to it, the prefix taken off.
    #[serde(default = "everything")]
    pub prefix: String,
    /// A folder.
    pub fs: FsConfig,
}

/// A folder of files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FsConfig {
    /// The folder; nothing outside of it can be reached.
    pub root: PathBuf,
}

impl OriginConfig {
    /// The folder `root` at `/`.
    pub fn folder(root: impl Into<PathBuf>) -> Self {
        Self {
            prefix: everything(),
            fs: FsConfig { root: root.into() },
        }
    }

    pub(super) fn resolve(&mut self, folder: &Path) {
        self.fs.root = folder.join(&self.fs.root);
    }
}

pub(super) fn validate(origins: &[OriginConfig]) -> Result<(), ConfigError> {
    for (index, origin) in origins.iter().enumerate() {
        let prefix = &origin.prefix;
        if !prefix.starts_with('/') {
            return Err(ConfigError::new(format!(
                "origin prefix \"{prefix}\" does not begin with `/`"
            )));
        }
        let same = |other: &OriginConfig| {
            other.prefix.trim_end_matches('/') == prefix.trim_end_matches('/')
        };
        if origins[..index].iter().any(same) {
            return Err(ConfigError::new(format!(
                "two origins have the prefix \"{prefix}\": only one of them could ever be reached"
            )));
        }
    }
    Ok(())
}

fn everything() -> String {
    "/".to_owned()
}
