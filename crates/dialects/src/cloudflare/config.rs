//! The dialect's keys.

use serde::Deserialize;

use super::Cloudflare;
use crate::ConfigError;
use crate::config::{Gate, Settings, below, mount};
use crate::dialect::Dialect;

/// `[cloudflare]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CloudflareConfig {
    /// What targets begin with, such as `/cdn-cgi/image`; empty: none are read.
    pub prefix: String,
    /// Answer unsigned URLs although others must be signed, or name presets.
    pub open: bool,
}

impl Settings for CloudflareConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let prefix = mount("cloudflare.prefix", &self.prefix)?;
        Ok(prefix.map(|prefix| Box::new(Cloudflare { prefix }) as Box<dyn Dialect>))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            ..Gate::default()
        }
    }
}
