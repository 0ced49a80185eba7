//! The configuration of the Photon dialect.

use andon_recipe::Wish;
use serde::Deserialize;

use super::options::OPTIONS;
use super::{Photon, spell};
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::spelling::{Spelt, Word};

/// The table `[photon]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PhotonConfig {
    /// Prefix of the dialect's URLs; empty: the dialect is off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// How the path below the prefix names the source.
    pub source: PhotonSource,
}

/// How the path of a URL names the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhotonSource {
    /// By a host and a path on it, as at i0.wp.com. An origin must allow the URL.
    #[default]
    Host,
    /// By a path below the origins, as on the WordPress site itself. URLs without any argument are plain files.
    Path,
}

impl Settings for PhotonConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let prefix = mount("photon.prefix", &self.prefix)?;
        let source = self.source;
        Ok(prefix.map(|prefix| Box::new(Photon { prefix, source }) as Box<dyn Dialect>))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            ..Gate::default()
        }
    }

    fn switch_on(&mut self, mount: Mount) {
        self.prefix = mount.of("/photon").to_owned();
        self.source = PhotonSource::Path;
    }

    fn forms() -> &'static [Form] {
        super::form::FORMS
    }

    fn words() -> Vec<Word> {
        spell::WORDS.to_vec()
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        spell::spell(wish, source)
    }

    fn option_help() -> Vec<OptionHelp> {
        OPTIONS.help()
    }
}
