//! The dialect's keys.

use serde::Deserialize;

use super::Weserv;
use crate::ConfigError;
use crate::config::{Gate, Settings, below, mount};
use crate::dialect::Dialect;

/// `[weserv]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeservConfig {
    /// What targets begin with; empty: none are read.
    pub prefix: String,
    /// Answer unsigned URLs although others must be signed, or name presets.
    pub open: bool,
}

impl Settings for WeservConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let prefix = mount("weserv.prefix", &self.prefix)?;
        Ok(prefix.map(|prefix| Box::new(Weserv { prefix }) as Box<dyn Dialect>))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            ..Gate::default()
        }
    }
}
