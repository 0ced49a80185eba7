//! The configuration of the weserv dialect.

use serde::Deserialize;

use super::Weserv;
use super::options::OPTIONS;
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::spelling::{Spelt, Word};
use andon_recipe::Wish;

/// The `[weserv]` table: URLs of weserv.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WeservConfig {
    /// Prefix of the dialect's URLs; empty: the dialect is switched off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
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

    fn switch_on(&mut self, mount: Mount) {
        self.prefix = mount.of("/weserv").to_owned();
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
