//! The keys of both flavours.

use andon_settings::check;
use serde::Deserialize;

use super::{Flavour, Signing, Thumbor};
use crate::ConfigError;
use crate::config::{Gate, Settings, below, mount};
use crate::dialect::Dialect;
use crate::signature::{Digest, Key};

/// `[thumbor]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThumborConfig {
    /// What targets begin with; empty: none are read.
    pub prefix: String,
    /// Answer unsigned URLs although others must be signed, or name presets.
    pub open: bool,
    /// What URLs are signed with; any of them will do.
    pub keys: Vec<String>,
    /// Allow keys that can be guessed.
    pub weak_keys: bool,
    /// Serve `/unsafe/…`; absent: where there are no keys.
    pub allow_unsafe: Option<bool>,
    /// What an image without a scheme is.
    pub loader: Loader,
    /// Turn images upright; thumbor itself shows them as they are stored unless it is told to.
    pub respect_orientation: bool,
    /// The quality where no filter says it.
    pub quality: u8,
    /// Progressive JPEG.
    pub progressive: bool,
    /// The widest that a URL may ask for; 0: as wide as the server's limits.
    pub max_width: u32,
    /// The highest, likewise.
    pub max_height: u32,
    /// For how many seconds clients may keep a result; 0: nothing is said.
    pub max_age: u64,
}

/// `[imagor]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImagorConfig {
    /// What targets begin with; empty: none are read.
    pub prefix: String,
    /// Answer unsigned URLs although others must be signed, or name presets.
    pub open: bool,
    /// What URLs are signed with; any of them will do.
    pub keys: Vec<String>,
    /// Allow keys that can be guessed.
    pub weak_keys: bool,
    /// Serve `/unsafe/…`.
    pub allow_unsafe: bool,
    /// The digest of signatures.
    pub digest: Digest,
    /// How many characters of a signature stand in a URL; 0: all.
    pub truncate: usize,
    /// What an image without a scheme is.
    pub loader: Loader,
    /// The quality where no filter says it.
    pub quality: u8,
    /// How many filters act; 0: all.
    pub max_filters: usize,
    /// For how many seconds clients may keep a result; 0: nothing is said.
    pub max_age: u64,
}

/// What an image without a scheme is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loader {
    /// A path below the origins.
    #[default]
    Path,
    /// The rest of an `http://` URL.
    Http,
    /// The rest of an `https://` URL.
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
            usual: super::Usual {
                orient: self.respect_orientation,
                quality: self.quality,
                progressive: self.progressive,
                most: (self.max_width, self.max_height),
            },
        })))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            keys: !self.keys.is_empty(),
            answers_unsigned: self.allows_unsafe(),
            ..Gate::default()
        }
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
            usual: super::Usual {
                orient: true,
                quality: self.quality,
                progressive: false,
                most: (9_999, 9_999),
            },
        })))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            keys: !self.keys.is_empty(),
            answers_unsigned: self.allow_unsafe,
            ..Gate::default()
        }
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
