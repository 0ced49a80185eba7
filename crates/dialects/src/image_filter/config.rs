//! The dialect's keys.

use serde::Deserialize;

use super::ImageFilter;
use crate::ConfigError;
use crate::config::{Gate, Settings, below, mount};
use crate::dialect::Dialect;

/// `[image_filter]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageFilterConfig {
    /// What targets begin with; empty: none are read.
    pub prefix: String,
    /// Answer unsigned URLs although others must be signed, or name presets.
    pub open: bool,
}

impl Settings for ImageFilterConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let prefix = mount("image_filter.prefix", &self.prefix)?;
        Ok(prefix.map(|prefix| Box::new(ImageFilter { prefix }) as Box<dyn Dialect>))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            shares_prefix: true,
            ..Gate::default()
        }
    }
}
