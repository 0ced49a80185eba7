//! The format of the result.

use std::fmt;

use super::Setting;
use crate::{Arg, ParseError, Word};

/// The name of an image format: lower-case letters and digits, such as `jpeg` or `webp`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormatName(pub(crate) String);

impl FormatName {
    /// Creates a format name of 1 to 16 lower-case letters and digits.
    ///
    /// # Errors
    /// [`ParseError`] for any other text.
    pub fn new(name: &str) -> Result<Self, ParseError> {
        let word = (1..=16).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if word {
            Ok(Self(name.to_owned()))
        } else {
            Err(ParseError::new(
                name,
                "a format's name in lower-case letters and digits such as `webp`",
            ))
        }
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Words for the format of the result, in the order in which they are printed.
pub(super) const SETTINGS: &[Setting] = &[AS, MOVING];

const AS: Setting = Setting {
    word: &Word {
        name: "as",
        args: &[Arg::text("format", "webp").help("a format's name; auto: by the Accept header")],
        help: "the format of the result; absent: the source's own",
        example: "as:webp",
    },
    read: |output, parts| {
        let [name] = AS.word.texts(parts)?;
        output.format = Some(FormatName::new(name)?);
        Ok(())
    },
    write: |output| output.format.as_ref().map(FormatName::to_string),
};

const MOVING: Setting = Setting {
    word: &Word {
        name: "moving",
        args: &[Arg::text("format", "webp").help("a format's name; source: the source's own")],
        help: "the format of the result where the source is an animation, in place of the one that as names",
        example: "as:jxl,moving:webp",
    },
    read: |output, parts| {
        let [name] = MOVING.word.texts(parts)?;
        output.moving = Some(FormatName::new(name)?);
        Ok(())
    },
    write: |output| output.moving.as_ref().map(FormatName::to_string),
};
