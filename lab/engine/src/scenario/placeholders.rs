//! Placeholders: `{port}` in a command, environment variable, URL or copied file stands for a value that is known only
//! when the server starts, or that differs between variants.
//!
//! A name consists of letters, digits, `_`, `-` and `.`, and begins with a letter or `_`. Everything else in braces is
//! left alone, and so is the shell's `${NAME}`. `{{name}}` is an escape for the text `{name}`.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Placeholders available for every server, in addition to the names in the scenario's `[matrix]` and the keys of a
/// variant's `set`.
pub const ALWAYS: [&str; 6] = ["work", "addr", "host", "port", "socket", "dir"];

/// Returns the names of the placeholders in a text, in order.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    Pieces(text).filter_map(|piece| match piece {
        Piece::Name(name) => Some(name),
        Piece::Text(_) | Piece::Doubled(_) => None,
    })
}

/// Replaces the known placeholders in a text. Unknown ones stay as they are.
#[must_use]
pub fn fill<'t>(text: &'t str, values: &BTreeMap<String, String>) -> Cow<'t, str> {
    if !text.contains('{') {
        return Cow::Borrowed(text);
    }
    let mut filled = String::with_capacity(text.len());
    for piece in Pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Name(name) => match values.get(name) {
                Some(value) => filled.push_str(value),
                None => filled.extend(["{", name, "}"]),
            },
            Piece::Doubled(name) => filled.extend(["{", name, "}"]),
        }
    }
    Cow::Owned(filled)
}

/// A piece of a text: plain text, a placeholder's name, or a name in doubled braces.
enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
    Doubled(&'t str),
}

/// Iterator over the pieces of a text. Holds the part that is not split yet.
struct Pieces<'t>(&'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let text = self.0;
        if text.is_empty() {
            return None;
        }
        if let Some((piece, rest)) = braced(text) {
            self.0 = rest;
            return Some(piece);
        }
        // The first byte starts no placeholder, so the piece extends to the next `{` or `$`, where one may start.
        let start = text.chars().next().map_or(0, char::len_utf8);
        let shell = text.starts_with("${");
        let from = if shell { 2 } else { start };
        let end = text[from..]
            .find(['{', '$'])
            .map_or(text.len(), |next| from + next);
        self.0 = &text[end..];
        Some(Piece::Text(&text[..end]))
    }
}

/// Splits `{name}` or `{{name}}` off the start of a text, and returns it with the rest.
fn braced(text: &str) -> Option<(Piece<'_>, &str)> {
    let inner = text.strip_prefix('{')?;
    if let Some(inner) = inner.strip_prefix('{') {
        let (name, rest) = inner.split_at(name_length(inner)?);
        return Some((Piece::Doubled(name), rest.strip_prefix("}}")?));
    }
    let (name, rest) = inner.split_at(name_length(inner)?);
    Some((Piece::Name(name), rest.strip_prefix('}')?))
}

fn name_length(text: &str) -> Option<usize> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    starts.then(|| text.find(|c| !inside(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let values = BTreeMap::from([("port".to_owned(), "80".to_owned())]);
        fill(text, &values).into_owned()
    }

    #[test]
    fn known_names_are_replaced_and_others_stay() {
        assert_eq!(filled("a{port}b{prot}{port}"), "a80b{prot}80");
        assert_eq!(filled("server { listen {port}; }"), "server { listen 80; }");
        assert_eq!(filled("{\"a\":{\"b\":{port}}}"), "{\"a\":{\"b\":80}}");
        assert_eq!(filled("行{port}灯{"), "行80灯{");
    }

    #[test]
    fn doubled_braces_and_the_shells_are_left() {
        assert_eq!(filled("{{port}} ${port} $port"), "{port} ${port} $port");
        assert_eq!(
            names("{{port}} ${port} {a.b} {2}").collect::<Vec<_>>(),
            ["a.b"]
        );
    }
}
