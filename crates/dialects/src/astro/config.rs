//! The configuration of the astro dialect.

use andon_recipe::Wish;
use serde::Deserialize;

use super::Astro;
use super::options::OPTIONS;
use super::remote::Remote;
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::remote_pattern::RemotePattern;
use crate::spelling::{Spelt, Word};

/// The table `[astro]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AstroConfig {
    /// Path of the endpoint; empty: the dialect is off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// The endpoint of Astro whose error responses are imitated.
    pub endpoint: Endpoint,
    /// Hosts of the URLs that may be named as sources. If this and `remote_patterns` are empty, the hosts of all
    /// origins.
    pub domains: Vec<String>,
    /// Patterns of the URLs that may be named as sources, in addition to those at `domains`.
    pub remote_patterns: Vec<RemotePattern>,
}

/// One of Astro's image endpoints, which differ in their errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Endpoint {
    /// `astro/assets/endpoint/generic`, the usual one: a missing image is a 404.
    #[default]
    Generic,
    /// `astro/assets/endpoint/node`, the one of the Node adapter: a missing image is a 500.
    Node,
}

impl Settings for AstroConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let Some(prefix) = mount("astro.prefix", &self.prefix)? else {
            return Ok(None);
        };
        Ok(Some(Box::new(Astro {
            prefix,
            endpoint: self.endpoint,
            remote: Remote::new(&self.domains, &self.remote_patterns)?,
        })))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            ..Gate::default()
        }
    }

    fn switch_on(&mut self, _: Mount) {
        self.prefix = "/_image".to_owned();
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
