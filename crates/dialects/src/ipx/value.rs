//! Values of ipx's modifiers, parsed as in JavaScript.

use std::fmt;

/// The value of a modifier.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// No value, `undefined` or `null`.
    Nothing,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Any other text.
    Text(String),
}

impl Value {
    /// Parses a text as ipx's parser does: as JSON, or as one of a few more words, and otherwise as plain text. Lists
    /// and objects, which no modifier takes, count as text.
    pub(super) fn read(text: &str) -> Self {
        if let Some(inner) = quoted(text) {
            return Self::Text(inner.to_owned());
        }
        match &*text.trim().to_ascii_lowercase() {
            "true" => return Self::Bool(true),
            "false" => return Self::Bool(false),
            "undefined" | "null" => return Self::Nothing,
            "nan" => return Self::Number(f64::NAN),
            "infinity" => return Self::Number(f64::INFINITY),
            "-infinity" => return Self::Number(f64::NEG_INFINITY),
            _ => {}
        }
        let number = serde_json::from_str::<f64>(text).ok();
        number.map_or_else(|| Self::Text(text.to_owned()), Self::Number)
    }

    /// Returns JavaScript's name for the value's type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Nothing => "undefined",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
        }
    }

    /// Returns the value if it is a number other than NaN.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) if !number.is_nan() => Some(*number),
            _ => None,
        }
    }

    /// Returns the value if it is a whole number of at least `least`. Larger numbers than `u32::MAX` saturate.
    pub(super) fn whole(&self, least: f64) -> Option<u32> {
        let number = self.number()?;
        // `as` saturates, so that a limit refuses the size.
        (number.fract() == 0.0 && number >= least).then_some(number as u32)
    }
}

/// Prints the value as JavaScript does.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("undefined"),
            Self::Bool(is_true) => write!(f, "{is_true}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Returns the text between quotation marks, if it has no escapes.
fn quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then_some(inner)
}
