//! Arguments whose words each stand for a value of a type.

use crate::{ParseError, Word, spelling};

/// The words that an argument accepts, and the value of each word.
pub(crate) struct Choices<T: 'static> {
    /// The accepted words, which the argument's declaration lists, too.
    pub(crate) words: &'static [&'static str],
    /// The values, in the order of their words.
    pub(crate) values: &'static [T],
}

impl<T: Copy + PartialEq> Choices<T> {
    /// Returns the value that a word stands for.
    ///
    /// # Errors
    /// [`ParseError`] for a text that is none of the words.
    pub(crate) fn value(&self, word: &str) -> Result<T, ParseError> {
        let spelt = spelling::usual(word);
        let is_match = |entry: &&str| *entry == word || *entry == spelt;
        let place = self.words.iter().position(is_match);
        let value = place.and_then(|place| self.values.get(place));
        value
            .copied()
            .ok_or_else(|| ParseError::new(word, self.words.join(", ")))
    }

    /// Reads the only argument of `word`, one of these choices.
    ///
    /// # Errors
    /// [`ParseError`] for any other arguments.
    pub(crate) fn read(&self, word: &Word, parts: &[String]) -> Result<T, ParseError> {
        let [text] = word.texts(parts)?;
        self.value(text)
    }

    /// Returns the word that stands for a value; empty if there is none.
    pub(crate) fn word(&self, value: T) -> &'static str {
        let place = self.values.iter().position(|entry| *entry == value);
        let word = place.and_then(|place| self.words.get(place));
        word.copied().unwrap_or_default()
    }
}

impl<T: Copy + Default + PartialEq> Choices<T> {
    /// Returns the word that stands for a value; `None` for the default value.
    pub(crate) fn unless_default(&self, value: T) -> Option<String> {
        (value != T::default()).then(|| self.word(value).to_owned())
    }
}
