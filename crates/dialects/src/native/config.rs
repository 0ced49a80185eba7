//! Configuration of the native dialect.

use std::collections::BTreeMap;

use andon_recipe::{Recipe, Wish};
use andon_settings::check;
use serde::Deserialize;

use super::Native;
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below};
use crate::dialect::Dialect;
use crate::forms::Form;
use crate::spelling::Spelt;

/// The table `[native]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NativeConfig {
    /// Whether native URLs are read at all.
    pub enabled: bool,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Prefix of URLs that contain a recipe.
    pub prefix: String,
    /// What happens to targets that are not in their canonical form.
    pub canonical: Canonical,
    /// Prefix of URLs that name a preset.
    pub preset_prefix: String,
    /// Whether URLs can name presets and nothing else.
    pub only_presets: bool,
    /// Recipes of the presets, by name.
    pub presets: BTreeMap<String, String>,
}

/// What happens to targets that are not in their canonical form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Canonical {
    /// Targets in a form that is not canonical are served with a `Link` header to the canonical target.
    #[default]
    Link,
    /// Targets in a form that is not canonical are redirected to the canonical target, so that caches in front of the
    /// server hold one entry only.
    Redirect,
}

impl Default for NativeConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            open: false,
            prefix: "/r".to_owned(),
            canonical: Canonical::default(),
            preset_prefix: "/p".to_owned(),
            only_presets: false,
            presets: BTreeMap::new(),
        }
    }
}

/// Returns a URL prefix without its trailing slash. `key` is its configuration key, for the error.
///
/// # Errors
/// A prefix without a leading slash, or with characters other than letters, digits, slashes and `-._~`.
fn validated_prefix(key: &str, prefix: &str) -> Result<String, ConfigError> {
    let path = prefix.trim_end_matches('/');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let sound = path.starts_with('/') && path.bytes().all(plain);
    check(sound, key, || {
        format!("`{prefix}` must be a path of letters, digits and `-._~`, such as \"/r\"")
    })?;
    Ok(path.to_owned())
}

impl NativeConfig {
    /// Returns the parsed recipes of the presets, by name.
    ///
    /// # Errors
    /// The key of the first preset whose text is not a recipe, and the reason.
    pub fn recipes(&self) -> Result<BTreeMap<String, Recipe>, ConfigError> {
        let parse = |(name, text): (&String, &String)| {
            let recipe: Result<Recipe, _> = text.parse();
            let recipe = recipe.map_err(|error| {
                ConfigError::new(format!("native.presets.{name}"), error.to_string())
            })?;
            Ok((name.clone(), recipe))
        };
        self.presets.iter().map(parse).collect()
    }
}

impl Settings for NativeConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        if !self.enabled {
            return Ok(None);
        }
        let prefix = validated_prefix("native.prefix", &self.prefix)?;
        let preset_prefix = validated_prefix("native.preset_prefix", &self.preset_prefix)?;
        check(prefix != preset_prefix, "native.preset_prefix", || {
            "is that of recipes already".to_owned()
        })?;
        check(
            !self.only_presets || !self.presets.is_empty(),
            "native.only_presets",
            || "nothing could be asked for: [native.presets] is empty".to_owned(),
        )?;
        Ok(Some(Box::new(Native {
            prefix,
            canonical: self.canonical,
            preset_prefix,
            only_presets: self.only_presets,
            presets: self.recipes()?,
        })))
    }

    fn gate(&self) -> Gate {
        let presets = (!self.presets.is_empty()).then_some(&self.preset_prefix);
        let recipes = (!self.only_presets).then_some(&self.prefix);
        Gate {
            open: self.open,
            places: below(recipes.into_iter().chain(presets)),
            only_presets: self.only_presets,
            ..Gate::default()
        }
    }

    fn switch_on(&mut self, _: Mount) {
        self.enabled = true;
    }

    fn forms() -> &'static [Form] {
        super::form::FORMS
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        super::spell::spell(wish, source)
    }
}
