//! Lists of what unsigned URLs may request, so that nobody can create any number of variants of one image.
//!
//! A size can be written in many ways: boxes, percentages, device pixels, crops, one side alone. So the lists are
//! compared with the recipe that a request resolves to, in whole pixels, whatever its dialect: [`Permitted::limit`]
//! wraps the rules of a request in rules that refuse, when they are resolved, a recipe that is not permitted.

mod limited;
mod size;

use std::sync::Arc;

use andon_recipe::{Output, Recipe, Rules};
use andon_settings::check;
use serde::Deserialize;

use crate::ConfigError;
use crate::request::ImageRequest;
use limited::LimitedRules;

/// The table `[permitted]` of the configuration. Without any list, everything is permitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermittedConfig {
    /// Permitted widths of results in px. The source's own width is permitted, too. If this and `heights` are empty,
    /// any size is.
    pub widths: Vec<u32>,
    /// Permitted heights of results in px. The source's own height is permitted, too. So are the height that follows
    /// from a permitted width by the source's aspect ratio, and the width that follows from a permitted height. If this
    /// and `widths` are empty, any size is.
    pub heights: Vec<u32>,
    /// Qualities, 1 to 100. The list must include the dialect's default quality, for URLs that name none. Empty: any.
    pub qualities: Vec<u8>,
    /// Words of recipes (names of steps and output settings, such as `blur`) that unsigned URLs may use with any
    /// arguments, in addition to sizes, turns, formats and qualities.
    pub words: Vec<String>,
    /// Whether the lists apply to signed URLs, too.
    pub signed: bool,
}

impl PermittedConfig {
    /// Whether the lists limit the sizes of results.
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

/// The configured lists, and the defaults of each dialect.
#[derive(Debug)]
pub(crate) struct Permitted {
    lists: Arc<PermittedConfig>,
    /// The rules of each dialect's example URL, whose output settings are the dialect's defaults, with the index of the
    /// dialect among those that are switched on.
    default_rules: Vec<(Option<usize>, Arc<dyn Rules>)>,
}

impl Permitted {
    /// Returns the lists of a configuration, or `None` if it permits everything. `default_rules` are the rules of each
    /// dialect's example URL, whose output settings are the dialect's defaults, with the index of the dialect among
    /// those that are switched on.
    ///
    /// # Errors
    /// A value that no request can have, or a key that has no effect.
    pub(crate) fn new(
        config: &PermittedConfig,
        default_rules: Vec<(Option<usize>, Arc<dyn Rules>)>,
    ) -> Result<Option<Self>, ConfigError> {
        config.validate()?;
        let has_lists = config.limits_sizes() || !config.qualities.is_empty();
        Ok(has_lists.then(|| Self {
            lists: Arc::new(config.clone()),
            default_rules,
        }))
    }

    /// Whether the lists apply to signed URLs, too.
    pub(crate) fn holds_signed(&self) -> bool {
        self.lists.signed
    }

    /// Applies the lists to a request. `door` is the index of its dialect. Without one, the default output settings of
    /// every dialect are permitted.
    pub(crate) fn limit(&self, request: &mut ImageRequest, door: Option<usize>) {
        if request.is_file() {
            return;
        }
        let is_of_dialect = |(of, _): &&(Option<usize>, _)| door.is_none() || *of == door;
        let mut default_rules: Vec<Arc<dyn Rules>> = Vec::new();
        default_rules.extend(
            self.default_rules
                .iter()
                .filter(is_of_dialect)
                .map(|(_, rules)| rules.clone()),
        );
        if door.is_none() {
            default_rules.push(Arc::new(Recipe::from(Output::default())));
        }
        let says_background = request.rules.output().background != Output::default().background;
        request.rules = Arc::new(LimitedRules {
            rules: request.rules.clone(),
            default_rules: default_rules.into(),
            says_background,
            lists: self.lists.clone(),
        });
        request.is_limited = true;
    }
}

#[cfg(test)]
mod tests;
