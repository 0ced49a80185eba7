//! The configuration of the ipx dialect.

use std::collections::BTreeMap;

use andon_recipe::Wish;
use serde::Deserialize;

use super::Ipx;
use super::options::OPTIONS;
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::hosts::Hosts;
use crate::options::OptionHelp;
use crate::spelling::{Spelt, Word};

/// The table `[ipx]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IpxConfig {
    /// Prefix of the dialect's URLs; empty: the dialect is off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Hosts of the URLs that may be named as sources, as host names or URLs; empty: the hosts of all origins.
    pub domains: Vec<String>,
    /// Replacements for beginnings of sources: the beginning, and the path or absolute URL that replaces it.
    pub alias: BTreeMap<String, String>,
    /// For how many seconds clients may cache results of files.
    pub max_age: u64,
    /// For how many seconds clients may cache results of images from other servers, if those set no lifetime.
    pub http_max_age: u64,
}

impl Default for IpxConfig {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            open: false,
            domains: Vec::new(),
            alias: BTreeMap::new(),
            max_age: 60,
            http_max_age: 300,
        }
    }
}

impl Settings for IpxConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let Some(prefix) = mount("ipx.prefix", &self.prefix)? else {
            return Ok(None);
        };
        let with_slash = |name: &String| format!("/{}", name.trim_start_matches('/'));
        let alias = self.alias.iter();
        let alias = alias.map(|(name, to)| (with_slash(name), to.clone()));
        let mut alias: Vec<(String, String)> = alias.collect();
        // Of the aliases that match a source, the longest is applied.
        alias.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Ok(Some(Box::new(Ipx {
            prefix,
            hosts: Hosts::new("ipx.domains", &self.domains)?,
            alias,
            max_age: self.max_age,
            http_max_age: self.http_max_age,
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
        self.prefix = "/_ipx".to_owned();
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
