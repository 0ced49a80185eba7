//! What is wrong with a file of settings, said so that it can be corrected at once: file, line, key, offending
//! value and the nearest word that is known. The server's configuration and the lab's scenarios are such files.

#![forbid(unsafe_code)]

use std::fmt;
use std::path::{Path, PathBuf};

use andon_recipe::unknown;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong, on which line of which file, and what would do instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Error {
    what: String,
    key: String,
    line: Option<usize>,
    file: Option<PathBuf>,
}

impl Error {
    /// An error about the key with this path, e.g. `load.rate` or `variant.2.env`; empty: about the whole.
    pub fn new(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            key: key.into(),
            ..Self::default()
        }
    }

    /// The same error, found in this file.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.to_owned());
        self
    }

    /// The same error, on this line (the first is 1).
    #[must_use]
    pub fn on_line(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// Finds the line of the key in the text that it was read from.
    #[must_use]
    pub fn located(self, text: &str) -> Self {
        let Ok(document) = DeTable::parse(text) else {
            return self;
        };
        let mut keys = Vec::new();
        collect(document.get_ref(), "", &mut keys);
        let position = ancestors(&self.key)
            .find_map(|path| keys.iter().find(|(key, _)| key == path))
            .map(|(_, position)| *position);
        match position {
            Some(position) => self.on_line(line_of(text, position)),
            None => self,
        }
    }

    /// A text that is no TOML, or has other keys and values than are expected. `also` are keys at its top that are
    /// known besides those that the error lists.
    #[must_use]
    pub fn from_toml(error: &toml::de::Error, text: &str, also: &[&str]) -> Self {
        let Some(span) = error.span() else {
            return Self::new("", plainly(error.message()));
        };
        let line = line_of(text, span.start);
        let mut keys = Vec::new();
        if let Ok(document) = DeTable::parse(text) {
            collect(document.get_ref(), "", &mut keys);
        }
        if let Some((kind, wrong, mut known)) = unknown_word(error.message()) {
            if keys.iter().any(|(key, _)| key == wrong) {
                known.extend(also);
            }
            return Self::new("", unknown(kind, wrong, &known)).on_line(line);
        }
        let key = keys
            .into_iter()
            .filter(|(_, position)| *position <= span.start)
            .max_by_key(|(_, position)| *position)
            .map(|(key, _)| key);
        Self::new(key.unwrap_or_default(), plainly(error.message())).on_line(line)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}, line {line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if !self.key.is_empty() {
            let words = self.key.split('.').filter(|word| !is_index(word));
            write!(f, "`{}`: ", words.collect::<Vec<_>>().join("."))?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}

/// Nothing if `good`, else an error about this key.
///
/// # Errors
/// That one.
pub fn check(
    good: bool,
    key: impl Into<String>,
    what: impl FnOnce() -> String,
) -> Result<(), Error> {
    match good {
        true => Ok(()),
        false => Err(Error::new(key, what())),
    }
}

/// Serde's sentence about an unknown field or variant carries the offending word and the known ones, all in
/// backticks and in that order; nothing else tells them.
fn unknown_word(message: &str) -> Option<(&'static str, &str, Vec<&str>)> {
    let kind = match message {
        _ if message.starts_with("unknown field") => "key",
        _ if message.starts_with("unknown variant") => "value",
        _ => return None,
    };
    let mut words = message.split('`').skip(1).step_by(2);
    Some((kind, words.next()?, words.collect()))
}

/// Serde's names of what it expected and what is missing, in the words of whoever writes the file.
fn plainly(message: &str) -> String {
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {key} is missing here");
    }
    let Some((found, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "usize" | "u64" | "u32" | "u16" => "a whole number from 0 up",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list: [ ] of values, [[ ]] of tables",
        "a map" => "a table: { name = value }",
        _ if expected.starts_with("struct ") => "a table: [name] and its keys below",
        other => other,
    };
    format!("{found}expected {expected}")
}

/// Every key of a document with its path (`variant.0.env`) and its position in the text.
fn collect(table: &DeTable<'_>, above: &str, keys: &mut Vec<(String, usize)>) {
    for (key, value) in table {
        let path = join(above, key.get_ref());
        keys.push((path.clone(), key.span().start));
        collect_value(value, &path, keys);
    }
}

fn collect_value(value: &Spanned<DeValue<'_>>, path: &str, keys: &mut Vec<(String, usize)>) {
    match value.get_ref() {
        DeValue::Table(inner) => collect(inner, path, keys),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = join(path, &index.to_string());
                keys.push((path.clone(), item.span().start));
                collect_value(item, &path, keys);
            }
        }
        _ => {}
    }
}

fn join(above: &str, word: &str) -> String {
    if above.is_empty() {
        word.to_owned()
    } else {
        format!("{above}.{word}")
    }
}

/// `a.b.c`, `a.b`, `a`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(up, _)| up))
}

fn is_index(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn line_of(text: &str, position: usize) -> usize {
    let before = text.get(..position).unwrap_or(text);
    before.matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_on_its_line_also_in_the_second_of_several_tables() {
        let text =
            "a = 1\n[[origin]]\nprefix = \"/\"\n\n[[origin]]\nprefix = \"/x\"\nhttp.base = \"b\"\n";
        let line = |key: &str| Error::new(key, "is wrong").located(text).to_string();
        assert_eq!(line("a"), "line 1: `a`: is wrong");
        assert_eq!(line("origin.1.prefix"), "line 6: `origin.prefix`: is wrong");
        assert_eq!(
            line("origin.1.http.base"),
            "line 7: `origin.http.base`: is wrong"
        );
        assert_eq!(
            line("origin.1.http.ca"),
            "line 7: `origin.http.ca`: is wrong"
        );
        assert_eq!(line("b"), "`b`: is wrong");
        let file = Error::new("", "it cannot be read").in_file(Path::new("x.toml"));
        assert_eq!(file.to_string(), "x.toml: it cannot be read");
    }
}
