//! The positions of a document's keys in its text.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Returns every key of a document with its path (`variant.0.env`) and its byte position in the text. Returns no keys
/// if the text is not valid TOML.
pub(crate) fn keys(text: &str) -> Vec<(String, usize)> {
    let mut keys = Vec::new();
    if let Ok(document) = DeTable::parse(text) {
        collect(document.get_ref(), "", &mut keys);
    }
    keys
}

/// Returns the last key that begins at or before a byte position.
pub(crate) fn key_at(keys: &[(String, usize)], position: usize) -> &str {
    let before = keys.iter().filter(|(_, start)| *start <= position);
    before
        .max_by_key(|(_, start)| *start)
        .map_or("", |(key, _)| key)
}

/// Returns the line that a byte position is in. The first line is 1.
pub(crate) fn line_of(text: &str, position: usize) -> usize {
    let before = text.get(..position).unwrap_or(text);
    before.matches('\n').count() + 1
}

fn collect(table: &DeTable<'_>, above: &str, keys: &mut Vec<(String, usize)>) {
    for (key, value) in table {
        let path = join(above, key.get_ref());
        keys.push((path.clone(), key.span().start));
        collect_value(value, &path, keys);
    }
}

fn collect_value(value: &Spanned<DeValue<'_>>, path: &str, keys: &mut Vec<(String, usize)>) {
    match value.get_ref() {
        DeValue::Table(inner) => collect(inner, path, keys),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = join(path, &index.to_string());
                keys.push((path.clone(), item.span().start));
                collect_value(item, &path, keys);
            }
        }
        _ => {}
    }
}

fn join(above: &str, word: &str) -> String {
    if above.is_empty() {
        word.to_owned()
    } else {
        format!("{above}.{word}")
    }
}
