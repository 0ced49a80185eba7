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
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map(|before| before.matches('\n').count() + 1);
        Self {
            what: unknown_key(error.message()).unwrap_or_else(|| error.message().to_owned()),
            line,
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

/// Serde's sentence about an unknown field or variant carries the offending word and the known ones,
/// all in backticks and in that order; nothing else tells them.
fn unknown_key(message: &str) -> Option<String> {
    let kind = if message.starts_with("unknown field") {
        "key"
    } else if message.starts_with("unknown variant") {
        "value"
    } else {
        return None;
    };
    let mut words = message.split('`').skip(1).step_by(2);
    let wrong = words.next()?;
    let known: Vec<&str> = words.collect();
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

/// Below this two words are not a slip of the same finger.
const ALIKE: f64 = 0.8;
