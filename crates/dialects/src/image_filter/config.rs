//! The configuration of the dialect for nginx's image filter.

use serde::Deserialize;

use super::ImageFilter;
use andon_recipe::Wish;

use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::{Dialect, Target};
use crate::spelling::{Spelt, Word};

/// The table `[image_filter]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageFilterConfig {
    /// Prefix of the dialect's URLs; empty: the dialect is off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
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

    /// Mounts the dialect at the root in any case: the first word of its URLs tells them from those of other dialects.
    fn switch_on(&mut self, _: Mount) {
        self.prefix = "/".to_owned();
    }

    fn resembles(target: &Target<'_>) -> bool {
        target.path.contains("/image_filter(")
    }

    fn words() -> Vec<Word> {
        super::spell::WORDS.to_vec()
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        super::spell::spell(wish, source)
    }
}
