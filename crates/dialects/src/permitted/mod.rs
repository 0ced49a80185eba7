//! Lists of what unsigned URLs may ask for, so that nobody can make any number of variants of one image.
//!
//! A size has many spellings: boxes, per cent, device pixels, crops, one side alone. So the lists are compared with the
//! recipe that a request resolves to, in whole pixels, whichever dialect it came in: [`Permitted::limit`] puts rules
//! around those of the request that refuse, when they are resolved, what is not listed.

mod limited;
mod size;

use std::sync::Arc;

use andon_recipe::{Output, Recipe, Rules};
use andon_settings::check;
use serde::Deserialize;

use crate::ConfigError;
use crate::request::ImageRequest;
use limited::Limited;

/// The table `[permitted]` of the configuration. Without any list, everything is permitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermittedConfig {
    /// Widths of results in px. The source's own width is permitted, too.
    pub widths: Vec<u32>,
    /// Heights of results in px. The source's own height is permitted, too, and the height that follows from a
    /// permitted width by the source's aspect ratio, as the width from a height.
    pub heights: Vec<u32>,
    /// Qualities, 1 to 100, that of the dialect where the URL names none included. Empty: any.
    pub qualities: Vec<u8>,
    /// Words of recipes that unsigned URLs may use with any arguments, beyond sizes, turns, formats and qualities.
    pub words: Vec<String>,
    /// Whether signed URLs are held to the lists, too.
    pub signed: bool,
}

impl PermittedConfig {
    /// Whether the sizes of results are limited.
    fn limits_sizes(&self) -> bool {
        !self.widths.is_empty() || !self.heights.is_empty()
    }

    fn validate(&self) -> Result<(), ConfigError> {
        for (key, sides) in [("widths", &self.widths), ("heights", &self.heights)] {
            check(!sides.contains(&0), format!("permitted.{key}"), || {
                "no image has a side of 0 px; list the sides in px, as in [320, 640]".to_owned()
            })?;
        }
        let wrong = self.qualities.iter().find(|it| !(1..=100).contains(*it));
        check(wrong.is_none(), "permitted.qualities", || {
            format!("{} must be from 1 to 100", wrong.unwrap_or(&0))
        })?;
        let has_lists = self.limits_sizes() || !self.qualities.is_empty();
        check(
            has_lists || self.words.is_empty(),
            "permitted.words",
            || {
                "everything is permitted until `widths`, `heights` or `qualities` has a value"
                    .to_owned()
            },
        )?;
        check(has_lists || !self.signed, "permitted.signed", || {
            "everything is permitted until `widths`, `heights` or `qualities` has a value"
                .to_owned()
        })
    }
}

/// The lists in force, and what the dialects ask for where a URL says nothing.
#[derive(Debug)]
pub(crate) struct Permitted {
    lists: Arc<PermittedConfig>,
    /// Rules of a usual request in each dialect: index of its door, and the rules.
    usual: Vec<(Option<usize>, Arc<dyn Rules>)>,
}

impl Permitted {
    /// Returns the lists of a configuration; `None` if it permits everything. `usual` has the rules of an example in
    /// each dialect, with the index of its door.
    ///
    /// # Errors
    /// A value that no request can ask for, or a key that has no effect.
    pub(crate) fn new(
        config: &PermittedConfig,
        usual: Vec<(Option<usize>, Arc<dyn Rules>)>,
    ) -> Result<Option<Self>, ConfigError> {
        config.validate()?;
        let has_lists = config.limits_sizes() || !config.qualities.is_empty();
        Ok(has_lists.then(|| Self {
            lists: Arc::new(config.clone()),
            usual,
        }))
    }

    /// Whether signed URLs are held to the lists, too.
    pub(crate) fn holds_signed(&self) -> bool {
        self.lists.signed
    }

    /// Holds a request to the lists. `door` is the index of its dialect; without one, what any dialect asks for by
    /// itself is permitted.
    pub(crate) fn limit(&self, request: &mut ImageRequest, door: Option<usize>) {
        if request.is_file() {
            return;
        }
        let own = |(of, _): &&(Option<usize>, _)| door.is_none() || *of == door;
        let mut usual: Vec<Arc<dyn Rules>> = Vec::new();
        usual.extend(
            self.usual
                .iter()
                .filter(own)
                .map(|(_, rules)| rules.clone()),
        );
        if door.is_none() {
            usual.push(Arc::new(Recipe::from(Output::default())));
        }
        let says_background = request.rules.output().background != Output::default().background;
        request.rules = Arc::new(Limited {
            rules: request.rules.clone(),
            usual: usual.into(),
            says_background,
            lists: self.lists.clone(),
        });
        request.is_limited = true;
    }
}

#[cfg(test)]
mod tests;
