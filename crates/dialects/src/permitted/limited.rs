//! Rules that refuse recipes that are not permitted.

use std::sync::Arc;

use andon_recipe::{
    Canvas, Colour, Facts, FormatName, Goal, Measure, Orientation, Output, Recipe, ResolveError,
    Rules, Step, Wish, size_after,
};

use super::{PermittedConfig, size};

/// The rules of a request, to which the lists of `[permitted]` apply.
#[derive(Clone, Debug)]
pub(super) struct LimitedRules {
    pub(super) rules: Arc<dyn Rules>,
    /// Rules of the example URL ([`Dialect::example`](crate::dialect::Dialect::example)) of the request's dialect, or
    /// of several dialects if it is not known. Their output settings are the default ones.
    pub(super) default_rules: Arc<[Arc<dyn Rules>]>,
    /// Whether the request names a background. If not, the background in its output settings is the server's.
    pub(super) says_background: bool,
    pub(super) lists: Arc<PermittedConfig>,
}

impl Rules for LimitedRules {
    fn text(&self) -> String {
        self.rules.text()
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let recipe = self.rules.resolve(facts)?;
        // Clients cannot choose where a measured crop lies, so that the lists do not restrict it.
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

    fn overlays(&self) -> Vec<String> {
        self.rules.overlays()
    }

    fn permits(&self, recipe: &Recipe, facts: &Facts) -> Result<(), ResolveError> {
        self.check(recipe, facts)
    }

    fn wish(&self) -> Option<Wish> {
        self.rules.wish()
    }
}

/// Names of output settings that any URL may use, because they have few values, or because dialects set them by other
/// options: format, losslessness, which metadata are kept. The values of `q` have a list of their own in `[permitted]`.
const FREE: &[&str] = &["as", "moving", "lossless", "metadata", "stored", "q"];

/// Names of output settings that stand in place of a quality.
const GOALS: &[&str] = &["max", "score"];

impl LimitedRules {
    /// Checks whether a recipe in whole pixels is permitted.
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

    /// Checks the steps that do more than scale, turn and crop: `[permitted]` must list them.
    fn check_steps(&self, recipe: &Recipe, facts: &Facts) -> Result<(), ResolveError> {
        for (at, step) in recipe.steps.iter().enumerate() {
            let is_free = match step {
                Step::Orient(_) | Step::Turn(_) | Step::Flip(_) => true,
                // The sizes and positions of these steps are checked with the size of the result.
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

    /// Checks the output settings other than format and quality: they must be the dialect's defaults, or `[permitted]`
    /// must list their names.
    fn check_output(&self, output: &Output, facts: &Facts) -> Result<(), ResolveError> {
        // Unless sizes are limited, only words that take the place of a quality matter.
        let matters = |word| self.lists.limits_sizes() || GOALS.contains(&word);
        let is_checked = |word| matters(word) && !FREE.contains(&word) && !self.lists(word);
        let words: Vec<_> = output
            .words()
            .filter(|(word, _)| is_checked(word))
            .collect();
        if words.is_empty() {
            return Ok(());
        }
        let default_outputs: Vec<_> = (self.default_rules.iter())
            .filter_map(|rules| self.default_output(&**rules, output, facts))
            .collect();
        let is_usual = |word: &(&str, String)| {
            default_outputs
                .iter()
                .any(|output| output.words().any(|default_word| default_word == *word))
        };
        match words.iter().find(|word| !is_usual(word)) {
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

    /// Returns the output settings of `rules`, which are those of an example URL, for the format and quality of
    /// `output`.
    fn default_output(&self, rules: &dyn Rules, output: &Output, facts: &Facts) -> Option<Output> {
        let request_output = self.rules.output();
        let format = match &output.format {
            Some(format) => format.clone(),
            None => FormatName::new(&facts.format).ok()?,
        };
        let output_settings = Output {
            format: Some(format),
            goal: match output.goal {
                Some(Goal::Quality(q)) => Some(Goal::Quality(q)),
                _ => rules.output().goal,
            },
            lossless: output.lossless,
            background: match self.says_background {
                true => rules.output().background,
                false => request_output.background,
            },
            ..rules.output().clone()
        };
        let recipe = rules.with_output(output_settings).resolve(facts);
        recipe.ok().map(|recipe| recipe.output)
    }

    fn lists(&self, word: &str) -> bool {
        self.lists.words.iter().any(|entry| entry == word)
    }

    fn unlisted(&self, word: &str, piece: impl std::fmt::Display) -> ResolveError {
        let permitted = match self.lists.words.is_empty() {
            true => "no words but those of sizes, turns and formats".to_owned(),
            false => format!("these words: {}", list(&self.lists.words)),
        };
        let why = format!("unsigned URLs may use {permitted}; `permitted.words` can list `{word}`");
        ResolveError::new(piece, why)
    }
}

/// Whether a canvas has the same size as the image on it and is white or black, so that it only fills the image's
/// transparent parts.
fn is_plain_ground(canvas: &Canvas, before: &[Step], facts: &Facts) -> bool {
    let plain = [Colour::WHITE, Colour::BLACK].contains(&canvas.colour);
    plain && size_after(before, facts) == Some((canvas.w, canvas.h))
}

/// Returns the values in ascending order, separated by commas.
pub(super) fn list<T: Clone + Ord + ToString>(values: &[T]) -> String {
    let mut values = values.to_vec();
    values.sort_unstable();
    let texts: Vec<String> = values.iter().map(T::to_string).collect();
    texts.join(", ")
}
