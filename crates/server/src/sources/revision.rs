//! The version of the code that makes results.

use std::fmt::Display;

use andon_dialects::Ask;
use andon_pixels::Codec;
use andon_recipe::{Facts, Measure, Recipe, ResolveError, Rules};

/// The version of the pixel engine and codecs that make results.
#[derive(Clone, Debug)]
pub(crate) struct Revision(String);

impl Revision {
    pub(crate) fn of(codecs: &[&dyn Codec]) -> Self {
        Self(andon_pixels::revision(codecs))
    }

    /// Returns the text that identifies a result: the version of the code, the kind of the result, and its recipe. The
    /// text is empty for an unchanged file. The recipe is in whole pixels, unless measurements are needed to resolve
    /// it.
    pub(crate) fn result(&self, ask: &Ask, recipe: &dyn Display) -> String {
        match ask {
            Ask::File | Ask::Redirect(_) | Ask::Text { .. } => String::new(),
            Ask::Image => format!("{} {recipe}", self.0),
            Ask::Describe(document) => format!("{} {} {recipe}", self.0, document.name()),
        }
    }

    /// Resolves these rules for a source with these facts. `None` if pixels have to be measured before the size is
    /// known; the text of the rules then identifies the result.
    pub(crate) fn recipe(rules: &dyn Rules, facts: &Facts) -> Result<Option<Recipe>, ResolveError> {
        let mut measures = rules.measures(facts.orientation).into_iter();
        match measures.any(Measure::decides_size) {
            true => Ok(None),
            false => rules.resolve(facts).map(Some),
        }
    }

    /// Returns the version as text. It changes with the code that reads headers, too.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}
