//! Words with their arguments, and how the texts that follow a word are assigned to its arguments.

use std::fmt;

use super::{Arg, Kind};
use crate::{ParseError, nearest};

/// Declaration of a word and its arguments: an effect, a step or an output option of recipes, or a URL parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word {
    /// The word itself, without its arguments.
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
            let (group_slots, others) = std::mem::take(&mut slots).split_at_mut(length);
            slots = others;
            let name = group.first().filter(|arg| arg.mark == '=');
            let values = parts.iter().enumerate().filter_map(|(index, part)| {
                match (self.name_of(index, part), name) {
                    (None, None) => Some(part.as_str()),
                    (Some((other, text)), Some(arg)) if arg.name == other => Some(text),
                    _ => None,
                }
            });
            match assign(group, group_slots, values) {
                Ok(true) => {}
                Ok(false) => return Err(self.form(parts)),
                Err(error) => return Err(self.or_named(error)),
            }
        }
        Ok(texts)
    }

    /// Returns the arguments in groups: first the positional ones, then one group for each named argument, with the
    /// arguments that continue it.
    fn groups(&self) -> impl Iterator<Item = &'static [Arg]> {
        let is_named = |arg: &Arg| arg.mark == '=';
        let first = self.args.iter().position(is_named);
        let (positional, named) = self.args.split_at(first.unwrap_or(self.args.len()));
        let starts = (0..named.len()).filter(move |at| is_named(&named[*at]));
        let groups = starts.map(move |start| {
            let after = named[start + 1..].iter().position(is_named);
            &named[start..after.map_or(named.len(), |after| start + 1 + after)]
        });
        std::iter::once(positional).chain(groups)
    }

    /// Adds a hint to an error about a text of the form `name=value`: the names of this word's named arguments.
    fn or_named(&self, error: ParseError) -> ParseError {
        let named = self.args.iter().filter(|arg| arg.mark == '=');
        let names: Vec<&str> = named.map(|arg| arg.name).collect();
        let Some((name, _)) = error.piece.split_once('=').filter(|_| !names.is_empty()) else {
            return error;
        };
        let hint = nearest(name, names.iter().copied());
        let hint = hint.map_or(String::new(), |name| format!(" (did you mean `{name}=`?)"));
        let expected = format!("{}; or {}={hint}", error.expected, names.join("=, "));
        ParseError { expected, ..error }
    }

    /// Splits part number `index` of the arguments, such as `turn=30`, into the name and the text of a named argument.
    /// `None` if the part is not a named argument: the first parts belong to the required arguments, whose texts may
    /// contain `=`.
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

    /// Assigns to each declared argument its text or, if it is absent, its default; an empty text if it has no default.
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

    /// Returns the error for arguments that do not match the word's syntax.
    pub(crate) fn form(&self, parts: &[String]) -> ParseError {
        let (form, example) = (self.to_string(), self.example);
        let expected = match form.chars().count() <= LONGEST_FORM {
            true => format!("`{form}`, as in `{example}`"),
            false => format!(
                "`{}[:…]`, as in `{example}`; `andon reference` has the other arguments",
                self.required()
            ),
        };
        self.wrong(parts, expected)
    }

    /// Returns the word with its required arguments.
    fn required(&self) -> String {
        let required = self.args.iter().take_while(|arg| arg.default.is_none());
        required.fold(self.name.to_owned(), |form, arg| {
            format!("{form}{}{}", arg.mark, arg.name.to_uppercase())
        })
    }

    /// Returns the error for arguments of this word, with the text that was expected instead.
    pub(crate) fn wrong(&self, parts: &[String], expected: impl Into<String>) -> ParseError {
        let mut piece = self.name.to_owned();
        for part in parts {
            piece.push(':');
            piece.push_str(part);
        }
        ParseError::new(piece, expected)
    }
}

/// Longest syntax of a word, in characters, that an error message shows in full.
const LONGEST_FORM: usize = 120;

/// Writes the word with the syntax of its arguments, such as `unsharp:RADIUSxSIGMA[+AMOUNT[+THRESHOLD]]`.
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

/// Assigns to each of these arguments its text, or `None` if it is absent. Returns whether all required arguments are
/// present and no text is left over.
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
        // The text ends where the next argument in the same part begins.
        let next = args.get(index + 1);
        let end = next
            .filter(|next| next.mark != ':')
            .and_then(|next| text.find(next.mark));
        let (value, after) = match end {
            Some(end) => (&text[..end], Some(&text[end..])),
            None => (text, None),
        };
        let check = arg.check(value);
        let is_left_out = check.is_err() && arg.default.is_some() && next.is_some();
        if is_left_out && matches!(arg.kind, Kind::Choice(_)) {
            left_out = Some(arg);
            continue;
        }
        check.map_err(|error| match left_out {
            Some(other) => other.or(error),
            None => error,
        })?;
        *slot = Some(value);
        rest = after;
        if matches!(arg.mark, ':' | '=') {
            parts.next();
        }
    }
    Ok(rest.is_none() && parts.next().is_none())
}
