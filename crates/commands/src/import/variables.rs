//! Translates variables of another server by a table: each has a key of `andon.toml`, or a reason why it has none.

use std::collections::BTreeMap;
use std::fmt::Write;

use andon_recipe::nearest;
use toml::Value;

use super::assignments::{Assignment, is_reference};
use super::document::Document;

/// One row of a server's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    /// Names of variables with one meaning or one reason. A name that ends in `*` stands for all that begin so.
    pub(super) names: &'static [&'static str],
    pub(super) becomes: Becomes,
}

/// What becomes of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Becomes {
    /// A key, such as `imgproxy.quality`, and how its value is written there.
    Key(&'static str, Translate),
    /// A part of what is written together with other variables, in words.
    Part(&'static str),
    /// Nothing, and why.
    Nothing(&'static str),
}

/// Translates a value, or says why it cannot be translated.
pub(super) type Translate = fn(&Value) -> Result<Value, String>;

pub(super) const fn key(
    names: &'static [&'static str],
    key: &'static str,
    translate: Translate,
) -> Variable {
    Variable {
        names,
        becomes: Becomes::Key(key, translate),
    }
}

pub(super) const fn part(names: &'static [&'static str], what: &'static str) -> Variable {
    Variable {
        names,
        becomes: Becomes::Part(what),
    }
}

pub(super) const fn nothing(names: &'static [&'static str], why: &'static str) -> Variable {
    Variable {
        names,
        becomes: Becomes::Nothing(why),
    }
}

impl Variable {
    /// Whether the row is about the variable of this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.names
            .iter()
            .any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => *known == name,
            })
    }
}

/// The variables that are translated together, by their names.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<String, (Value, usize)>);

/// Translates variables by a table. What has no key is noted in the document, and the parts are returned. `server` is
/// the name of the server whose variables they are.
pub(super) fn translate(
    given: &[Assignment],
    table: &[Variable],
    server: &str,
    out: &mut Document,
) -> Parts {
    let mut parts = Parts::default();
    let mut seen: BTreeMap<&str, &Value> = BTreeMap::new();
    for Assignment { name, value, line } in given {
        if seen.insert(name, value).is_some_and(|other| other != value) {
            out.note(
                *line,
                name,
                "it is set to another value as well, and the last one counts",
            );
        }
        if value.as_str().is_some_and(is_reference) {
            out.note(
                *line,
                name,
                "its value is that of another variable, which this file does not tell",
            );
            continue;
        }
        // An empty variable counts as none.
        if value.as_str() == Some("") {
            continue;
        }
        match table.iter().find(|row| row.is(name)).map(|row| row.becomes) {
            Some(Becomes::Key(key, translate)) => match translate(value) {
                Ok(value) => out.set(key, value),
                Err(why) => out.note(*line, name, &format!("`{key}`: {why}")),
            },
            Some(Becomes::Part(_)) => _ = parts.0.insert(name.clone(), (value.clone(), *line)),
            Some(Becomes::Nothing(why)) => out.note(*line, name, why),
            None => {
                let names = table.iter().flat_map(|row| row.names).copied();
                let near = nearest(name, names).map(|near| format!("; {near} is one"));
                let near = near.unwrap_or_default();
                out.note(*line, name, &format!("{server} has no such variable{near}"));
            }
        }
    }
    parts
}

impl Parts {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|(value, _)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        self.get(name).map_or_else(Vec::new, super::values::texts)
    }

    /// Whether a variable is set and true.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| super::values::flag(value) == Ok(Value::Boolean(true)))
    }

    /// Whether a variable is set and false.
    pub(super) fn is_off(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| super::values::flag(value) == Ok(Value::Boolean(false)))
    }

    /// Translates a variable, if it is set. If its value cannot be translated, the document notes why.
    pub(super) fn put(
        &self,
        name: &str,
        translate: Translate,
        out: &mut Document,
    ) -> Option<Value> {
        let (value, line) = self.0.get(name)?;
        match translate(value) {
            Ok(value) => Some(value),
            Err(why) => {
                out.note(*line, name, &why);
                None
            }
        }
    }

    /// Notes something about a variable, with the line that sets it.
    pub(super) fn note(&self, name: &str, why: &str, out: &mut Document) {
        let line = self.0.get(name).map_or(0, |(_, line)| *line);
        out.note(line, name, why);
    }
}

/// Returns a server's table as Markdown.
pub(super) fn markdown(table: &[Variable]) -> String {
    let mut text = "| variable | key |\n|---|---|\n".to_owned();
    for row in table {
        let names: Vec<String> = row.names.iter().map(|name| format!("`{name}`")).collect();
        let becomes = match row.becomes {
            Becomes::Key(key, _) => format!("`{key}`"),
            Becomes::Part(what) => what.to_owned(),
            Becomes::Nothing(why) => format!("none: {why}"),
        };
        let _ = writeln!(text, "| {} | {becomes} |", names.join(" "));
    }
    text
}
