//! Translates the variables of another server according to a table: each has a key of `andon.toml`, or a reason why it
//! has none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use andon_recipe::nearest;
use toml::Value;

use super::assignments::{Absent, Assignment, At, Environment, is_reference};
use super::document::Document;
use super::values;

/// The translation of a group of another server's environment variables, as one row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    /// Names of variables with the same translation. A name that ends with `*` matches all names with that prefix.
    pub(super) names: &'static [&'static str],
    pub(super) becomes: Becomes,
}

/// The translation of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Becomes {
    /// A key of `andon.toml`, such as `imgproxy.quality`, and the function that translates the value.
    Key(&'static str, Translate),
    /// A part of a setting that several variables contribute to, and a description of that setting.
    Part(&'static str),
    /// The variable has no key in `andon.toml`. The text is the reason.
    Nothing(&'static str),
}

/// Translates the value of another server's environment variable, a string or a Python literal, to the value of a key
/// of `andon.toml`. If that is not possible, the error is the reason, in words for the user.
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
    /// Whether this translation applies to the variable with this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.names
            .iter()
            .any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => *known == name,
            })
    }
}

/// The variables that contribute to a setting together ([`Becomes::Part`]), with their values and positions.
#[derive(Debug, Default)]
pub(super) struct Parts {
    values: BTreeMap<String, (Value, At)>,
    /// The variables that the imported files name, but whose values are not in these files.
    absent: BTreeSet<String>,
    /// Whether there are further sources of variables that were not read.
    are_elsewhere: bool,
}

/// Where the value is of a variable that refers to another variable: the end of a sentence that begins with "its value
/// is".
const OF_VARIABLE: &str = "that of another variable, which this file does not tell";

/// Translates variables according to a table, and writes them to the document. Adds a note for each variable without a
/// key. Returns the variables that are parts of a setting, for the caller to translate. `server` is the name of the
/// server whose variables these are.
pub(super) fn translate(
    environment: &Environment,
    table: &[Variable],
    server: &str,
    out: &mut Document,
) -> Parts {
    out.add_files(&environment.files);
    let mut parts = note_unread(environment, table, server, out);
    let mut values_by_name: BTreeMap<&str, &Value> = BTreeMap::new();
    for Assignment { name, value, at } in &environment.set {
        if values_by_name
            .insert(name, value)
            .is_some_and(|other| other != value)
        {
            out.note(
                *at,
                name,
                "it is set to another value as well, and the last one counts",
            );
        }
        if value.as_str().is_some_and(is_reference) {
            let it = Absent {
                name: name.clone(),
                at: *at,
                place: OF_VARIABLE.to_owned(),
            };
            note_absent(&it, table, server, out);
            parts.absent.insert(name.clone());
            parts.values.remove(name);
            continue;
        }
        // An empty variable counts as not set.
        if value.as_str() == Some("") {
            continue;
        }
        match table.iter().find(|row| row.is(name)).map(|row| row.becomes) {
            Some(Becomes::Key(key, translate)) => match translated(value, translate) {
                Some(Ok(value)) => out.set(key, value),
                Some(Err(why)) => out.note(*at, name, &format!("`{key}`: {why}")),
                None => {}
            },
            Some(Becomes::Part(_)) => {
                parts.values.insert(name.clone(), (value.clone(), *at));
            }
            Some(Becomes::Nothing(why)) => out.note(*at, name, why),
            None => out.note(*at, name, &unknown(name, table, server)),
        }
    }
    parts
}

/// Translates a value. Returns `None` if it means that the variable is not set, unless the variable is a flag.
fn translated(value: &Value, translate: Translate) -> Option<Result<Value, String>> {
    let result = translate(value);
    let is_flag = matches!(result, Ok(Value::Boolean(_)));
    (is_flag || !values::is_none(value)).then_some(result)
}

/// Adds notes on sources of variables that were not read, and on variables that the imported files name without their
/// values. Returns [`Parts`] that record both, without any values.
fn note_unread(
    environment: &Environment,
    table: &[Variable],
    server: &str,
    out: &mut Document,
) -> Parts {
    let mut parts = Parts {
        are_elsewhere: !environment.elsewhere.is_empty(),
        ..Parts::default()
    };
    for it in &environment.elsewhere {
        let what = format!(
            "the variables in {} were not read: those of {server} are to be added here",
            it.place
        );
        out.note(it.at, &it.key, &what);
    }
    for it in &environment.absent {
        if environment.set.iter().all(|set| set.name != it.name) {
            note_absent(it, table, server, out);
            parts.absent.insert(it.name.clone());
        }
    }
    parts
}

/// Adds a note on where the value of a variable is, and which key it belongs to.
fn note_absent(it: &Absent, table: &[Variable], server: &str, out: &mut Document) {
    let Absent { name, at, place } = it;
    let row = table.iter().find(|row| row.is(name));
    let key = match row.map(|row| row.becomes) {
        Some(Becomes::Key(key, _)) => Ok(key),
        Some(Becomes::Part(what)) => single_key(what).ok_or(what),
        Some(Becomes::Nothing(why)) => return out.note(*at, name, why),
        None => return out.note(*at, name, &unknown(name, table, server)),
    };
    let what = match key {
        Ok(key) => format!("set {} from it", own_variable(key)),
        Err(what) => format!("it is a part of {what}"),
    };
    out.note(*at, name, &format!("its value is {place}: {what}"));
}

/// Returns the key that a description such as "`imgproxy.keys`" consists of. `None` if the description is not a single
/// key.
fn single_key(what: &str) -> Option<&str> {
    let key = what
        .split(';')
        .next()?
        .strip_prefix('`')?
        .strip_suffix('`')?;
    let is_key = |c: char| c.is_ascii_lowercase() || c == '_' || c == '.';
    key.chars().all(is_key).then_some(key)
}

/// Returns the environment variable of Andon that sets a key.
pub(crate) fn own_variable(key: &str) -> String {
    format!("ANDON_{}", key.replace('.', "__").to_ascii_uppercase())
}

fn unknown(name: &str, table: &[Variable], server: &str) -> String {
    let names = table.iter().flat_map(|row| row.names).copied();
    let near = nearest(name, names).map(|near| format!("; {near} is one"));
    let near = near.unwrap_or_default();
    format!("{server} has no such variable{near}")
}

impl Parts {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the value of a variable, unless the value means that it is not set. Not for flags, whose `false` is a
    /// value.
    fn value_of(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !values::is_none(value))
    }

    /// Whether a variable has a value, other than one which means that it is not set. Not for flags, whose `false` is a
    /// value.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.value_of(name).is_some()
    }

    /// Whether no file that was read sets a variable, but it may be set elsewhere: a file names it without its value,
    /// or refers to further variables that were not read.
    pub(super) fn is_unread(&self, name: &str) -> bool {
        !self.is_given(name) && (self.are_elsewhere || self.absent.contains(name))
    }

    /// Whether no file that was read sets a variable, but one names it, with a value that is elsewhere.
    pub(super) fn is_absent(&self, name: &str) -> bool {
        !self.is_given(name) && self.absent.contains(name)
    }

    /// Records that the value of a variable could not be read.
    pub(super) fn miss(&mut self, name: &str) {
        self.absent.insert(name.to_owned());
    }

    /// Returns the names of the variables that have values.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.value_of(name)?.as_str()
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        self.value_of(name).map_or_else(Vec::new, values::texts)
    }

    /// Whether a variable is set and true.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| values::flag(value) == Ok(Value::Boolean(true)))
    }

    /// Whether a variable is set and false.
    pub(super) fn is_off(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| values::flag(value) == Ok(Value::Boolean(false)))
    }

    /// Translates a variable if it is set. If the value cannot be translated, adds a note on why.
    pub(super) fn put(
        &self,
        name: &str,
        translate: Translate,
        out: &mut Document,
    ) -> Option<Value> {
        let (value, at) = self.values.get(name)?;
        match translated(value, translate)? {
            Ok(value) => Some(value),
            Err(why) => {
                out.note(*at, name, &why);
                None
            }
        }
    }

    /// Adds a note about a variable at the line that sets it, with lines to add to the file.
    pub(super) fn advise(&self, name: &str, why: &str, lines: Vec<String>, out: &mut Document) {
        let at = self.values.get(name).map_or(At::FILE, |(_, at)| *at);
        out.advise(at, name, why, lines);
    }

    /// Adds a note about a variable at the line that sets it.
    pub(super) fn note(&self, name: &str, why: &str, out: &mut Document) {
        self.advise(name, why, Vec::new(), out);
    }
}

/// Returns the table of a server's variables as Markdown, with the translation of each.
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
