//! Parses a text into a recipe.

use std::str::FromStr;

use crate::output::{self, WITH};
use crate::words::{SAME, is_taken};
use crate::{Orient, Original, ParseError, Recipe, Step, StoredTurn, options, spelling};

impl FromStr for Recipe {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == SAME.name {
            return Ok(Self::default());
        }
        let mut reader = Reader::default();
        for piece in text.split(',') {
            reader
                .piece(piece)
                .map_err(|error| reader.explained(piece, error))?;
        }
        let recipe = reader.recipe;
        if recipe.is_original() && recipe != Self::original() {
            return Err(ParseError::new(
                Step::Original(Original).word(),
                "`original` to stand alone, without other steps",
            ));
        }
        if recipe.output.lossless && recipe.output.goal.is_some() {
            return Err(ParseError::new(
                options::LOSSLESS.name,
                "`lossless` without `q`, `max` and `score`",
            ));
        }
        let orient = Step::Orient(Orient);
        if recipe.output.stored_turn != StoredTurn::Applied && recipe.steps.contains(&orient) {
            return Err(ParseError::new(
                orient.word(),
                "`orient` or `stored`, not both",
            ));
        }
        Ok(recipe)
    }
}

#[derive(Default)]
struct Reader {
    recipe: Recipe,
    /// Words read so far that may occur only once in a recipe.
    used_words: Vec<&'static str>,
}

impl Reader {
    fn piece(&mut self, piece: &str) -> Result<(), ParseError> {
        let mut parts = piece.split(':');
        let word = spelling::usual(parts.next().unwrap_or_default());
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        if word.is_empty() {
            return Err(ParseError::new(
                piece,
                "a step such as `fit:250x250`; the text that changes nothing is `same`",
            ));
        }
        if self.output(word, &parts)? {
            return Ok(());
        }
        if word == SAME.name {
            return Err(ParseError::new(
                piece,
                "`same` to stand alone, without other steps",
            ));
        }
        let step = Step::read(word, &parts)?;
        if step == Step::Original(Original) {
            self.mark_used("original", piece)?;
        }
        if self.recipe.steps.len() == Recipe::MOST_STEPS {
            return Err(ParseError::new(
                piece,
                format!("at most {} steps", Recipe::MOST_STEPS),
            ));
        }
        self.recipe.steps.push(step);
        Ok(())
    }

    /// Adds a hint to the error of a piece of a recipe, unless the piece begins with a word of recipes that is not an
    /// effect: it may belong to the text of the effect before it.
    fn explained(&self, piece: &str, error: ParseError) -> ParseError {
        let word = spelling::usual(piece.split(':').next().unwrap_or_default());
        match self.recipe.steps.last() {
            Some(Step::Effect(effect)) if !is_taken(word) => effect.explain(error),
            _ => error,
        }
    }

    /// Parses a word that controls how the result is written. Returns `false` for any other word.
    fn output(&mut self, word: &str, parts: &[String]) -> Result<bool, ParseError> {
        let Some(setting) = output::settings().find(|setting| setting.word.name == word) else {
            return Ok(false);
        };
        (setting.read)(&mut self.recipe.output, parts)?;
        if word != WITH.name {
            self.mark_used(setting.word.name, word)?;
        }
        Ok(true)
    }

    fn mark_used(&mut self, word: &'static str, piece: &str) -> Result<(), ParseError> {
        if self.used_words.contains(&word) {
            return Err(ParseError::new(piece, format!("`{word}` at most once")));
        }
        self.used_words.push(word);
        Ok(())
    }
}
