//! The values of environment variables that override keys of the configuration. Each is parsed as the type of its key's
//! default.

use std::sync::LazyLock;

use toml::{Table, Value};

use crate::config::REFERENCE;

/// The defaults of all keys that have one.
pub(super) fn reference() -> &'static Table {
    static DEFAULTS: LazyLock<Table> = LazyLock::new(|| REFERENCE.parse().unwrap_or_default());
    &DEFAULTS
}

/// Returns the default of a key.
pub(super) fn default(path: &[String]) -> Option<&'static Value> {
    let (last, above) = path.split_last()?;
    let mut table = reference();
    for word in above {
        table = table.get(word)?.as_table()?;
    }
    table.get(last)
}

/// Returns the names of the environment variables that override the keys in a table of defaults. Each name consists of
/// `above`, `between` and the key in upper case. In names of keys in inner tables, `__` follows the inner table's name.
pub(super) fn names(table: &Table, above: &str, between: &str) -> Vec<String> {
    let name = |key: &str| format!("{above}{between}{}", key.to_ascii_uppercase());
    let of = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => names(inner, &name(key), "__"),
        _ => vec![name(key)],
    };
    table.iter().flat_map(of).collect()
}

/// Parses a value as the type of the key's default: a text needs no quotes, and a list of texts or numbers may be written
/// with commas. Without a default, the text is parsed as a TOML value or, if it is not one, is a string.
pub(super) fn value(text: &str, default: Option<&Value>) -> Value {
    match default {
        Some(Value::String(_)) => Value::String(text.to_owned()),
        Some(Value::Array(items)) if !text.trim_start().starts_with('[') => {
            let items = |item: &str| match items.first() {
                Some(Value::Integer(_)) => literal(item),
                _ => Value::String(item.to_owned()),
            };
            split(text, items)
        }
        _ => literal(text),
    }
}

/// The keys of origins and rules whose values are lists. These keys have no defaults that would show the type.
pub(super) const LISTS: &[&str] = &["allow", "buckets", "guards", "redirect_ports", "urls"];

/// Parses a list, which may be written with commas instead of as a TOML array.
pub(super) fn items(text: &str) -> Value {
    if let list @ Value::Array(_) = literal(text) {
        return list;
    }
    let bare = text.trim();
    let bare = bare
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'))
        .unwrap_or(bare);
    split(bare, literal)
}

/// Splits a list at its commas, and reads each item with `read`.
fn split(text: &str, read: impl Fn(&str) -> Value) -> Value {
    let texts = text.split(',').map(str::trim);
    let items = texts.filter(|item| !item.is_empty()).map(read);
    items.collect::<Vec<_>>().into()
}

/// Parses a TOML value; any other text is a string.
fn literal(text: &str) -> Value {
    let read: Option<Table> = format!("value = {text}").parse().ok();
    let value = read
        .filter(|it| it.len() == 1)
        .and_then(|mut it| it.remove("value"));
    match value {
        None | Some(Value::Datetime(_)) => Value::String(text.to_owned()),
        Some(value) => value,
    }
}
