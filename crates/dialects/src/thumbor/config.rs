//! The configuration of the thumbor and imagor dialects.

use andon_recipe::Wish;
use andon_settings::check;
use serde::Deserialize;

use super::Thumbor;
use super::flavour::Flavour;
use super::rules::Defaults;
use super::signing::Signing;
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::{Dialect, Target};
use crate::forms::Form;
use crate::options::OptionHelp;
use crate::signature::{Digest, Key};
use crate::spelling::{Spelt, Word};

/// The `[thumbor]` table: URLs of thumbor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThumborConfig {
    /// Prefix of the dialect's URLs; empty: the dialect is switched off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Signing keys. A URL that is signed with any of them is accepted.
    pub keys: Vec<String>,
    /// Whether keys that can be guessed are allowed.
    pub weak_keys: bool,
    /// Whether `/unsafe/…` is served. If absent, it is served when there are no keys.
    pub allow_unsafe: Option<bool>,
    /// How the name of an image that has no scheme, such as `https://`, is interpreted.
    pub loader: Loader,
    /// Whether images are turned upright. thumbor itself shows them as they are stored, unless configured otherwise.
    pub respect_orientation: bool,
    /// The quality if no filter sets it.
    pub quality: u8,
    /// Whether JPEGs are progressive.
    pub progressive: bool,
    /// Maximum width in px that a URL may request; 0: only the server's limits apply.
    pub max_width: u32,
    /// Maximum height in px that a URL may request; 0: only the server's limits apply.
    pub max_height: u32,
    /// For how many seconds clients may cache a result; 0: not specified.
    pub max_age: u64,
}

/// The `[imagor]` table: URLs of imagor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImagorConfig {
    /// Prefix of the dialect's URLs; empty: the dialect is switched off.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Signing keys. A URL that is signed with any of them is accepted.
    pub keys: Vec<String>,
    /// Whether keys that can be guessed are allowed.
    pub weak_keys: bool,
    /// Whether `/unsafe/…` is served.
    pub allow_unsafe: bool,
    /// The hash function of the signatures.
    pub digest: Digest,
    /// To how many characters signatures are truncated; 0: not at all.
    pub truncate: usize,
    /// How the name of an image that has no scheme, such as `https://`, is interpreted.
    pub loader: Loader,
    /// The quality if no filter sets it.
    pub quality: u8,
    /// Maximum number of filters that are applied; 0: all.
    pub max_filters: usize,
    /// For how many seconds clients may cache a result; 0: not specified.
    pub max_age: u64,
}

/// How the name of an image that has no scheme, such as `https://`, is interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loader {
    /// A name without a scheme is a path below the origins.
    #[default]
    Path,
    /// A name without a scheme is a URL whose `http://` is left out.
    Http,
    /// A name without a scheme is a URL whose `https://` is left out.
    Https,
}

impl Default for ThumborConfig {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            open: false,
            keys: Vec::new(),
            weak_keys: false,
            allow_unsafe: None,
            loader: Loader::default(),
            respect_orientation: true,
            quality: 80,
            progressive: false,
            max_width: 0,
            max_height: 0,
            max_age: 86_400,
        }
    }
}

impl Default for ImagorConfig {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            open: false,
            keys: Vec::new(),
            weak_keys: false,
            allow_unsafe: false,
            digest: Digest::Sha1,
            truncate: 0,
            loader: Loader::default(),
            quality: 75,
            max_filters: 10,
            max_age: 604_800,
        }
    }
}

impl ThumborConfig {
    fn allows_unsafe(&self) -> bool {
        self.allow_unsafe.unwrap_or(self.keys.is_empty())
    }
}

/// Whether a path looks like one of thumbor's or imagor's: `unsafe` or a signature, options, and an image.
fn resembles(path: &str) -> bool {
    let mut segments = path.split('/').skip(1);
    let (Some(first), Some(second)) = (segments.next(), segments.next()) else {
        return false;
    };
    let is_of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+".contains(&byte);
    let is_signature = (16..=88).contains(&first.len())
        && first.ends_with('=')
        && first.trim_end_matches('=').bytes().all(is_of_base64);
    // A name before a colon is an option of another server.
    let is_foreign = second == "plain"
        || second.split_once(':').is_some_and(|(name, _)| {
            let is_word = name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            is_word && !["filters", "trim"].contains(&name)
        });
    (first == "unsafe" || is_signature) && !second.is_empty() && !is_foreign
}

impl Settings for ThumborConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let Some(prefix) = mount("thumbor.prefix", &self.prefix)? else {
            return Ok(None);
        };
        quality("thumbor.quality", self.quality)?;
        let allow_unsafe = self.allows_unsafe();
        Ok(Some(Box::new(Thumbor {
            flavour: Flavour::Thumbor,
            prefix,
            signing: Signing {
                keys: keys("thumbor", &self.keys, self.weak_keys, allow_unsafe)?,
                allow_unsafe,
                digest: Digest::Sha1,
                truncate: 0,
            },
            loader: self.loader,
            max_filters: 0,
            max_age: self.max_age,
            defaults: Defaults {
                orient: self.respect_orientation,
                quality: self.quality,
                progressive: self.progressive,
                most: (self.max_width, self.max_height),
            },
        })))
    }

    fn gate(&self) -> Gate {
        gate(self.open, &self.prefix, &self.keys, self.allows_unsafe())
    }

    fn switch_on(&mut self, mount: Mount) {
        self.prefix = mount.of("/thumbor").to_owned();
    }

    fn resembles(target: &Target<'_>) -> bool {
        resembles(target.path)
    }

    fn forms() -> &'static [Form] {
        super::form::THUMBOR
    }

    fn words() -> Vec<Word> {
        Flavour::Thumbor.words()
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        super::spell::spell(wish, source, Flavour::Thumbor)
    }

    fn option_help() -> Vec<OptionHelp> {
        super::table::option_help(Flavour::Thumbor)
    }
}

impl Settings for ImagorConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let Some(prefix) = mount("imagor.prefix", &self.prefix)? else {
            return Ok(None);
        };
        quality("imagor.quality", self.quality)?;
        check(
            self.truncate == 0 || self.truncate >= 16,
            "imagor.truncate",
            || format!("{} characters can be guessed; 16 or more", self.truncate),
        )?;
        Ok(Some(Box::new(Thumbor {
            flavour: Flavour::Imagor,
            prefix,
            signing: Signing {
                keys: keys("imagor", &self.keys, self.weak_keys, self.allow_unsafe)?,
                allow_unsafe: self.allow_unsafe,
                digest: self.digest,
                truncate: self.truncate,
            },
            loader: self.loader,
            max_filters: self.max_filters,
            max_age: self.max_age,
            defaults: Defaults {
                orient: true,
                quality: self.quality,
                progressive: false,
                most: (9_999, 9_999),
            },
        })))
    }

    fn gate(&self) -> Gate {
        gate(self.open, &self.prefix, &self.keys, self.allow_unsafe)
    }

    fn switch_on(&mut self, mount: Mount) {
        self.prefix = mount.of("/imagor").to_owned();
        self.allow_unsafe |= self.keys.is_empty();
    }

    fn resembles(target: &Target<'_>) -> bool {
        resembles(target.path)
    }

    fn forms() -> &'static [Form] {
        super::form::IMAGOR
    }

    fn words() -> Vec<Word> {
        Flavour::Imagor.words()
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        super::spell::spell(wish, source, Flavour::Imagor)
    }

    fn option_help() -> Vec<OptionHelp> {
        super::table::option_help(Flavour::Imagor)
    }
}

fn gate(open: bool, prefix: &String, keys: &[String], answers_unsigned: bool) -> Gate {
    Gate {
        open,
        places: below([prefix]),
        keys: !keys.is_empty(),
        answers_unsigned,
        ..Gate::default()
    }
}

fn keys(
    table: &str,
    keys: &[String],
    weak: bool,
    allow_unsafe: bool,
) -> Result<Vec<Key>, ConfigError> {
    let name = format!("{table}.keys");
    check(allow_unsafe || !keys.is_empty(), &name, || {
        "without a key nothing can be served: add one, or `allow_unsafe = true`".to_owned()
    })?;
    keys.iter()
        .map(|key| Key::new(&name, key.clone().into_bytes(), weak))
        .collect()
}

fn quality(key: &str, quality: u8) -> Result<(), ConfigError> {
    check((1..=100).contains(&quality), key, || {
        format!("{quality} must be from 1 to 100")
    })
}
