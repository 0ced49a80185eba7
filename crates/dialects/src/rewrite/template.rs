//! The template of a rewrite rule's new path: text, groups and arguments.

/// A piece of a rewrite rule's new path.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Group(usize),
    /// The name of a query argument that is one word, and the text that is used if the argument is empty.
    Argument(String, String),
    /// The name of a query argument that is a path, up to the end of the new path, and the text that is used if the
    /// argument is empty.
    Path(String, String),
}

/// Splits a rule's new path into text, groups and arguments. The `regex` crate has a replacement syntax as well, but it
/// reads `$1x` as a group named `1x`, which is not what nginx users mean.
///
/// # Errors
/// Braces that are not closed, and a name that is neither a group's number nor an argument.
pub(super) fn pieces(to: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = to;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let (piece, rest_of_text) = match after.strip_prefix('{') {
            Some(braced) => {
                let parts = braced.split_once('}');
                let (name, rest_of_text) = parts.ok_or("`${` without its `}`")?;
                let piece = named(name).ok_or_else(|| {
                    format!(
                        "`${{{name}}}` is not known: `${{1}}` to `${{9}}`, `${{arg_NAME}}` and `${{arg_NAME:-DEFAULT}}` are"
                    )
                })?;
                (Some(piece), rest_of_text)
            }
            None => {
                let (name, rest_of_text) = after.split_at(length_of_name(after));
                let piece = named(name);
                if piece.is_none() && name.starts_with(|it: char| it.is_ascii_alphabetic()) {
                    return Err(format!(
                        "`${name}` is not known: `$1` to `$9` and `$arg_NAME` are"
                    ));
                }
                (piece, rest_of_text)
            }
        };
        match piece {
            Some(piece) => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(piece);
                rest = rest_of_text;
            }
            None => {
                text.push('$');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    Ok(with_path(pieces))
}

/// Turns a last argument after a slash into a path, if nothing but a query follows it in the new path.
fn with_path(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let is_query = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('?'));
    let end = pieces.iter().position(is_query);
    let end = end.unwrap_or(pieces.len() - 1);
    if let [.., Piece::Text(before), argument, Piece::Text(after)] = &mut pieces[..=end]
        && before.ends_with('/')
        && (after.is_empty() || after.starts_with('?'))
        && let Piece::Argument(name, otherwise) = argument
    {
        *argument = Piece::Path(std::mem::take(name), std::mem::take(otherwise));
    }
    pieces
}

/// Returns the length of the name that a text begins with: one digit, or letters, digits and `_`.
fn length_of_name(text: &str) -> usize {
    if text.starts_with(|char: char| char.is_ascii_digit()) {
        return 1;
    }
    let is_end = |char: char| !(char.is_ascii_alphanumeric() || char == '_');
    text.find(is_end).unwrap_or(text.len())
}

/// Parses the name of a group or an argument. After an argument's name, `:-` and a default may follow.
fn named(name: &str) -> Option<Piece> {
    match (name.strip_prefix(ARGUMENT), name.as_bytes()) {
        (Some(argument), _) => {
            let (argument, otherwise) = argument.split_once(OTHERWISE).unwrap_or((argument, ""));
            Some(Piece::Argument(argument.to_owned(), otherwise.to_owned()))
        }
        (None, [digit @ b'1'..=b'9']) => Some(Piece::Group(usize::from(digit - b'0'))),
        _ => None,
    }
}

/// Prefix of argument names in a rule's new path, after the dollar sign.
const ARGUMENT: &str = "arg_";

/// Separates the name of an argument from its default, as in shells.
const OTHERWISE: &str = ":-";
