//! The version of everything that makes results.

use std::fmt::Display;

use andon_dialects::Ask;
use andon_pixels::Codec;
use andon_recipe::{Facts, Measure, Recipe, ResolveError, Rules};

/// Which version of pixels and codecs makes results.
#[derive(Clone, Debug)]
pub(crate) struct Revision(String);

impl Revision {
    pub(crate) fn of(codecs: &[&dyn Codec]) -> Self {
        Self(andon_pixels::revision(codecs))
    }

    /// Which version makes what of the source; nothing for a file as it is. The recipe is in whole pixels.
    pub(crate) fn result(&self, ask: &Ask, recipe: &dyn Display) -> String {
        match ask {
            Ask::File | Ask::Redirect(_) | Ask::Text { .. } => String::new(),
            Ask::Picture => format!("{} {recipe}", self.0),
            Ask::Describe(document) => format!("{} {} {recipe}", self.0, document.name()),
        }
    }

    /// What these rules come to for a source with these facts; nothing where pixels have to be measured before the
    /// size is known: then their own text names the result.
    pub(crate) fn recipe(rules: &dyn Rules, facts: &Facts) -> Result<Option<Recipe>, ResolveError> {
        let mut measures = rules.measures(facts.orientation).into_iter();
        match measures.any(Measure::decides_size) {
            true => Ok(None),
            false => rules.resolve(facts).map(Some),
        }
    }

    /// Which version reads headers.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}
