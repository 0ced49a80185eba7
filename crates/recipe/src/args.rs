//! Declared arguments. Recipe words, effects, codec options and URL parameters each declare once what
//! they take; parsing, error messages, the reference and the fuzz dictionaries all read the declaration.
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

use std::fmt;

use crate::{Colour, Length, ParseError, nearest, spelling};

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
    /// `WIDTHxHEIGHT`. `=` starts one that is written with its name, as in `turn=30`, in any place after the required
    /// arguments.
    pub mark: char,
    /// One line on what the argument does, without a full stop.
    pub help: &'static str,
}

/// Values that an argument accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// No value: the word alone switches something on.
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
    /// A [`Length`]: pixels, or per cent of a side with this sign after the number.
    Length(char),
    /// A [`Length`], or nothing: the side then follows from the other one.
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

    /// Declares an argument that is on when its word is present.
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

    /// Declares an argument that accepts pixels or per cent.
    #[must_use]
    pub const fn length(name: &'static str) -> Self {
        Self::new(name, Kind::Length('%'))
    }

    /// Declares an argument that accepts pixels, or per cent with a sign other than `%`, as some URLs need.
    #[must_use]
    pub const fn length_with(name: &'static str, percent: char) -> Self {
        Self::new(name, Kind::Length(percent))
    }

    /// Declares an argument that accepts pixels, per cent, or nothing.
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

    /// Returns the argument with a unit.
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

    /// Returns the argument with another mark before it than `:`.
    #[must_use]
    pub const fn after(self, mark: char) -> Self {
        Self { mark, ..self }
    }

    /// Returns the argument as one that is written with its name. Such arguments are declared last and have a default.
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
    /// is that of the next argument.
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

    /// Returns the word of the choice that `text` is, in British or American spelling, as it stands in the declaration.
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

/// Declaration of a word of the language and its arguments: an effect, a step, an output option or a URL parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// Arguments in order; optional ones come last.
    pub args: &'static [Arg],
    /// One line on what the word does, without a full stop.
    pub help: &'static str,
    /// An example of the word in use; tests parse it.
    pub example: &'static str,
}

impl Word {
    /// Assigns to each declared argument its text, or `None` if it is absent, and checks every given text. `parts` are
    /// the decoded texts between colons. A choice that has a default may be left out even before other arguments.
    ///
    /// # Errors
    /// [`ParseError`] for an argument that is missing or wrong, and for too many arguments.
    pub fn read<'a, const N: usize>(
        &self,
        parts: &'a [String],
    ) -> Result<[Option<&'a str>; N], ParseError> {
        let mut texts = [None; N];
        let mut slots = texts.as_mut_slice();
        for group in self.groups() {
            let length = group.len().min(slots.len());
            let (own, others) = std::mem::take(&mut slots).split_at_mut(length);
            slots = others;
            let name = group.first().filter(|arg| arg.mark == '=');
            let given = parts.iter().enumerate().filter_map(|(index, part)| {
                match (self.name_of(index, part), name) {
                    (None, None) => Some(part.as_str()),
                    (Some((other, text)), Some(arg)) if arg.name == other => Some(text),
                    _ => None,
                }
            });
            if !assign(group, own, given)? {
                return Err(self.form(parts));
            }
        }
        Ok(texts)
    }

    /// Returns the arguments in groups: first those that are known by their place, and then, one group for each, those
    /// that are written with their names, with what continues them.
    fn groups(&self) -> impl Iterator<Item = &'static [Arg]> {
        let is_named = |arg: &Arg| arg.mark == '=';
        let first = self.args.iter().position(is_named);
        let (placed, named) = self.args.split_at(first.unwrap_or(self.args.len()));
        let starts = (0..named.len()).filter(move |at| is_named(&named[*at]));
        let groups = starts.map(move |start| {
            let after = named[start + 1..].iter().position(is_named);
            &named[start..after.map_or(named.len(), |after| start + 1 + after)]
        });
        std::iter::once(placed).chain(groups)
    }

    /// Splits a part that is an argument with its name, at `index` among the parts. The required arguments come first
    /// and may be any text.
    fn name_of<'a>(&self, index: usize, part: &'a str) -> Option<(&'static str, &'a str)> {
        let is_required = |arg: &&Arg| arg.default.is_none() && arg.mark == ':';
        let required = self.args.iter().filter(is_required).count();
        let (name, text) = part.split_once('=').filter(|_| index >= required)?;
        let arg = self
            .args
            .iter()
            .find(|arg| arg.mark == '=' && arg.name == name)?;
        Some((arg.name, text))
    }

    /// Checks whether the word's only argument accepts `value`. A word without arguments accepts the empty value.
    ///
    /// # Errors
    /// [`ParseError`] with the value and what would be accepted.
    pub fn check(&self, value: &str) -> Result<(), ParseError> {
        match self.args {
            [] if value.is_empty() => Ok(()),
            [arg] if value.is_empty() && arg.default.is_some() => Ok(()),
            [arg] => arg.check(value),
            _ => Err(self.form(&[value.to_owned()])),
        }
    }

    /// Assigns to each declared argument its text as `read` does, or else its default, which is empty if it has none.
    ///
    /// # Errors
    /// [`ParseError`] for an argument that is missing or wrong, and for too many arguments.
    pub(crate) fn texts<'a, const N: usize>(
        &self,
        parts: &'a [String],
    ) -> Result<[&'a str; N], ParseError> {
        let mut defaults = self.args.iter().map(|arg| arg.default.unwrap_or_default());
        let texts = self.read(parts)?;
        Ok(texts.map(|text| {
            defaults
                .next()
                .map_or("", |default| text.unwrap_or(default))
        }))
    }

    /// Reads the word's only argument, a whole number.
    ///
    /// # Errors
    /// [`ParseError`] for any other arguments.
    pub(crate) fn whole<T: TryFrom<i64>>(&self, parts: &[String]) -> Result<T, ParseError> {
        let [text] = self.texts(parts)?;
        let number = self.args[0].read_whole(text)?;
        T::try_from(number).map_err(|_| self.form(parts))
    }

    /// Returns the error for arguments that do not match the word's form.
    pub(crate) fn form(&self, parts: &[String]) -> ParseError {
        self.wrong(parts, format!("`{self}`, as in `{}`", self.example))
    }

    /// Returns the error for arguments in place of which something else is expected.
    pub(crate) fn wrong(&self, parts: &[String], expected: impl Into<String>) -> ParseError {
        let mut piece = self.name.to_owned();
        for part in parts {
            piece.push(':');
            piece.push_str(part);
        }
        ParseError::new(piece, expected)
    }
}

/// Writes the word's form, such as `unsharp:RADIUSxSIGMA[+AMOUNT[+THRESHOLD]]`.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let mut open = 0;
        for arg in self.args {
            if arg.mark == '=' {
                f.write_str(&"]".repeat(open))?;
                open = 0;
            }
            if arg.default.is_some() {
                f.write_str("[")?;
                open += 1;
            }
            match arg.mark {
                '=' => write!(f, ":{}=", arg.name)?,
                mark => write!(f, "{mark}")?,
            }
            match arg.kind {
                Kind::Choice(words) => f.write_str(&words.join("|"))?,
                _ => f.write_str(&arg.name.to_uppercase())?,
            }
        }
        f.write_str(&"]".repeat(open))
    }
}

/// Assigns to each of these arguments its text, or `None` if it is absent. Returns whether all that is required is there
/// and nothing is left.
fn assign<'a>(
    args: &[Arg],
    slots: &mut [Option<&'a str>],
    parts: impl Iterator<Item = &'a str>,
) -> Result<bool, ParseError> {
    let mut parts = parts.peekable();
    let mut rest: Option<&str> = None;
    let mut left_out: Option<&Arg> = None;
    for (index, (arg, slot)) in args.iter().zip(slots).enumerate() {
        let text = match arg.mark {
            ':' | '=' if rest.is_some() => return Ok(false),
            ':' | '=' => parts.peek().copied(),
            mark => rest.and_then(|rest| rest.strip_prefix(mark)),
        };
        let Some(text) = text else {
            match arg.default {
                None => return Ok(false),
                Some(_) => continue,
            }
        };
        // The text ends where the next argument of the same part begins.
        let next = args.get(index + 1);
        let end = next
            .filter(|next| next.mark != ':')
            .and_then(|next| text.find(next.mark));
        let (own, after) = match end {
            Some(end) => (&text[..end], Some(&text[end..])),
            None => (text, None),
        };
        let checked = arg.check(own);
        let is_left_out = checked.is_err() && arg.default.is_some() && next.is_some();
        if is_left_out && matches!(arg.kind, Kind::Choice(_)) {
            left_out = Some(arg);
            continue;
        }
        checked.map_err(|error| match left_out {
            Some(other) => other.or(error),
            None => error,
        })?;
        *slot = Some(own);
        rest = after;
        if matches!(arg.mark, ':' | '=') {
            parts.next();
        }
    }
    Ok(rest.is_none() && parts.next().is_none())
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
mod tests {
    use super::*;

    const MASK: Word = Word {
        name: "unsharp",
        args: &[
            Arg::number("radius", 0.0, 1000.0).unit("px"),
            Arg::number("sigma", 0.0, 1000.0).after('x').default("0"),
            Arg::number("amount", 0.0, 1000.0).after('+').default("1"),
            Arg::colour("colour").default("000000"),
        ],
        help: "unsharp mask",
        example: "unsharp:0x1+0.7",
    };

    fn read(parts: &[&str]) -> Result<[Option<String>; 4], ParseError> {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let texts = MASK.read(&parts)?;
        Ok(texts.map(|text| text.map(str::to_owned)))
    }

    #[test]
    fn every_argument_gets_its_text_and_absent_ones_get_none() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            read(&["2x1+0.5", "ff8800"]).unwrap(),
            [text("2"), text("1"), text("0.5"), text("ff8800")]
        );
        assert_eq!(read(&["2x1"]).unwrap(), [text("2"), text("1"), None, None]);
        assert_eq!(read(&["2"]).unwrap(), [text("2"), None, None, None]);
    }

    #[test]
    fn what_is_missing_wrong_or_too_much_is_named() {
        for (parts, piece) in [
            (&[][..], "unsharp"),
            (&["x"], ""),
            (&["2x"], ""),
            (&["2x1+1+1"], "1+1"),
            (&["2x1+nan"], "nan"),
            (&["2x1+1e3"], "1e3"),
            (&["2x-1"], "-1"),
            (&["2x1", "redd"], "redd"),
            (&["2x1", "ff8800", "more"], "unsharp:2x1:ff8800:more"),
        ] {
            let error = read(parts).expect_err("an error");
            assert_eq!(error.piece, piece, "{parts:?}");
        }
    }

    #[test]
    fn a_word_prints_its_form() {
        assert_eq!(MASK.to_string(), "unsharp:RADIUS[xSIGMA[+AMOUNT[:COLOUR]]]");
        assert_eq!(
            LABEL.to_string(),
            "label:TEXT[:SIZE][:line=LINE[xINK]][:turn=TURN]"
        );
    }

    /// A word with arguments that are written with their names.
    const LABEL: Word = Word {
        name: "label",
        args: &[
            Arg::text("text", "a"),
            Arg::number("size", 1.0, 99.0).default("9"),
            Arg::number("line", 0.0, 9.0).named().default("0"),
            Arg::colour("ink").after('x').default("000000"),
            Arg::number("turn", -360.0, 360.0).named().default("0"),
        ],
        help: "writes",
        example: "label:a:9:turn=30",
    };

    #[test]
    fn named_arguments_stand_in_any_order_after_the_required_ones() {
        let read = |parts: &[&str]| {
            let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            let texts: [Option<&str>; 5] = LABEL.read(&parts)?;
            Ok::<_, ParseError>(texts.map(|text| text.unwrap_or("-").to_owned()))
        };
        let all = ["a", "7", "2", "ff0000", "30"].map(str::to_owned);
        for parts in [
            ["a", "7", "line=2xff0000", "turn=30"],
            ["a", "turn=30", "7", "line=2xff0000"],
            ["a", "line=2xff0000", "turn=30", "7"],
        ] {
            assert_eq!(read(&parts), Ok(all.clone()), "{parts:?}");
        }
        // The first one is required, and so it is text.
        assert_eq!(read(&["turn=30", "turn=40"]).unwrap()[4], "40");
        assert_eq!(read(&["turn=30"]).unwrap()[0], "turn=30");
        for (parts, piece) in [
            (&["a", "turn=1", "turn=2"][..], "label:a:turn=1:turn=2"),
            (&["a", "turn="], ""),
            (&["a", "turn=x"], "x"),
            (&["a", "line=2xred5"], "red5"),
            (&["a", "size=7"], "size=7"),
        ] {
            assert_eq!(read(parts).expect_err("an error").piece, piece, "{parts:?}");
        }
    }

    #[test]
    fn samples_are_what_the_argument_may_say() {
        for arg in MASK.args {
            for sample in arg.samples() {
                assert_eq!(arg.check(&sample), Ok(()), "{sample}");
            }
        }
    }

    #[test]
    fn numbers_are_written_plainly() {
        const ARG: Arg = Arg::whole("n", -5, 5);
        for wrong in ["+1", " 1", "1 ", "", "-", "6", "1.0", "0x1", "٣"] {
            assert!(ARG.read_whole(wrong).is_err(), "{wrong}");
        }
        assert_eq!(ARG.read_whole("-5"), Ok(-5));
    }
}
