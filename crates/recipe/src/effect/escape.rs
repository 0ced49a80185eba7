//! Percent escapes in the arguments of effects, for characters that would end an argument and for those that a log line
//! or a header cannot hold.

use std::fmt;

use crate::ParseError;

/// How characters that have a meaning in recipes are escaped in a text or a file name, for error messages. In a URL the
/// `%` of each escape is escaped, too, because a URL is decoded before its recipe is split.
const HOW: &str =
    "in a text or a name, `,` `:` `%` are written %2C %3A %25, and in a URL %252C %253A %2525";

/// Adds to an error how characters that end an argument are escaped.
pub(super) fn explained(error: ParseError) -> ParseError {
    let expected = format!("{}; {HOW}", error.expected);
    ParseError { expected, ..error }
}

/// Writes an argument with percent escapes.
pub(super) fn write(f: &mut fmt::Formatter<'_>, argument: &str) -> fmt::Result {
    for byte in argument.bytes() {
        if byte.is_ascii_graphic() && !matches!(byte, b',' | b':' | b'%') {
            write!(f, "{}", char::from(byte))?;
        } else {
            write!(f, "%{byte:02X}")?;
        }
    }
    Ok(())
}

/// Decodes an argument. Characters other than `%` stand for themselves, even if `write` would escape them.
pub(super) fn read(argument: &str) -> Result<String, ParseError> {
    let wrong = || {
        let expected = "UTF-8 whose `%` stand before two hex digits: `%25` is a `%`, and `p` a per cent where sizes may have one";
        explained(ParseError::new(argument, expected))
    };
    let mut decoded = Vec::with_capacity(argument.len());
    let mut rest = argument.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            decoded.push(*first);
            continue;
        }
        let [high, low, tail @ ..] = rest else {
            return Err(wrong());
        };
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
            return Err(wrong());
        };
        decoded.push(high << 4 | low);
        rest = tail;
    }
    String::from_utf8(decoded).map_err(|_| wrong())
}
