//! The rules of dialects that imitate programs that make images with sharp.

use andon_recipe::{
    Facts, FormatName, Measure, Orientation, Output, Recipe, ResolveError, Rules, Wish,
};

use super::{Encoding, Pipeline, output};

/// sharp's options for a request, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(crate) struct SharpRules {
    /// Name of the dialect.
    dialect: &'static str,
    /// The options of the URL in the dialect's canonical form.
    options: String,
    pub(super) pipeline: Pipeline,
    pub(super) encoding: Encoding,
    /// Whether the header `Accept` selected the format.
    pub(super) is_chosen_by_accept: bool,
    pub(super) output: Output,
}

impl SharpRules {
    /// Creates the rules of a request. `options` are those of the URL in the dialect's canonical form. `format` is the
    /// engine's name of the result's format; `None`: the format of the source.
    pub(crate) fn new(
        dialect: &'static str,
        options: String,
        pipeline: Pipeline,
        encoding: Encoding,
        format: Option<&str>,
    ) -> Self {
        let mut output = output::output(format);
        output.linear = pipeline.linear;
        Self {
            dialect,
            options,
            pipeline,
            encoding,
            is_chosen_by_accept: false,
            output,
        }
    }

    /// Records whether the header `Accept` selected the format.
    pub(crate) fn by_accept(self, is_chosen_by_accept: bool) -> Self {
        Self {
            is_chosen_by_accept,
            ..self
        }
    }
}

/// Returns the options from the canonical text of a dialect's rules; `None` if the text is that of another dialect's
/// rules.
pub(crate) fn options_of<'a>(dialect: &str, text: &'a str) -> Option<&'a str> {
    let rest = text.strip_prefix(dialect)?.strip_prefix('(')?;
    rest.rsplit_once(';').map(|(options, _)| options)
}

impl Rules for SharpRules {
    fn text(&self) -> String {
        let output = Recipe::from(self.output.clone());
        format!("{}({};{output})", self.dialect, self.options)
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let is_svg = self.output.format.is_none() && facts.format == "svg";
        if is_svg && self.encoding.keeps_svg {
            return Ok(Recipe::original());
        }
        let steps = self.pipeline.steps(facts)?;
        let mut output = self.encoding.of(&self.output, facts);
        // sharp cannot write SVG. It writes PNG instead.
        if is_svg {
            output.format = FormatName::new("png").ok();
        }
        Recipe { steps, output }.resolve(facts)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let recipe = self.pipeline.measuring_recipe();
        Recipe::of_stored(recipe.steps, recipe.output).measures(stored)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<Wish> {
        Some(self.to_wish())
    }
}
