//! Reads a whole file, and finds more than one mistake in it.

use andon_recipe::unknown;

use crate::Error;
use crate::document::Document;
use crate::mistake::{Kind, Mistake};
use crate::places::{key_at, keys, line_of};

impl Error {
    /// Creates the error of a mistake in a text. `also` lists keys that are known at the top level in addition to those
    /// of the type that was read.
    fn of(mistake: &Mistake, text: &str, also: &[&str]) -> Self {
        let Some(span) = &mistake.span else {
            return Self::new("", mistake.to_string());
        };
        let (keys, line) = (keys(text), line_of(text, span.start));
        let key = key_at(&keys, span.start);
        let error = match &mistake.kind {
            Kind::Key(wrong, known) => {
                let is_top = keys.iter().any(|(key, _)| key == wrong);
                let also = if is_top { also } else { &[] };
                Self::new("", unknown("key", wrong, &[*known, also].concat()))
            }
            Kind::Word(wrong, known) => Self::new(key, unknown("value", wrong, known)),
            Kind::Missing(_) | Kind::Other(_) => Self::new(key, mistake.to_string()),
        };
        error.on_line(line)
    }

    /// Parses a text and has `read` read the document. If that fails, the error also contains the further mistakes that
    /// can be found independently of each other. `also` lists keys that are known at the top level in addition to those
    /// of the type that is read.
    ///
    /// # Errors
    /// All mistakes in one error, in the order of their lines.
    pub fn reading<T>(
        text: &str,
        also: &[&str],
        read: impl Fn(Document<'_>) -> Result<T, Mistake>,
    ) -> Result<T, Self> {
        let read = |text: &str| Document::parse(text).and_then(&read);
        let mut mistake = match read(text) {
            Ok(value) => return Ok(value),
            Err(mistake) => mistake,
        };
        let mut all = vec![Self::of(&mistake, text, also)];
        let mut rest = text.to_owned();
        while all.len() < MOST_ERRORS && leave_out(&mut rest, &mistake) {
            mistake = match read(&rest) {
                Ok(_) => break,
                // It may be missing because it was left out.
                Err(Mistake {
                    kind: Kind::Missing(_),
                    ..
                }) => break,
                Err(mistake) => mistake,
            };
            all.push(Self::of(&mistake, &rest, also));
        }
        all.sort_by_key(|error| error.line);
        let more = all.split_off(1);
        let first = all.remove(0);
        Err(Self { more, ..first })
    }
}

/// Blanks the lines of a mistake and its value, or the whole table if the mistake is in a table's header. Returns
/// `false` if that leaves the text as it was.
fn leave_out(text: &mut String, mistake: &Mistake) -> bool {
    let Some(span) = mistake.span.clone().filter(|span| span.end <= text.len()) else {
        return false;
    };
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let is_head = text[start..].trim_start().starts_with('[');
    let end = match is_head {
        true => text[start + 1..].find("\n[").map(|end| start + 1 + end),
        false => text[span.end..].find('\n').map(|end| span.end + end),
    };
    let end = end.unwrap_or(text.len());
    let blank: String = text[start..end]
        .chars()
        .filter(|char| *char == '\n')
        .collect();
    let left_out = !text[start..end].trim().is_empty();
    text.replace_range(start..end, &blank);
    left_out
}

/// Largest number of errors that are reported. A file with more is probably of another kind.
const MOST_ERRORS: usize = 10;
