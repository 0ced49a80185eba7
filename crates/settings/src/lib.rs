//! Errors in configuration files (the server's configuration and the laboratory's scenarios), with everything that is
//! needed to correct them: file, line, key, offending value and the most similar valid word.

#![forbid(unsafe_code)]

mod document;
mod mistake;
mod places;
mod reading;
mod secret;

use std::fmt;
use std::path::Path;

use crate::places::{keys, line_of};

pub use document::Document;
pub use mistake::Mistake;
pub use reading::Known;
pub use secret::Secret;

/// An error in a configuration file: file, line and key, and a message that says what is wrong and what would be valid.
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

    /// Returns the path of the key that the error is about; empty for the whole file.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the message, without file, line and key.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Sets the file of this error and of the further errors that it contains, unless it is already set.
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

    /// Sets the number of the line with the error, unless it is already set. The first line is 1.
    #[must_use]
    pub fn on_line(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// Sets the line of the error to the one with the error's key in `text`, the contents of the file, or else with the
    /// nearest parent of the key that occurs there.
    #[must_use]
    pub fn located(self, text: &str) -> Self {
        let keys = keys(text);
        let position = ancestors(&self.key)
            .find_map(|path| keys.iter().find(|(key, _)| key == path))
            .map(|(_, position)| *position);
        match position {
            Some(position) => self.on_line(line_of(text, position)),
            None => self,
        }
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

/// Returns a path and all its parents: `a.b.c`, `a.b`, `a`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(up, _)| up))
}

fn is_index(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

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
        let known = Known {
            plain: &[],
            also: &[],
            advice: &[("log.path", "the file is `log.file = \"…\"`")],
        };
        let read = Error::reading(text, &known, |all| all.read::<Settings>());
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
            (
                "log.level = true",
                "expected one of \"info\", \"error\", not true",
            ),
        ] {
            let error = error(text);
            assert!(error.ends_with(what), "{text}: {error}");
        }
    }

    #[test]
    fn one_table_where_a_list_is_expected_is_shown_with_two_brackets() {
        assert_eq!(
            error("workers = 2\n[names]\n\na = 1\nb = 2\n"),
            "line 2: `names`: expected a list, and each table of a list has its header in double brackets:\n  [[names]]\n  a = 1"
        );
        let empty = error("[names]\n[log]\n");
        assert!(empty.ends_with("[[names]]"), "{empty}");
    }

    #[test]
    fn a_table_that_stands_twice_is_explained() {
        for text in [
            "[log]\n\n[log]\nlevel = \"info\"\n",
            "workers = 1\n\nworkers = 2\n",
        ] {
            let error = error(text);
            assert!(error.starts_with("line 3: "), "{error}");
            assert!(error.ends_with("put the lines together"), "{error}");
        }
    }

    #[test]
    fn a_key_that_is_called_otherwise_is_told_what_to_write() {
        assert_eq!(
            error("[log]\npath = \"a\"\n"),
            "line 2: unknown key `path`; the file is `log.file = \"…\"`"
        );
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
