//! What is wrong with a configuration, said so that it can be mended at once.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong, on which line of which file, and what would do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    what: String,
    line: Option<usize>,
    file: Option<PathBuf>,
}

impl ConfigError {
    /// An error without a place.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            line: None,
            file: None,
        }
    }

    pub(super) fn in_file(mut self, file: &Path) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    pub(super) fn from_toml(error: &toml::de::Error, text: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        let others = match before.is_some_and(is_at_top) {
            true => andon_dialects::Config::KEYS,
            false => &[],
        };
        let what = unknown_key(error.message(), others).unwrap_or_else(|| {
            let what = plainly(error.message());
            match before.and_then(last_key) {
                Some(key) => format!("`{key}`: {what}"),
                None => what,
            }
        });
        Self {
            what,
            line: before.map(|before| before.matches('\n').count() + 1),
            file: None,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}, line {line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for ConfigError {}

impl From<andon_dialects::ConfigError> for ConfigError {
    fn from(error: andon_dialects::ConfigError) -> Self {
        Self::new(error.to_string())
    }
}

/// Serde's sentence about an unknown field or variant carries the offending word and the known ones,
/// all in backticks and in that order; nothing else tells them. `others` are known as well.
fn unknown_key(message: &str, others: &[&'static str]) -> Option<String> {
    let kind = if message.starts_with("unknown field") {
        "key"
    } else if message.starts_with("unknown variant") {
        "value"
    } else {
        return None;
    };
    let mut words = message.split('`').skip(1).step_by(2);
    let wrong = words.next()?;
    let known: Vec<&str> = words.chain(others.iter().copied()).collect();
    let nearest = known
        .iter()
        .map(|word| (strsim::jaro_winkler(wrong, word), *word))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    Some(match nearest {
        Some((_, word)) => format!("unknown {kind} `{wrong}`; did you mean `{word}`?"),
        None => format!("unknown {kind} `{wrong}`; known here: {}", known.join(", ")),
    })
}

/// Does a key that follows this text stand at the top of the file, rather than in a table?
fn is_at_top(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    match line.trim_matches('[') {
        "" if !line.is_empty() => true,
        _ => !before.lines().any(|line| line.starts_with('[')),
    }
}

/// The key of the value that a text breaks off before, if both stand on one line.
fn last_key(before: &str) -> Option<&str> {
    let (key, _) = before.rsplit('\n').next()?.split_once('=')?;
    Some(key.trim()).filter(|key| !key.is_empty())
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
        "usize" | "u64" | "u32" => "a whole number from 0 up",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list: [ ] of values, [[ ]] of tables",
        other => other,
    };
    format!("{found}expected {expected}")
}

/// Below this two words are not a slip of the same finger.
const ALIKE: f64 = 0.8;
