//! The configuration of the imgix dialect.

use serde::Deserialize;

use super::Imgix;
use super::options::OPTIONS;
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::signature::Key;
use crate::spelling::{Spelt, Word};
use andon_recipe::Wish;

/// The table `[imgix]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImgixConfig {
    /// Prefix of the dialect's URLs; empty: the dialect is off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Tokens with which URLs are signed, the newest first. Empty: URLs are not signed.
    pub tokens: Vec<String>,
    /// Whether tokens may be weak: shorter than 16 bytes, or one byte repeated.
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

    fn switch_on(&mut self, mount: Mount) {
        self.prefix = mount.of("/imgix").to_owned();
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
