//! Errors in configuration files, with all that is needed to correct them: file, line, key, offending value and the
//! nearest known word. Such files are the server's configuration and the lab's scenarios.

#![forbid(unsafe_code)]

use std::fmt;
use std::path::Path;

use andon_recipe::unknown;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An error in a configuration file: what is wrong, in which line of which file, and what would be right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Error {
    what: Box<str>,
    key: Box<str>,
    line: Option<usize>,
    file: Option<Box<Path>>,
    /// Further errors in the same file.
    more: Vec<Self>,
}

impl Error {
    /// Creates an error about the key with this path, e.g. `load.rate` or `variant.2.env`. An empty path means the
    /// whole file.
    pub fn new(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            what: what.into().into(),
            key: key.into().into(),
            ..Self::default()
        }
    }

    /// Adds the file that the error is in, unless it is known.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        for error in [&mut self.file]
            .into_iter()
            .chain(self.more.iter_mut().map(|more| &mut more.file))
        {
            error.get_or_insert_with(|| file.into());
        }
        self
    }

    /// Adds the line that the error is in, unless it is known. The first line is 1.
    #[must_use]
    pub fn on_line(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// Adds the line of the error's key, which is looked up in the text of the file.
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

    /// Creates the error of a text that is not valid TOML, or has other keys and values than expected. `also` lists
    /// keys that are known at the top level in addition to those in serde's message.
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
            let what = unknown(kind, wrong, &known);
            let key = if kind == "value" {
                key_at(&keys, span.start)
            } else {
                ""
            };
            return Self::new(key, what).on_line(line);
        }
        Self::new(key_at(&keys, span.start), plainly(error.message())).on_line(line)
    }

    /// Parses a text with `read`. If that fails, the error also contains the further mistakes that can be found
    /// independently of each other. `also` is that of [`Error::from_toml`].
    ///
    /// # Errors
    /// All mistakes in one error, in the order of their lines.
    pub fn reading<T>(
        text: &str,
        also: &[&str],
        read: impl Fn(&str) -> Result<T, toml::de::Error>,
    ) -> Result<T, Self> {
        let mut error = match read(text) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let mut all = vec![Self::from_toml(&error, text, also)];
        let mut rest = text.to_owned();
        while all.len() < MOST_ERRORS && leave_out(&mut rest, &error) {
            error = match read(&rest) {
                Ok(_) => break,
                // It may be missing because it was left out.
                Err(error) if error.message().starts_with("missing field") => break,
                Err(error) => error,
            };
            all.push(Self::from_toml(&error, &rest, also));
        }
        all.sort_by_key(|error| error.line);
        let more = all.split_off(1);
        let first = all.remove(0);
        Err(Self { more, ..first })
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
        f.write_str(&self.what)?;
        self.more
            .iter()
            .try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl std::error::Error for Error {}

/// Returns an error about `key` unless `good`.
///
/// # Errors
/// If `good` is `false`, with the text of `what`.
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

/// Extracts the kind of word, the unknown word and the known ones from serde's message about an unknown field or
/// variant. The message, which has them in backticks and in this order, is the only place that contains them.
fn unknown_word(message: &str) -> Option<(&'static str, &str, Vec<&str>)> {
    let kind = match message {
        _ if message.starts_with("unknown field") => "key",
        _ if message.starts_with("unknown variant") => "value",
        _ => return None,
    };
    let mut words = message.split('`').skip(1).step_by(2);
    Some((kind, words.next()?, words.collect()))
}

/// Returns the last key that begins at or before a position, in bytes.
fn key_at(keys: &[(String, usize)], position: usize) -> &str {
    let before = keys.iter().filter(|(_, start)| *start <= position);
    before
        .max_by_key(|(_, start)| *start)
        .map_or("", |(key, _)| key)
}

/// Blanks the lines of a mistake and its value, or the whole table if the mistake is in a table's header. Returns
/// `false` if that leaves the text as it was.
fn leave_out(text: &mut String, error: &toml::de::Error) -> bool {
    let Some(span) = error.span().filter(|span| span.end <= text.len()) else {
        return false;
    };
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let is_head = text[start..].trim_start().starts_with('[');
    let end = match is_head {
        true => text[start + 1..].find("\n[").map(|end| start + 1 + end),
        false => text[span.end..].find('\n').map(|end| span.end + end),
    };
    let end = end.unwrap_or(text.len());
    let blank: String = text[start..end]
        .chars()
        .filter(|char| *char == '\n')
        .collect();
    let left_out = !text[start..end].trim().is_empty();
    text.replace_range(start..end, &blank);
    left_out
}

/// Rephrases serde's message in the terms of a configuration file: what was found, what was expected, what is missing.
fn plainly(message: &str) -> String {
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {key} is missing here");
    }
    if message == "wanted string or table" {
        return "expected one of its words, in quotes".to_owned();
    }
    let Some((found, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number from 0 up",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "path string" => "a path in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list: [ ] of values, [[ ]] of tables",
        "a map" => "a table: { name = value }",
        _ if expected.starts_with("struct ") => "a table: [name] and its keys below",
        other => other,
    };
    let found = found.trim_end_matches(", ");
    match found.split_once(": ") {
        Some(("invalid type" | "invalid value", "map")) => {
            format!("expected {expected}, not a table")
        }
        Some(("invalid type" | "invalid value", "sequence")) => {
            format!("expected {expected}, not a list")
        }
        Some(("invalid type" | "invalid value", value)) => {
            // ``integer `5` ``, `string "x"`.
            let value = value
                .find(['`', '"'])
                .map_or(value, |start| &value[start..]);
            let value = value.trim_end_matches(" as i128").trim_matches('`');
            match value.parse::<u64>().is_ok() && expected.starts_with("a whole number") {
                true => format!("{value} is larger than such a number may be here"),
                false => format!("expected {expected}, not {value}"),
            }
        }
        _ => format!(
            "{}expected {expected}",
            message.split("expected ").next().unwrap_or_default()
        ),
    }
}

/// Collects every key of a document, with its path (`variant.0.env`) and its byte position in the text.
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

/// Returns a path and all its parents: `a.b.c`, `a.b`, `a`.
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

/// Largest number of errors that are reported. A file with more is probably of another kind.
const MOST_ERRORS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Settings {
        workers: usize,
        steal: bool,
        names: Vec<String>,
        log: Log,
    }

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Log {
        level: Level,
        file: std::path::PathBuf,
    }

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        #[default]
        Info,
        Error,
    }

    impl Default for Settings {
        fn default() -> Self {
            Self {
                workers: 1,
                steal: true,
                names: Vec::new(),
                log: Log::default(),
            }
        }
    }

    fn error(text: &str) -> String {
        let read = Error::reading(text, &[], |text| toml::from_str::<Settings>(text));
        read.map(drop).expect_err("an error").to_string()
    }

    #[test]
    fn every_mistake_is_told_in_the_order_of_the_lines() {
        let text = "workers = \"x\"\nsteel = 1\nnames = [\n  \"a\",\n  5,\n]\n[logs]\na = 1\n\n[log]\nlevel = \"erorr\"\n";
        let lines = [
            "line 1: `workers`: expected a whole number from 0 up, not \"x\"",
            "line 2: unknown key `steel`; did you mean `steal`?",
            "line 5: `names`: expected a text in quotes, not 5",
            "line 7: unknown key `logs`; did you mean `log`?",
            "line 11: `log.level`: unknown value `erorr`; did you mean `error`?",
        ];
        assert_eq!(error(text), lines.join("\n"));
    }

    #[test]
    fn a_wrong_type_is_said_in_the_words_of_the_file() {
        for (text, what) in [
            ("workers = -1", "expected a whole number from 0 up, not -1"),
            (
                "workers = 1.5",
                "expected a whole number from 0 up, not 1.5",
            ),
            ("steal = 1", "expected true or false, not 1"),
            (
                "names = \"a\"",
                "expected a list: [ ] of values, [[ ]] of tables, not \"a\"",
            ),
            (
                "log = 5",
                "expected a table: [name] and its keys below, not 5",
            ),
            (
                "names = { a = 1 }",
                "expected a list: [ ] of values, [[ ]] of tables, not a table",
            ),
            ("log.file = 5", "expected a path in quotes, not 5"),
            ("log.level = 5", "expected one of its words, in quotes"),
        ] {
            let error = error(text);
            assert!(error.ends_with(what), "{text}: {error}");
        }
    }

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
