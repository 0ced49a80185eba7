//! Prints a recipe as its text.

use std::fmt;

use crate::words::SAME;
use crate::{Recipe, output};

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = Pieces { f, first: true };
        for step in &self.steps {
            pieces.put(step)?;
        }
        for setting in output::settings() {
            let word = setting.word.name;
            match (setting.write)(&self.output) {
                None => {}
                Some(value) if value.is_empty() => pieces.put(word)?,
                Some(value) => pieces.put(format_args!("{word}:{value}"))?,
            }
        }
        if pieces.first {
            f.write_str(SAME.name)?;
        }
        Ok(())
    }
}

/// Prints the pieces of a recipe, separated by commas.
struct Pieces<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    first: bool,
}

impl Pieces<'_, '_> {
    fn put(&mut self, piece: impl fmt::Display) -> fmt::Result {
        if !self.first {
            self.f.write_str(",")?;
        }
        self.first = false;
        write!(self.f, "{piece}")
    }
}
