//! What an effect composes with: a file or a colour, and the recipe that it goes through before that.

use super::{Effect, Step};
use crate::text::ParseError;
use crate::{Colour, Output, Recipe};

impl Effect {
    /// The word that writes on an image.
    pub const TEXT: &str = "text";

    /// What the name of a material that is one colour begins with.
    pub const COLOUR: &str = "colour:";

    /// Recipes of overlays may have overlays with recipes of their own, this many levels deep.
    pub const DEEPEST: usize = 3;

    /// The place of an overlay's own recipe among its arguments.
    const RECIPE: usize = 8;

    fn composes(&self) -> bool {
        [Self::OVER, Self::OVERLAY].contains(&self.name.as_str())
    }

    /// The file that it composes with, by name.
    #[must_use]
    pub fn material(&self) -> Option<&str> {
        let name = self.args.first().filter(|_| self.composes())?;
        (!name.starts_with(Self::COLOUR)).then_some(name)
    }

    /// The colour that it composes with in place of a file.
    #[must_use]
    pub fn material_colour(&self) -> Option<Colour> {
        let name = self.args.first().filter(|_| self.composes())?;
        name.strip_prefix(Self::COLOUR)?.parse().ok()
    }

    /// The recipe that its material goes through.
    ///
    /// # Errors
    /// [`ParseError`] for a text that is no recipe, has words that are not steps or steps that an overlay cannot take,
    /// is nested more than [`Self::DEEPEST`] deep or has more steps than any recipe, those of its overlays included.
    pub fn recipe(&self) -> Option<Result<Recipe, ParseError>> {
        let text = self.args.get(Self::RECIPE).filter(|_| self.composes())?;
        (!text.is_empty()).then(|| read(text, Self::DEEPEST))
    }

    /// The files that it and the overlays of its recipe compose with, by name.
    pub(crate) fn add_materials(&self, names: &mut Vec<String>) {
        names.extend(self.material().map(str::to_owned));
        if let Some(Ok(recipe)) = self.recipe() {
            for effect in recipe.effects() {
                effect.add_materials(names);
            }
        }
    }

    /// How many steps it stands for.
    pub(crate) fn steps(&self) -> usize {
        let own = self.recipe().and_then(Result::ok);
        1 + own.map_or(0, |recipe| recipe.steps_in_all())
    }
}

/// Reads the recipe of an overlay, below which there may be so many levels.
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
        match step {
            Step::Original | Step::Trim(_) | Step::Salient | Step::Faces | Step::BlurFaces(_) => {
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
