//! Rules that refuse what is not listed when they are resolved.

use std::sync::Arc;

use andon_recipe::{
    Canvas, Colour, Facts, FormatName, Goal, Measure, Orientation, Output, Recipe, ResolveError,
    Rules, Step, Wish, size_after,
};

use super::{PermittedConfig, size};

/// Rules of a request that is held to lists.
#[derive(Clone, Debug)]
pub(super) struct Limited {
    pub(super) rules: Arc<dyn Rules>,
    /// Rules of usual requests in the request's dialect, whose output settings are the dialect's own.
    pub(super) usual: Arc<[Arc<dyn Rules>]>,
    /// Whether the request names a background. If not, the one in the output is the server's.
    pub(super) says_background: bool,
    pub(super) lists: Arc<PermittedConfig>,
}

impl Rules for Limited {
    fn text(&self) -> String {
        self.rules.text()
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let recipe = self.rules.resolve(facts)?;
        // Where a crop lies that was measured is not the client's choice.
        let measured = facts.measured.of_sizes();
        if measured == facts.measured {
            self.check(&recipe, facts)?;
        } else {
            let facts = Facts {
                measured,
                ..facts.clone()
            };
            self.check(&self.rules.resolve(&facts)?, &facts)?;
        }
        Ok(recipe)
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        self.rules.measures(stored)
    }

    fn canonical(&self, facts: &Facts) -> Option<String> {
        self.rules.canonical(facts)
    }

    fn output(&self) -> &Output {
        self.rules.output()
    }

    fn with_output(&self, output: Output) -> Arc<dyn Rules> {
        Arc::new(Self {
            rules: self.rules.with_output(output),
            ..self.clone()
        })
    }

    fn materials(&self) -> Vec<String> {
        self.rules.materials()
    }

    fn permits(&self, recipe: &Recipe, facts: &Facts) -> Result<(), ResolveError> {
        self.check(recipe, facts)
    }

    fn wish(&self) -> Option<Wish> {
        self.rules.wish()
    }
}

/// Output words that anybody may use, because they have few values, or because dialects choose them by other options:
/// formats, losslessness, what is kept of metadata. `q` has a list of its own.
const FREE: &[&str] = &["as", "moving", "lossless", "metadata", "stored", "q"];

/// Output words that stand in place of a quality.
const GOALS: &[&str] = &["max", "score"];

impl Limited {
    /// Checks a recipe in whole pixels.
    fn check(&self, recipe: &Recipe, facts: &Facts) -> Result<(), ResolveError> {
        let checked = self.check_all(recipe, facts);
        checked.map_err(ResolveError::not_permitted)
    }

    fn check_all(&self, recipe: &Recipe, facts: &Facts) -> Result<(), ResolveError> {
        if recipe.is_original() {
            return Ok(());
        }
        if self.lists.limits_sizes() {
            size::check(&self.lists, recipe, facts)?;
            self.check_steps(recipe, facts)?;
        }
        self.check_quality(&recipe.output)?;
        self.check_output(&recipe.output, facts)
    }

    /// Checks the steps that do more than scale, turn and cut.
    fn check_steps(&self, recipe: &Recipe, facts: &Facts) -> Result<(), ResolveError> {
        for (at, step) in recipe.steps.iter().enumerate() {
            let is_free = match step {
                Step::Orient(_) | Step::Turn(_) | Step::Flip(_) => true,
                // Their sizes and positions are checked.
                Step::Exact(_) | Step::Shrink(_) | Step::Crop(_) => true,
                Step::Focus(_) => step.is_to_be_measured(),
                Step::Canvas(canvas) => is_plain_ground(canvas, &recipe.steps[..at], facts),
                _ => false,
            };
            if !is_free && !self.lists(step.word()) {
                return Err(self.unlisted(step.word(), step));
            }
        }
        Ok(())
    }

    fn check_quality(&self, output: &Output) -> Result<(), ResolveError> {
        let qualities = &self.lists.qualities;
        match output.goal {
            Some(Goal::Quality(q)) if !qualities.is_empty() && !qualities.contains(&q) => {
                Err(ResolveError::new(
                    format_args!("quality {q}"),
                    format!(
                        "unsigned URLs may ask for these qualities: {}",
                        list(qualities)
                    ),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Checks how the result is written, apart from its format and quality: as the dialect writes it by itself, or in
    /// words that are listed.
    fn check_output(&self, output: &Output, facts: &Facts) -> Result<(), ResolveError> {
        // Without limits of sizes, only what takes the place of a quality matters.
        let matters = |word| self.lists.limits_sizes() || GOALS.contains(&word);
        let said = |word| matters(word) && !FREE.contains(&word) && !self.lists(word);
        let said: Vec<_> = output.words().filter(|(word, _)| said(word)).collect();
        if said.is_empty() {
            return Ok(());
        }
        let usual: Vec<_> = (self.usual.iter())
            .filter_map(|rules| self.usual_output(&**rules, output, facts))
            .collect();
        let is_usual = |said: &(&str, String)| {
            usual
                .iter()
                .any(|output| output.words().any(|usual| usual == *said))
        };
        match said.iter().find(|said| !is_usual(said)) {
            None => Ok(()),
            Some((word, value)) => Err(self.unlisted(
                word,
                match value.is_empty() {
                    true => (*word).to_owned(),
                    false => format!("{word}:{value}"),
                },
            )),
        }
    }

    /// Returns how a usual request is written in the format of `output`, at its quality.
    fn usual_output(&self, rules: &dyn Rules, output: &Output, facts: &Facts) -> Option<Output> {
        let own = self.rules.output();
        let format = match &output.format {
            Some(format) => format.clone(),
            None => FormatName::new(&facts.format).ok()?,
        };
        let wanted = Output {
            format: Some(format),
            goal: match output.goal {
                Some(Goal::Quality(q)) => Some(Goal::Quality(q)),
                _ => rules.output().goal,
            },
            lossless: output.lossless,
            background: match self.says_background {
                true => rules.output().background,
                false => own.background,
            },
            ..rules.output().clone()
        };
        let recipe = rules.with_output(wanted).resolve(facts);
        recipe.ok().map(|recipe| recipe.output)
    }

    fn lists(&self, word: &str) -> bool {
        self.lists.words.iter().any(|listed| listed == word)
    }

    fn unlisted(&self, word: &str, piece: impl std::fmt::Display) -> ResolveError {
        let listed = match self.lists.words.is_empty() {
            true => "no words but those of sizes, turns and formats".to_owned(),
            false => format!("these words: {}", list(&self.lists.words)),
        };
        let why = format!("unsigned URLs may use {listed}; `permitted.words` can list `{word}`");
        ResolveError::new(piece, why)
    }
}

/// Whether a canvas only shows white, black, or the background of the format behind an image of its own size.
fn is_plain_ground(canvas: &Canvas, before: &[Step], facts: &Facts) -> bool {
    let plain = [Colour::WHITE, Colour::BLACK].contains(&canvas.colour);
    plain && size_after(before, facts) == Some((canvas.w, canvas.h))
}

/// Returns the values in rising order, separated by commas.
pub(super) fn list<T: Clone + Ord + ToString>(values: &[T]) -> String {
    let mut values = values.to_vec();
    values.sort_unstable();
    let texts: Vec<String> = values.iter().map(T::to_string).collect();
    texts.join(", ")
}
