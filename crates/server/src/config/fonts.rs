//! The `[fonts]` table: which fonts text is drawn with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use andon_settings::check;
use serde::Deserialize;

use super::ConfigError;

/// The `[fonts]` table: which fonts text is drawn with, by the word `text` of recipes and in SVG images.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FontsConfig {
    /// Folders with fonts, which are loaded at the start.
    pub folders: Vec<PathBuf>,
    /// Whether the fonts that are installed on this machine are loaded, too.
    pub system: bool,
    /// The family for text that names no family, and for `sans-serif`.
    pub sans_serif: String,
    /// The family for `serif`.
    pub serif: String,
    /// The family for `monospace`.
    pub monospace: String,
    /// The family for `cursive`.
    pub cursive: String,
    /// The family for `fantasy`.
    pub fantasy: String,
    /// The families to prefer for a script, by its name in Unicode.
    pub fallback: BTreeMap<String, Vec<String>>,
}

impl Default for FontsConfig {
    fn default() -> Self {
        let default_family = || BUNDLED.to_owned();
        Self {
            folders: Vec::new(),
            system: false,
            sans_serif: default_family(),
            serif: default_family(),
            monospace: default_family(),
            cursive: default_family(),
            fantasy: default_family(),
            fallback: BTreeMap::new(),
        }
    }
}

/// The family of the font that is part of the program.
const BUNDLED: &str = "DejaVu Sans";

impl FontsConfig {
    pub(super) fn resolve(&mut self, folder: &Path) {
        for path in &mut self.folders {
            *path = folder.join(&path);
        }
    }

    /// Checks that `other`, the table after a reload, is equal to this one: fonts are loaded only at the start.
    ///
    /// # Errors
    /// [`ConfigError`] if `other` differs.
    pub fn permit(&self, other: &Self) -> Result<(), ConfigError> {
        check(self == other, "fonts", || {
            "fonts are loaded only at the start; restart the server to change them".to_owned()
        })
    }
}
