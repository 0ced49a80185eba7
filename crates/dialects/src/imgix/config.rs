//! The dialect's keys.

use serde::Deserialize;

use super::Imgix;
use crate::ConfigError;
use crate::config::{Gate, Settings, below, mount};
use crate::dialect::Dialect;
use crate::signature::Key;

/// `[imgix]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImgixConfig {
    /// What targets begin with; empty: none are read.
    pub prefix: String,
    /// Answer unsigned URLs although others must be signed, or name presets.
    pub open: bool,
    /// Tokens that sign URLs; the first is the newest. Without one nothing is signed.
    pub tokens: Vec<String>,
    /// May tokens be short?
    pub weak_keys: bool,
}

impl Settings for ImgixConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let Some(prefix) = mount("imgix.prefix", &self.prefix)? else {
            return Ok(None);
        };
        let key = |token: &String| Key::new("imgix.tokens", token.clone().into(), self.weak_keys);
        let tokens = self.tokens.iter().map(key).collect::<Result<_, _>>()?;
        Ok(Some(Box::new(Imgix { prefix, tokens })))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            keys: !self.tokens.is_empty(),
            ..Gate::default()
        }
    }
}
