//! The dialect's keys.

use andon_settings::check;
use serde::Deserialize;

use super::Native;
use crate::ConfigError;
use crate::config::Settings;
use crate::dialect::Dialect;

/// `[native]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NativeConfig {
    /// Whether targets are read at all.
    pub enabled: bool,
    /// What they begin with.
    pub prefix: String,
    /// What becomes of targets that are not in their canonical form.
    pub canonical: Canonical,
}

/// What becomes of targets that are not in their canonical form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Canonical {
    /// They are served, with a `Link` to it.
    #[default]
    Link,
    /// They are redirected to it, so that caches in front hold one entry.
    Redirect,
}

impl Default for NativeConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            prefix: "/r".to_owned(),
            canonical: Canonical::default(),
        }
    }
}

impl Settings for NativeConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        if !self.enabled {
            return Ok(None);
        }
        let prefix = self.prefix.trim_end_matches('/');
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
        let sound = prefix.starts_with('/') && prefix.bytes().all(plain);
        check(sound, "native.prefix", || {
            let prefix = &self.prefix;
            format!("`{prefix}` must be a path of letters, digits and `-._~`, such as \"/r\"")
        })?;
        Ok(Some(Box::new(Native {
            prefix: prefix.to_owned(),
            canonical: self.canonical,
        })))
    }
}
