//! The overlay of an effect: a file or a colour, and the recipe that is applied to it first.

use crate::{Colour, Effect, Output, ParseError, Recipe, Step};

impl Effect {
    /// Name of the effect that writes text on an image.
    pub const TEXT: &str = "text";

    /// Prefix of an overlay's name that stands for a single colour instead of a file.
    pub const COLOUR: &str = "colour:";

    /// Maximum nesting depth of overlays: the recipe of an overlay may contain overlays with recipes of their own.
    pub const DEEPEST: usize = 3;

    /// Index of an overlay's own recipe among its arguments.
    const RECIPE: usize = 8;

    fn composes(&self) -> bool {
        [Self::OVER, Self::OVERLAY].contains(&self.name.as_str())
    }

    /// Returns the name of the file that the effect lays over the image, if any.
    #[must_use]
    pub fn overlay_name(&self) -> Option<&str> {
        let name = self.args.first().filter(|_| self.composes())?;
        (!name.starts_with(Self::COLOUR)).then_some(name)
    }

    /// Returns the colour that the effect lays over the image in place of a file, if any.
    #[must_use]
    pub fn overlay_colour(&self) -> Option<Colour> {
        let name = self.args.first().filter(|_| self.composes())?;
        name.strip_prefix(Self::COLOUR)?.parse().ok()
    }

    /// Returns the recipe that is applied to the effect's overlay, if there is one.
    ///
    /// # Errors
    /// [`ParseError`] for a text that is not a recipe, has words that are not steps or steps that an overlay cannot
    /// take, is nested more than [`Self::DEEPEST`] levels deep or has more steps than a recipe may. The same applies to
    /// the recipes of overlays in it.
    pub fn recipe(&self) -> Option<Result<Recipe, ParseError>> {
        let text = self.args.get(Self::RECIPE).filter(|_| self.composes())?;
        (!text.is_empty()).then(|| read(text, Self::DEEPEST))
    }

    /// Adds to `names` the overlay files of the effect, and those of its overlay's recipe.
    pub(crate) fn add_overlays(&self, names: &mut Vec<String>) {
        names.extend(self.overlay_name().map(str::to_owned));
        if let Some(Ok(recipe)) = self.recipe() {
            for effect in recipe.effects() {
                effect.add_overlays(names);
            }
        }
    }

    /// Returns how many steps the effect counts as: itself, and those of its overlay's recipe.
    pub(crate) fn steps(&self) -> usize {
        let recipe = self.recipe().and_then(Result::ok);
        1 + recipe.map_or(0, |recipe| recipe.steps_in_all())
    }
}

/// Parses the recipe of an overlay. `levels` is how many nested recipes are still allowed, this one included.
fn read(text: &str, levels: usize) -> Result<Recipe, ParseError> {
    let wrong = |piece: &dyn std::fmt::Display, expected: &str| {
        Err(ParseError::new(piece.to_string(), expected))
    };
    if levels == 0 {
        return wrong(&text, "recipes of overlays at most 3 levels deep");
    }
    let recipe: Recipe = text.parse()?;
    if recipe.output != Output::default() {
        return wrong(&text, "steps alone: an overlay is not written to a file");
    }
    for step in &recipe.steps {
        let needs_pixels =
            matches!(step, Step::Original(_) | Step::Trim(_)) || step.is_to_be_measured();
        match step {
            _ if needs_pixels => {
                return wrong(step, "a step that needs no look at the overlay's pixels");
            }
            Step::Effect(effect) if effect.composes() => {
                if let Some(text) = effect
                    .args
                    .get(Effect::RECIPE)
                    .filter(|text| !text.is_empty())
                {
                    read(text, levels - 1)?;
                }
            }
            _ => {}
        }
    }
    Ok(recipe)
}
