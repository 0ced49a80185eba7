//! Changes keys of a TOML document. Keys are dotted paths in which numbers are indexes of lists; a replaced value keeps
//! its type.

use toml::Value;

/// Returns the value at a path such as `cache.enabled` or `origin.0.prefix`.
pub(super) fn find<'v>(document: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    path.split('.')
        .try_fold(document, |value, word| match value {
            Value::Table(table) => table.get_mut(word),
            Value::Array(items) => items.get_mut(word.parse::<usize>().ok()?),
            _ => None,
        })
}

/// Replaces a value by `new`, converted to the type of `old`.
pub(super) fn replace(old: &mut Value, new: &Value) -> Result<(), String> {
    *old = match (&*old, new) {
        (old, new) if old.same_type(new) => new.clone(),
        (Value::Float(_), Value::Integer(number)) => Value::Float(*number as f64),
        (Value::String(_), Value::Integer(_) | Value::Float(_) | Value::Boolean(_)) => {
            Value::String(new.to_string())
        }
        (Value::Integer(_), Value::String(text)) => text
            .parse()
            .map(Value::Integer)
            .map_err(|_| mismatch(old, new))?,
        (Value::Float(_), Value::String(text)) => text
            .parse()
            .map(Value::Float)
            .map_err(|_| mismatch(old, new))?,
        (Value::Boolean(_), Value::String(text)) => text
            .parse()
            .map(Value::Boolean)
            .map_err(|_| mismatch(old, new))?,
        (old, new) => return Err(mismatch(old, new)),
    };
    Ok(())
}

/// Adds a value at a path that does not exist yet, and any missing tables on the way to it.
pub(super) fn add(document: &mut Value, path: &str, new: &Value) -> Result<(), String> {
    let (above, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut table = document;
    for word in above.split('.').filter(|word| !word.is_empty()) {
        table = match table {
            Value::Table(table) => table
                .entry(word)
                .or_insert_with(|| Value::Table(toml::Table::new())),
            Value::Array(items) => word
                .parse::<usize>()
                .ok()
                .and_then(|index| items.get_mut(index))
                .ok_or_else(|| format!("the list has no place `{word}`"))?,
            _ => return Err(format!("`{word}` would stand below a plain value")),
        };
    }
    match table {
        Value::Table(table) => {
            table.insert(key.to_owned(), new.clone());
            Ok(())
        }
        _ => Err(format!("`{key}` would stand below a plain value or a list")),
    }
}

/// Removes the key at a path. Returns `false` if there is none.
pub(super) fn remove(document: &mut Value, path: &str) -> bool {
    let (above, key) = path.rsplit_once('.').unwrap_or(("", path));
    let table = if above.is_empty() {
        Some(document)
    } else {
        find(document, above)
    };
    table
        .and_then(Value::as_table_mut)
        .is_some_and(|table| table.remove(key).is_some())
}

/// Returns the dotted paths of all values in a document, tables and lists included.
pub(super) fn paths(document: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(document, "", &mut all);
    all
}

fn collect(value: &Value, above: &str, all: &mut Vec<String>) {
    let mut visit = |word: &str, value: &Value| {
        let path = if above.is_empty() {
            word.to_owned()
        } else {
            format!("{above}.{word}")
        };
        all.push(path.clone());
        collect(value, &path, all);
    };
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| visit(key, value)),
        Value::Array(items) => {
            (items.iter().enumerate()).for_each(|(index, value)| visit(&index.to_string(), value))
        }
        _ => {}
    }
}

fn mismatch(old: &Value, new: &Value) -> String {
    format!("`{new}` does not fit: {} stands there", kind(old))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        let text = "workers = 0\nshare = 0.5\n[cache]\nmemory = '1MiB'\n[[origin]]\nprefix = '/'\n";
        Value::Table(text.parse().expect("toml"))
    }

    #[test]
    fn a_value_is_replaced_in_the_type_that_stands_there() {
        let mut all = document();
        for (path, new, then) in [
            ("workers", Value::String("2".into()), "2"),
            ("share", Value::Integer(1), "1.0"),
            ("cache.memory", Value::Integer(0), "\"0\""),
            ("origin.0.prefix", Value::String("/a".into()), "\"/a\""),
        ] {
            let place = find(&mut all, path).expect(path);
            replace(place, &new).expect(path);
            assert_eq!(place.to_string(), then);
        }
        let place = find(&mut all, "workers").expect("workers");
        let wrong = replace(place, &Value::Boolean(true)).expect_err("a truth for a number");
        assert_eq!(wrong, "`true` does not fit: a whole number stands there");
    }

    #[test]
    fn keys_are_added_and_removed() {
        let mut all = document();
        add(&mut all, "limits.pixels", &Value::Integer(9)).expect("adds");
        assert_eq!(
            find(&mut all, "limits.pixels"),
            Some(&mut Value::Integer(9))
        );
        assert!(add(&mut all, "workers.x", &Value::Integer(9)).is_err());
        assert!(remove(&mut all, "cache.memory") && !remove(&mut all, "cache.memory"));
        assert!(paths(&all).contains(&"origin.0.prefix".to_owned()));
    }
}
