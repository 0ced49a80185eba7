//! Finds the options and the file in a target.

use std::borrow::Cow;

use crate::dialect::Target;
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::request::{ImageRequest, Source, relative};

/// The text in front of the options.
const OPEN: &str = "small_light(";

/// Returns the text between the first `small_light(` and the next `)`. In strict mode it is raw, and the query is
/// searched, too. Otherwise it is decoded, and the parentheses may be escaped as well: PHP's `rawurlencode` and
/// Python's `quote` write `%28`, JavaScript's `encodeURIComponent` only `%2C` and `%3D`.
pub(super) fn option_text<'a>(
    target: &Target<'a>,
    strict: bool,
) -> Result<Option<Cow<'a, str>>, Refusal> {
    if strict {
        return Ok(between(target.whole).map(Cow::Borrowed));
    }
    match between(target.path) {
        Some(text) if text.contains('%') => Ok(Some(Cow::Owned(percent::decode(text)?))),
        Some(text) => Ok(Some(Cow::Borrowed(text))),
        None => {
            // A path that cannot be decoded is left to other dialects.
            let Ok(path) = percent::decode(target.path) else {
                return Ok(None);
            };
            // If no file follows, the text is part of the name of a file.
            let text = file_after(&path, OPEN).and_then(|_| between(&path));
            Ok(text.map(|text| Cow::Owned(text.to_owned())))
        }
    }
}

fn between(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(OPEN)?;
    let (text, _) = rest.split_once(')')?;
    Some(text)
}

/// Returns the file after the last path segment with options. In strict mode any segment that contains `small_light`
/// counts, as in the rewrite rule in ngx_small_light's manual.
pub(super) fn after_options(target: &Target<'_>, strict: bool) -> Result<String, Refusal> {
    let path = percent::decode(target.path)?;
    if strict && !path.contains(OPEN) {
        return Ok(relative(&path));
    }
    let mark = if strict { "small_light" } else { OPEN };
    match file_after(&path, mark) {
        // The closing parenthesis is in a later segment, because the options contain a slash.
        Some((segment, _)) if segment.contains(OPEN) && !segment.contains(')') => {
            Err(Refusal::new(segment, "options may not contain `/`"))
        }
        Some((_, file)) => Ok(file),
        None => Err(Refusal::new(
            target.path,
            "no file follows the options: it must be `/small_light(…)/file`",
        )),
    }
}

/// Treats a target whose options have no closing parenthesis as the unchanged file, as ngx_small_light does. `None` if
/// it has no options at all.
pub(super) fn unclosed(target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
    let path = percent::decode(target.path)?;
    let Some((segment, file)) = file_after(&path, OPEN) else {
        return Ok(None);
    };
    // The file is decoded already; a `%` in it must not be taken for an escape again.
    let mut request = ImageRequest::file(Source::at_the_end(target.path, file));
    request.notes.push(format!(
        "`{}` is ignored: its parenthesis must be closed",
        shorten(segment)
    ));
    Ok(Some(request))
}

/// Returns the path of the file if the options are in the query: the whole path of the target, decoded.
pub(super) fn whole(target: &Target<'_>) -> Result<String, Refusal> {
    Ok(relative(&percent::decode(target.path)?))
}

/// Returns the last path segment that contains `mark` and is followed by a file, and the path of the file.
fn file_after<'a>(path: &'a str, mark: &str) -> Option<(&'a str, String)> {
    let mut end = path.len();
    while let Some(at) = path[..end].rfind(mark) {
        let start = path[..at].rfind('/').map_or(0, |slash| slash + 1);
        if let Some((rest, file)) = path[at..].split_once('/') {
            let file = relative(file);
            if !file.is_empty() {
                return Some((&path[start..at + rest.len()], file));
            }
        }
        end = start;
    }
    None
}
