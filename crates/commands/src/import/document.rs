//! The `andon.toml` that is made of another server's variables.

use std::fmt::Write;

use toml::{Table, Value};

use super::write::key;

/// Keys, origins, and notes on what has no key.
#[derive(Debug)]
pub(super) struct Document {
    /// Name of the file that is imported.
    file: String,
    notes: Vec<(usize, String)>,
    keys: Table,
    origins: Vec<Table>,
}

impl Document {
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            notes: Vec::new(),
            keys: Table::new(),
            origins: Vec::new(),
        }
    }

    /// Notes why a variable was not taken over, or what is to be known of it. `line` is 0 for a variable that is not set.
    pub(super) fn note(&mut self, line: usize, name: &str, why: &str) {
        self.notes
            .push((line, format!("{name}: {why}").replace(['\n', '\r'], " ")));
    }

    /// Sets a key, such as `imgproxy.quality`.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        let mut table = &mut self.keys;
        let mut rest = key;
        while let Some((name, below)) = rest.split_once('.') {
            let entry = table
                .entry(name)
                .or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = entry else {
                return;
            };
            (table, rest) = (inner, below);
        }
        table.insert(rest.to_owned(), value.into());
    }

    /// Sets a key if there is a value.
    pub(super) fn set_if(&mut self, key: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Whether a key is set to true.
    pub(super) fn is_true(&self, key: &str) -> bool {
        let (table, key) = key.rsplit_once('.').unwrap_or(("", key));
        let table = self.keys.get(table).and_then(Value::as_table);
        table.unwrap_or(&self.keys).get(key) == Some(&Value::Boolean(true))
    }

    /// Adds an `[[origin]]` with these keys, such as `http.urls`.
    pub(super) fn add_origin(&mut self, keys: impl IntoIterator<Item = (String, Value)>) {
        self.origins.push(keys.into_iter().collect());
    }

    pub(super) fn has_origin(&self) -> bool {
        !self.origins.is_empty()
    }

    pub(super) fn text(mut self) -> String {
        let mut out = format!("# Imported from {} by `andon import`.\n", self.file);
        self.notes.sort();
        if !self.notes.is_empty() {
            out += "#\n# What was not taken over, or differs:\n";
        }
        for (line, note) in &self.notes {
            let _ = match line {
                0 => writeln!(out, "# {}: {note}", self.file),
                line => writeln!(out, "# {}:{line}: {note}", self.file),
            };
        }
        let (tables, keys): (Vec<_>, Vec<_>) =
            self.keys.iter().partition(|(_, value)| value.is_table());
        out.push('\n');
        for (name, value) in keys {
            let _ = writeln!(out, "{} = {value}", key(name));
        }
        for origin in &self.origins {
            out += "\n[[origin]]\n";
            for (name, value) in origin {
                let _ = writeln!(out, "{name} = {value}");
            }
        }
        for (name, value) in tables {
            write_table(&mut out, &key(name), value);
        }
        out
    }
}

/// Writes a table, its own keys before the tables in it.
fn write_table(out: &mut String, name: &str, value: &Value) {
    let Value::Table(table) = value else {
        return;
    };
    let (tables, keys): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
    if !keys.is_empty() {
        let _ = writeln!(out, "\n[{name}]");
    }
    for (below, value) in keys {
        let _ = writeln!(out, "{} = {value}", key(below));
    }
    for (below, value) in tables {
        write_table(out, &format!("{name}.{}", key(below)), value);
    }
}
