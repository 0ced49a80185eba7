//! Output options that a format defines for itself, such as `with:level:6`, the compression level of PNG.

use super::Setting;
use crate::words::is_taken;
use crate::{Arg, ParseError, Word};

/// The word for options that a format defines for itself.
pub(super) const SETTINGS: &[Setting] = &[Setting {
    word: &WITH,
    read: |output, parts| {
        let [name, value] = WITH.texts(parts)?;
        if name.is_empty() || ![name, value].into_iter().all(is_plain) {
            return Err(WITH.form(parts));
        }
        if is_taken(name) {
            let expected = format!("an option of the format's own: `{name}` is a word by itself");
            return Err(ParseError::new(name, expected));
        }
        match output.options.insert(name.to_owned(), value.to_owned()) {
            Some(_) => Err(ParseError::new(name, format!("`with:{name}` at most once"))),
            None => Ok(()),
        }
    },
    write: |output| {
        let option = |(name, value): (&String, &String)| match value.is_empty() {
            true => name.clone(),
            false => format!("{name}:{value}"),
        };
        let options: Vec<String> = output.options.iter().map(option).collect();
        // Each option is written as a `with` of its own.
        (!options.is_empty()).then(|| options.join(",with:"))
    },
}];

/// The word `with`, the only word for output that may be repeated.
pub(crate) const WITH: Word = Word {
    name: "with",
    args: &[
        Arg::text("option", "level").help("its name"),
        Arg::text("value", "6")
            .default("")
            .help("its value, if it takes one"),
    ],
    help: "an option of the format's own: see the formats below",
    example: "with:level:6",
};

/// Whether a text consists only of lower-case letters, digits, `-`, `_` and `.`, none of which has to be escaped.
fn is_plain(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    text.bytes().all(plain)
}
