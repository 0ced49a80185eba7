//! The configuration of the `small_light` dialect, with keys named after the directives of ngx_small_light.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use andon_recipe::Wish;
use andon_settings::check;
use serde::Deserialize;

use super::options::{MAX_TEXT, Options};
use super::{Notes, SmallLight, reader};
use crate::ConfigError;
use crate::config::{Gate, Mount, Settings};
use crate::dialect::{Dialect, Target};
use crate::forms::Form;
use crate::spelling::{Spelt, Word};

/// The `[small_light]` table: URLs of ngx_small_light.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmallLightConfig {
    /// Whether the dialect is switched on.
    pub enabled: bool,
    /// Whether unsigned URLs are answered although `[signing]` or another dialect has keys, or another dialect serves
    /// presets only.
    pub open: bool,
    /// Whether options come from the query, and every path is an image.
    pub getparam_mode: bool,
    /// The folder of overlay images. Without one, `embedicon` does nothing.
    pub material_dir: Option<PathBuf>,
    /// Maximum radius of effects in px. Effects with a larger radius are left out.
    pub radius_max: f64,
    /// Maximum sigma of effects in px. Effects with a larger sigma are left out.
    pub sigma_max: f64,
    /// How closely the quirks of ngx_small_light are followed.
    pub compat: Compat,
    /// How requests with ineffective options are treated. In strict mode such options are always ignored.
    pub mistakes: Mistakes,
    /// Named option strings, which a URL applies with `p=name`.
    pub patterns: BTreeMap<String, String>,
}

/// How a request with ineffective options is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mistakes {
    /// The request is served without these options, and the response has notes about them.
    #[default]
    Note,
    /// The request is refused.
    Refuse,
}

/// How closely the quirks of ngx_small_light are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compat {
    /// The documented behaviour of ngx_small_light, without its accidental quirks.
    #[default]
    Sane,
    /// The actual behaviour of ngx_small_light, except for crashes and undefined behaviour.
    Strict,
}

impl Default for SmallLightConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            open: false,
            getparam_mode: false,
            material_dir: None,
            radius_max: 10.0,
            sigma_max: 10.0,
            compat: Compat::default(),
            mistakes: Mistakes::default(),
            patterns: BTreeMap::new(),
        }
    }
}

impl Settings for SmallLightConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        if !self.enabled {
            return Ok(None);
        }
        let config = self.checked()?;
        Ok(Some(Box::new(SmallLight { config })))
    }

    fn gate(&self) -> Gate {
        let place = match self.getparam_mode {
            true => "/… (getparam_mode)",
            false => "/small_light(…)/…",
        };
        Gate {
            open: self.open,
            places: vec![place.to_owned()],
            ..Gate::default()
        }
    }

    fn resolve_paths(&mut self, folder: &Path) {
        if let Some(path) = &mut self.material_dir {
            *path = folder.join(&path);
        }
    }

    fn switch_on(&mut self, _: Mount) {
        self.enabled = true;
    }

    fn resembles(target: &Target<'_>) -> bool {
        target.path.contains("/small_light(")
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

    fn option_names() -> Vec<String> {
        let names = super::PARAMETERS.iter().map(|one| one.name);
        names.map(str::to_owned).collect()
    }
}

impl SmallLightConfig {
    /// Returns a validated copy whose patterns have the names under which requests find them.
    pub(super) fn checked(&self) -> Result<Self, ConfigError> {
        let mut patterns = BTreeMap::new();
        for (name, pattern) in &self.patterns {
            let wrong = |why: String| {
                let key = format!("small_light.patterns.{name}");
                ConfigError::new(key, format!("`{pattern}` cannot work: {why}"))
            };
            if pattern.len() > MAX_TEXT {
                return Err(wrong(format!("it is longer than {MAX_TEXT} bytes")));
            }
            let reached_by = match self.compat {
                Compat::Sane => name.clone(),
                // nginx converts the keys of its hashes to lower case, but not the names that it looks up.
                Compat::Strict => name.to_ascii_lowercase(),
            };
            if self.compat == Compat::Sane
                && let Some(mistake) = self.mistake(pattern)
            {
                return Err(wrong(mistake));
            }
            if patterns.insert(reached_by, pattern.clone()).is_some() {
                return Err(wrong(
                    "another pattern has the same name but for capitals".to_owned(),
                ));
            }
        }
        for (key, value) in [
            ("small_light.radius_max", self.radius_max),
            ("small_light.sigma_max", self.sigma_max),
        ] {
            check((0.0..=1000.0).contains(&value), key, || {
                format!("{value} must be from 0 to 1000")
            })?;
        }
        Ok(Self {
            patterns,
            ..self.clone()
        })
    }

    /// Returns what is wrong with a pattern's options, independent of the request; `None` if nothing is.
    fn mistake(&self, pattern: &str) -> Option<String> {
        let mut notes = Notes::default();
        let rules = Options::from_text(pattern, &mut notes).and_then(|options| {
            if let Some(name) = options.pattern() {
                notes.add(|| format!("p={name}: a pattern cannot use another pattern"));
            }
            reader::read(&options, self, &mut notes)
        });
        match rules {
            Err(refusal) => Some(refusal.why),
            Ok(_) if notes.0.is_empty() => None,
            Ok(_) => Some(notes.0.join("; ")),
        }
    }
}
