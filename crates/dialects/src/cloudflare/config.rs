//! The configuration of the Cloudflare dialect.

use serde::Deserialize;

use super::Cloudflare;
use super::options::OPTIONS;
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::spelling::{Spelt, Word};
use andon_recipe::Wish;

/// The table `[cloudflare]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CloudflareConfig {
    /// Prefix of the dialect's URLs, such as `/cdn-cgi/image`; empty: the dialect is off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
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

    fn switch_on(&mut self, _: Mount) {
        self.prefix = "/cdn-cgi/image".to_owned();
    }

    fn forms() -> &'static [Form] {
        super::form::FORMS
    }

    fn words() -> Vec<Word> {
        super::spell::WORDS.to_vec()
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        super::spell::spell(wish, source)
    }

    fn option_help() -> Vec<OptionHelp> {
        OPTIONS.help()
    }
}
