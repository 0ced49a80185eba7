//! Reads a configuration file, and reports multiple errors at once.

use andon_recipe::unknown;

use crate::document::Document;
use crate::mistake::{Kind, Mistake};
use crate::places::{key_at, keys, line_of};
use crate::{Error, is_index};

/// Facts about a file's keys that the type it is deserialized into does not state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// Keys that are valid at the top level in addition to the type's fields.
    pub also: &'a [&'a str],
    /// Top-level keys that are not tables, and therefore must be written before the first table.
    pub plain: &'a [&'a str],
    /// Advice for keys that users write by mistake: the key's path without list indices, such as `origin.root`, and a
    /// text that says what to write instead.
    pub advice: &'a [(&'a str, &'a str)],
}

impl Known<'_> {
    /// Returns the advice for an unknown key. `path` may contain list indices.
    fn advice_on(&self, path: &str) -> Option<&str> {
        let words: Vec<&str> = path.split('.').filter(|word| !is_index(word)).collect();
        let path = words.join(".");
        let entry = self.advice.iter().find(|(wrong, _)| *wrong == path);
        entry.map(|(_, advice)| *advice)
    }
}

impl Error {
    /// Creates the error for a mistake in a text, with the key and the line.
    fn of(mistake: &Mistake, text: &str, facts: &Known<'_>) -> Self {
        let Some(span) = &mistake.span else {
            return Self::new("", mistake.to_string());
        };
        let (keys, line) = (keys(text), line_of(text, span.start));
        let key = key_at(&keys, key_of(text, span.start));
        let error = match &mistake.kind {
            Kind::Key(wrong, fields) => {
                let is_top = keys.iter().any(|(key, _)| key == wrong);
                let also = if is_top { facts.also } else { &[] };
                let is_plain = !is_top && facts.plain.contains(&&**wrong);
                let table = key
                    .strip_suffix(&**wrong)
                    .map(|it| it.trim_end_matches('.'));
                let what = match facts.advice_on(key) {
                    Some(advice) => format!("unknown key `{wrong}`; {advice}"),
                    None if is_plain => format!(
                        "unknown key `{wrong}` of [{}]; `{wrong}` stands above the first [table] of the file",
                        table.unwrap_or(key)
                    ),
                    None => unknown("key", wrong, &[*fields, also].concat()),
                };
                Self::new("", what)
            }
            Kind::OneTable => Self::new(key, one_table(key, text, span.start)),
            Kind::Word(wrong, words) => Self::new(key, unknown("value", wrong, words)),
            Kind::Missing(_) | Kind::Other(_) => Self::new(key, mistake.to_string()),
        };
        error.on_line(line)
    }

    /// Parses a text, and passes the document to `read`. If that fails, the lines with the error are blanked and the
    /// rest is read again, so that the returned error also contains further, independent errors.
    ///
    /// # Errors
    /// All errors found (up to 10), as one error, in the order of their lines.
    pub fn reading<T>(
        text: &str,
        facts: &Known<'_>,
        read: impl Fn(Document<'_>) -> Result<T, Mistake>,
    ) -> Result<T, Self> {
        let read = |text: &str| Document::parse(text).and_then(&read);
        let mut mistake = match read(text) {
            Ok(value) => return Ok(value),
            Err(mistake) => mistake,
        };
        let mut all = vec![Self::of(&mistake, text, facts)];
        let mut rest = text.to_owned();
        let mut left_out = Vec::new();
        for _ in 1..MOST_ERRORS {
            left_out.extend(line(&mistake, &rest));
            if !leave_out(&mut rest, &mistake) {
                break;
            }
            mistake = match read(&rest) {
                Ok(_) => break,
                // The key may be missing only because its line was blanked.
                Err(Mistake {
                    kind: Kind::Missing(_),
                    ..
                }) => break,
                Err(mistake) => mistake,
            };
            let is_new = line(&mistake, &rest)
                .is_none_or(|header| !left_out.iter().any(|key| is_in_table(text, *key, header)));
            all.extend(is_new.then(|| Self::of(&mistake, &rest, facts)));
        }
        all.sort_by_key(|error| error.line);
        let more = all.split_off(1);
        let first = all.remove(0);
        Err(Self { more, ..first })
    }
}

/// Returns the position in `text` that identifies the key of the value at `start`. That is `start` itself, except for a
/// table with a header, where it is the name inside the brackets.
fn key_of(text: &str, start: usize) -> usize {
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let is_header = text[line..start].trim().is_empty() && text[start..].starts_with('[');
    let brackets = text[start..].len() - text[start..].trim_start_matches(['[', ' ']).len();
    start + if is_header { brackets } else { 0 }
}

/// Returns the message for a table where a list is expected. If the table has a header, the message shows the corrected
/// lines.
fn one_table(key: &str, text: &str, start: usize) -> String {
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let mut lines = text[line..].lines();
    let is_header = |line: &str| line.trim_start().starts_with(&format!("[{key}]"));
    if !lines.next().is_some_and(is_header) {
        return "expected a list: [ ] of values, [[ ]] of tables, not a table".to_owned();
    }
    let first = lines.find(|line| !line.trim().is_empty());
    let first = first.filter(|line| !line.trim_start().starts_with('['));
    let first = first.map_or_else(String::new, |line| format!("\n  {}", line.trim()));
    format!(
        "expected a list, and each table of a list has its header in double brackets:\n  [[{key}]]{first}"
    )
}

/// Returns the line that a mistake begins in, counted from 1.
fn line(mistake: &Mistake, text: &str) -> Option<usize> {
    let span = mistake.span.as_ref()?;
    Some(line_of(text, span.start))
}

/// Whether line number `key` is in the table whose header is line number `header`. Lines with an error are blanked
/// before the rest of the file is checked. If line `key` was blanked, an error about its whole table may only be a
/// consequence, and is not reported.
fn is_in_table(text: &str, key: usize, header: usize) -> bool {
    let is_header = |line: &str| line.trim_start().starts_with('[');
    let mut lines = text.lines().skip(header.saturating_sub(1));
    key > header && lines.next().is_some_and(is_header) && !lines.take(key - header).any(is_header)
}

/// Replaces the lines that a mistake refers to by empty lines, or the whole table if the mistake is in a table's
/// header, so that the rest can be read again. Returns `false` if the text is unchanged.
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

/// Maximum number of errors that are reported. A file with more is probably not a configuration.
const MOST_ERRORS: usize = 10;
