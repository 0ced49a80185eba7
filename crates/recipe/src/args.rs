//! Declarations of arguments. Recipe words, effects, codec options and URL parameters each declare their arguments
//! once; parsing, error messages, the reference and the fuzz dictionaries all use the declaration.
//!
//! ```
//! use andon_recipe::args::Arg;
//! const EFFORT: Arg = Arg::whole("effort", 0, 9).default("4").help("speed against size");
//! assert_eq!(EFFORT.read_whole("7").unwrap(), 7);
//! assert_eq!(
//!     EFFORT.read_whole("12").unwrap_err().to_string(),
//!     "`12` is no part of a recipe: expected effort: a whole number from 0 to 9"
//! );
//! ```

mod word;

use std::fmt;

use crate::{Colour, Length, ParseError, nearest, spelling};

pub use word::Word;

/// Declaration of one argument: its name, the values that it accepts, and its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arg {
    /// Lower-case name, as used in the reference and in error messages.
    pub name: &'static str,
    /// Values that the argument accepts.
    pub kind: Kind,
    /// Unit of the argument's numbers, such as `px`; empty if they have none.
    pub unit: &'static str,
    /// Value that applies if the argument is absent; `None` if the argument is required.
    pub default: Option<&'static str>,
    /// Character before the argument: `:` starts a new argument, `x` and `+` continue the previous one, as in
    /// `WIDTHxHEIGHT`. `=` starts a named argument, as in `turn=30`, in any place after the required arguments.
    pub mark: char,
    /// One line on what the argument does, without a full stop.
    pub help: &'static str,
}

/// Values that an argument accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// No value: the presence of the word switches something on.
    Flag,
    /// A whole number between two bounds, both included.
    Whole {
        /// Smallest accepted number.
        least: i64,
        /// Largest accepted number.
        most: i64,
    },
    /// A decimal number between two bounds, both included.
    Number {
        /// Smallest accepted number.
        least: f64,
        /// Largest accepted number.
        most: f64,
    },
    /// A [`Length`]: pixels, or percent of a side, with this character after the number as the percent sign.
    Length(char),
    /// A [`Length`], or nothing: the side is then computed from the other one.
    Side,
    /// A [`Colour`].
    Colour,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text; the string is an example of it.
    Text(&'static str),
}

impl Arg {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            unit: "",
            default: None,
            mark: ':',
            help: "",
        }
    }

    /// Declares an argument that is switched on by the presence of its word.
    #[must_use]
    pub const fn flag(name: &'static str) -> Self {
        Self::new(name, Kind::Flag)
    }

    /// Declares an argument that accepts whole numbers from `least` to `most`.
    #[must_use]
    pub const fn whole(name: &'static str, least: i64, most: i64) -> Self {
        Self::new(name, Kind::Whole { least, most })
    }

    /// Declares an argument that accepts decimal numbers from `least` to `most`.
    #[must_use]
    pub const fn number(name: &'static str, least: f64, most: f64) -> Self {
        Self::new(name, Kind::Number { least, most })
    }

    /// Declares an argument that accepts pixels or percent.
    #[must_use]
    pub const fn length(name: &'static str) -> Self {
        Self::new(name, Kind::Length('%'))
    }

    /// Declares an argument that accepts pixels, or percent with another sign than `%`, which some URLs cannot
    /// contain.
    #[must_use]
    pub const fn length_with(name: &'static str, percent: char) -> Self {
        Self::new(name, Kind::Length(percent))
    }

    /// Declares an argument that accepts pixels, percent, or nothing.
    #[must_use]
    pub const fn side(name: &'static str) -> Self {
        Self::new(name, Kind::Side)
    }

    /// Declares an argument that accepts a colour.
    #[must_use]
    pub const fn colour(name: &'static str) -> Self {
        Self::new(name, Kind::Colour)
    }

    /// Declares an argument that accepts one of several words.
    #[must_use]
    pub const fn choice(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, Kind::Choice(words))
    }

    /// Declares an argument that accepts any text, with an example of it.
    #[must_use]
    pub const fn text(name: &'static str, example: &'static str) -> Self {
        Self::new(name, Kind::Text(example))
    }

    /// Returns the argument with a unit for its numbers.
    #[must_use]
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Returns the argument with a default, as it would be written. The argument may then be absent.
    #[must_use]
    pub const fn default(self, text: &'static str) -> Self {
        Self {
            default: Some(text),
            ..self
        }
    }

    /// Returns the argument with another character before it than `:`.
    #[must_use]
    pub const fn after(self, mark: char) -> Self {
        Self { mark, ..self }
    }

    /// Returns the argument as a named one. Named arguments are declared last and have a default.
    #[must_use]
    pub const fn named(self) -> Self {
        self.after('=')
    }

    /// Returns the argument with its line of help.
    #[must_use]
    pub const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// Returns the error for a text that could belong to this choice or to the next argument but fits neither. `error`
    /// is the error of the next argument.
    fn or(&self, error: ParseError) -> ParseError {
        let nearest = match self.kind {
            Kind::Choice(words) => nearest(&error.piece, words.iter().copied()),
            _ => None,
        };
        let hint = nearest.map_or(String::new(), |word| format!(" (did you mean `{word}`?)"));
        let expected = format!("{}: {self}; or {}{hint}", self.name, error.expected);
        ParseError { expected, ..error }
    }

    /// Checks whether the argument accepts `text`.
    ///
    /// # Errors
    /// [`ParseError`] with the text, the argument's name and what it accepts.
    pub fn check(&self, text: &str) -> Result<(), ParseError> {
        let fits = match self.kind {
            Kind::Flag => text.is_empty(),
            Kind::Whole { least, most } => whole(text, least, most).is_some(),
            Kind::Number { least, most } => number(text, least, most).is_some(),
            Kind::Length(percent) => match text.strip_suffix(percent) {
                Some(number) => format!("{number}%").parse::<Length>().is_ok(),
                None => !text.ends_with('%') && text.parse::<Length>().is_ok(),
            },
            Kind::Side => text.is_empty() || text.parse::<Length>().is_ok(),
            Kind::Colour => text.parse::<Colour>().is_ok(),
            Kind::Choice(words) => chosen(words, text).is_some(),
            Kind::Text(_) => true,
        };
        if fits { Ok(()) } else { Err(self.wrong(text)) }
    }

    /// Parses a whole number within the argument's range.
    ///
    /// # Errors
    /// [`ParseError`], also if the argument is of another kind.
    pub fn read_whole(&self, text: &str) -> Result<i64, ParseError> {
        match self.kind {
            Kind::Whole { least, most } => whole(text, least, most),
            _ => None,
        }
        .ok_or_else(|| self.wrong(text))
    }

    /// Parses a number within the argument's range.
    ///
    /// # Errors
    /// [`ParseError`], also if the argument is of another kind.
    pub fn read_number(&self, text: &str) -> Result<f64, ParseError> {
        match self.kind {
            Kind::Whole { least, most } => whole(text, least, most).map(|number| number as f64),
            Kind::Number { least, most } => number(text, least, most),
            _ => None,
        }
        .ok_or_else(|| self.wrong(text))
    }

    /// Returns the word of the choice that `text` is, in British or American spelling, as spelt in the declaration.
    ///
    /// # Errors
    /// [`ParseError`], also if the argument is of another kind.
    pub fn read_choice(&self, text: &str) -> Result<&'static str, ParseError> {
        match self.kind {
            Kind::Choice(words) => chosen(words, text),
            _ => None,
        }
        .ok_or_else(|| self.wrong(text))
    }

    /// Parses a colour.
    ///
    /// # Errors
    /// [`ParseError`] for any other text.
    pub fn read_colour(&self, text: &str) -> Result<Colour, ParseError> {
        text.parse().map_err(|_| self.wrong(text))
    }

    /// Returns the error for a text that the argument does not accept.
    #[must_use]
    pub fn wrong(&self, text: &str) -> ParseError {
        ParseError::new(text, format!("{}: {self}", self.name))
    }

    /// Returns examples of accepted texts, including both ends of a range, for fuzzers and tests.
    #[must_use]
    pub fn samples(&self) -> Vec<String> {
        match self.kind {
            Kind::Flag => Vec::new(),
            Kind::Whole { least, most } => vec![least.to_string(), most.to_string()],
            Kind::Number { least, most } => vec![least.to_string(), most.to_string()],
            Kind::Length(percent) => {
                vec!["1".to_owned(), "12.5".to_owned(), format!("50{percent}")]
            }
            Kind::Side => vec!["1".to_owned(), "12.5".to_owned(), "50%".to_owned()],
            Kind::Colour => vec!["ff8800".to_owned(), "00000080".to_owned()],
            Kind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            Kind::Text(example) => vec![example.to_owned()],
        }
    }
}

/// Describes the accepted values in words, such as `a whole number from 0 to 9`.
impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Flag => f.write_str("no argument"),
            Kind::Whole { least, most } => write!(f, "a whole number from {least} to {most}"),
            Kind::Number { least, most } => write!(f, "a number from {least} to {most}"),
            Kind::Length(percent) => {
                write!(f, "pixels such as `250`, or per cent such as `50{percent}`")
            }
            Kind::Side => f.write_str("pixels such as `250`, per cent such as `50%`, or nothing"),
            Kind::Colour => f.write_str(Colour::FORM),
            Kind::Choice(words) => f.write_str(&words.join(", ")),
            Kind::Text(example) => write!(f, "text such as `{example}`"),
        }?;
        if !self.unit.is_empty() {
            write!(f, " ({})", self.unit)?;
        }
        Ok(())
    }
}

/// Returns the word of a choice that `text` is, in British or American spelling.
fn chosen(words: &[&'static str], text: &str) -> Option<&'static str> {
    let spelt = spelling::usual(text);
    let is_it = |word: &&&str| **word == text || **word == spelt;
    words.iter().find(is_it).copied()
}

/// Parses a whole number from `least` to `most` in plain form: digits, possibly after `-`, without blanks or `+`.
fn whole(text: &str, least: i64, most: i64) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = plain.then(|| text.parse().ok()).flatten()?;
    (least..=most).contains(&number).then_some(number)
}

/// Parses a decimal number from `least` to `most`, without `+` and exponent.
fn number(text: &str, least: f64, most: f64) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = plain.then(|| text.parse().ok()).flatten()?;
    (least..=most).contains(&number).then_some(number + 0.0)
}

#[cfg(test)]
mod tests;
