//! The rules of `f=svg`, which sends an SVG source unchanged.

use std::sync::Arc;

use andon_recipe::{Facts, Output, Recipe, ResolveError, Rules};

/// Rules that send an SVG source unchanged, and refuse any other source.
#[derive(Clone, Debug, Default)]
pub(super) struct DrawingRules {
    output: Output,
}

/// The canonical text of [`DrawingRules`].
pub(super) const TEXT: &str = "astro(f=svg)";

impl Rules for DrawingRules {
    fn text(&self) -> String {
        TEXT.to_owned()
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        match &*facts.format {
            "svg" => Ok(Recipe::original()),
            other => {
                let why = format!("only a source in SVG is sent as SVG, and this one is {other}");
                Err(ResolveError::new("f=svg", why).of_source())
            }
        }
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn with_output(&self, output: Output) -> Arc<dyn Rules> {
        Arc::new(Self { output })
    }
}
