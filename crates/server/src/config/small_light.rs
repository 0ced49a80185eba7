//! `[small_light]`: keys are named after the module's directives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// `[small_light]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmallLightConfig {
    /// Read small_light URLs at all.
    pub enabled: bool,
    /// Read options from the query instead of the path; every request is then a picture.
    pub getparam_mode: bool,
    /// The folder of icons for `embedicon`.
    pub material_dir: Option<PathBuf>,
    /// Effects with a larger radius are skipped.
    pub radius_max: f64,
    /// Effects with a larger sigma are skipped.
    pub sigma_max: f64,
    /// How far the module's accidents are kept.
    pub compat: Compat,
    /// What becomes of a request with options that have no meaning.
    pub mistakes: Mistakes,
    /// Named option strings, for `p=name`.
    pub patterns: BTreeMap<String, String>,
}

/// What becomes of a request with options that have no meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mistakes {
    /// It is answered without them, and `Andon-Note` headers name them.
    #[default]
    Note,
    /// It is answered with 400.
    Refuse,
}

/// How far the module's accidents are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compat {
    /// What it means to do.
    #[default]
    Sane,
    /// What it does, quirks included: every error is a 415.
    Strict,
}

impl Default for SmallLightConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            getparam_mode: false,
            material_dir: None,
            radius_max: 10.0,
            sigma_max: 10.0,
            compat: Compat::Sane,
            mistakes: Mistakes::Note,
            patterns: BTreeMap::new(),
        }
    }
}

impl SmallLightConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        if let Some(path) = &mut self.material_dir {
            *path = folder.join(&path);
        }
    }
}
