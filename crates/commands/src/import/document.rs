//! The `andon.toml` that is generated from another server's environment variables.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use andon_server::Config;
use anyhow::Context;
use toml::{Table, Value};

use super::assignments::At;
use super::variables::own_variable;
use super::write::{key, quoted};
use super::{Input, UNNAMED_BUCKET};
use crate::play;

/// The keys, origins and fallbacks of the generated file, and notes on variables that have no key.
#[derive(Debug)]
pub(super) struct Document {
    /// Names of the files: the imported one, and those that it refers to.
    files: Vec<String>,
    /// Notes on what was not imported, with the lines that the user could add instead.
    notes: Vec<(At, String, Vec<String>)>,
    keys: Table,
    /// Keys with random values, by path, and the comment that names the value to fill in.
    unknown: BTreeMap<String, String>,
    origins: Vec<Table>,
    fallbacks: Vec<Table>,
    /// Whether secrets are replaced by random values.
    no_secrets: bool,
}

/// The keys of the generated `andon.toml` whose values are secrets.
const SECRETS: [&str; 5] = [
    "imgproxy.keys",
    "imgproxy.salts",
    "imgproxy.source_key",
    "thumbor.keys",
    "imagor.keys",
];

/// Returns the comment after a random key, which says that the value of `variable` goes there.
pub(crate) fn unknown_secret(variable: &str) -> String {
    format!("{SECRET}{variable}{GOES_HERE}; this random one opens nothing")
}

/// Returns the key and the variable of a line with a comment from [`unknown_secret`].
pub(crate) fn unknown_secret_in(line: &str) -> Option<(&str, &str)> {
    let (line, comment) = line.split_once(SECRET)?;
    let (variable, _) = comment.split_once(GOES_HERE)?;
    let (key, _) = line.split_once(" = ")?;
    Some((key, variable))
}

/// Returns the values in a configuration that the user still has to fill in, one line each: random keys, unless
/// `is_set` says that Andon's environment variable for the key is set, and buckets without a name.
pub(crate) fn unfilled(text: &str, is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let mut table = "";
    let mut list = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            table = name;
        }
        let number = index + 1;
        if let Some((setting, comment)) = line.split_once(SECRET) {
            let key = setting.split(" = ").next().unwrap_or_default();
            let path = format!("{table}.{key}");
            if !is_set(&own_variable(&path)) {
                list.push(format!(
                    "line {number}: {path} is marked SECRET ({comment}); remove the mark when it is filled in"
                ));
            }
        } else if line.contains(&quoted(UNNAMED_BUCKET)) {
            list.push(format!(
                "line {number}: {UNNAMED_BUCKET} stands for the name of a bucket"
            ));
        }
    }
    list
}

const SECRET: &str = "  # SECRET: ";
const GOES_HERE: &str = " goes here";

impl Document {
    pub(super) fn new(input: &Input<'_>) -> Self {
        Self {
            files: vec![input.name.to_owned()],
            notes: Vec::new(),
            keys: Table::new(),
            unknown: BTreeMap::new(),
            origins: Vec::new(),
            fallbacks: Vec::new(),
            no_secrets: input.no_secrets,
        }
    }

    /// Adds the names of files that were read in addition to the imported one.
    pub(super) fn add_files(&mut self, files: &[String]) {
        self.files.extend_from_slice(files);
    }

    /// Adds a note on why a variable was not imported, or what to know about its import.
    pub(super) fn note(&mut self, at: At, name: &str, why: &str) {
        self.advise(at, name, why, Vec::new());
    }

    /// Adds a note on why a variable was not imported, with lines to add to the file instead.
    pub(super) fn advise(&mut self, at: At, name: &str, why: &str, lines: Vec<String>) {
        let whole = |text: String| text.replace(['\n', '\r'], " ");
        let lines = lines.into_iter().map(whole).collect();
        self.notes
            .push((at, whole(format!("{name}: {why}")), lines));
    }

    /// Sets a key, given by its path, such as `imgproxy.quality`.
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

    /// Sets an unknown secret to a random text, which no URL was signed with, and a comment that names the variable to
    /// fill in.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(super) fn set_unknown(&mut self, key: &str, variable: &str) -> anyhow::Result<()> {
        self.set(key, random()?);
        self.is_unknown(key, variable);
        Ok(())
    }

    /// Sets a list of `count` unknown secrets to random texts, with a comment that names the variable to fill in.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(super) fn set_all_unknown(
        &mut self,
        key: &str,
        count: usize,
        variable: &str,
    ) -> anyhow::Result<()> {
        let values: anyhow::Result<Vec<String>> = (0..count).map(|_| random()).collect();
        self.set(key, values?);
        self.is_unknown(key, variable);
        Ok(())
    }

    fn is_unknown(&mut self, key: &str, variable: &str) {
        self.unknown
            .insert(key.to_owned(), unknown_secret(variable));
    }

    /// Replaces all secrets by random ones, with comments that name Andon's environment variables for them. Until these
    /// are set, the server accepts no signature.
    fn leave_out_secrets(&mut self) -> anyhow::Result<()> {
        for key in SECRETS {
            let (table, below) = key.split_once('.').unwrap_or_default();
            let table = self.keys.get_mut(table).and_then(Value::as_table_mut);
            let Some(value) = table.and_then(|table| table.get_mut(below)) else {
                continue;
            };
            match value {
                Value::Array(all) => {
                    for one in all {
                        *one = random()?.into();
                    }
                }
                one => *one = random()?.into(),
            }
            let variable = own_variable(key);
            let what = format!("  # SECRET: set {variable}; this random one opens nothing");
            self.unknown.insert(key.to_owned(), what);
        }
        Ok(())
    }

    /// Sets a key if there is a value.
    pub(super) fn set_if(&mut self, key: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Whether a key is set to `true`.
    pub(super) fn is_true(&self, key: &str) -> bool {
        let (table, key) = key.rsplit_once('.').unwrap_or(("", key));
        let table = self.keys.get(table).and_then(Value::as_table);
        table.unwrap_or(&self.keys).get(key) == Some(&Value::Boolean(true))
    }

    /// Adds an `[[origin]]` with these keys, such as `http.urls`.
    pub(super) fn add_origin(&mut self, keys: impl IntoIterator<Item = (String, Value)>) {
        self.origins.push(keys.into_iter().collect());
    }

    /// Whether an origin has a key, such as `allow`.
    pub(super) fn has_in_origin(&self, key: &str) -> bool {
        self.origins.iter().any(|origin| origin.contains_key(key))
    }

    /// Adds a `[[fallback]]` with these keys.
    pub(super) fn add_fallback(&mut self, keys: impl IntoIterator<Item = (String, Value)>) {
        self.fallbacks.push(keys.into_iter().collect());
    }

    /// Returns the value of a key of the first origin that has it.
    pub(super) fn of_origins(&self, key: &str) -> Option<&Value> {
        self.origins.iter().find_map(|origin| origin.get(key))
    }

    /// Whether one of the remote origins may fetch this URL.
    pub(super) fn serves(&self, url: &str) -> bool {
        let remote = self.origins.iter().filter(|it| !it.contains_key("fs.root"));
        let mut text = String::new();
        write_list(&mut text, "origin", remote);
        let image = Table::from_iter([("image".to_owned(), Value::from(url))]);
        write_list(&mut text, "fallback", [&image]);
        let config = Config::parse(&text, Path::new(""));
        config.is_ok_and(|config| andon_server::check(&config, andon_codecs::ALL).is_ok())
    }

    pub(super) fn has_origin(&self) -> bool {
        !self.origins.is_empty()
    }

    /// Returns the text of the generated `andon.toml`.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(super) fn text(mut self) -> anyhow::Result<String> {
        if self.no_secrets {
            self.leave_out_secrets()?;
        }
        let mut out = format!("# Imported from {} by `andon import`.\n", self.files[0]);
        self.notes.sort();
        if !self.notes.is_empty() {
            out += "#\n# What was not taken over, or differs:\n";
        }
        for (At { file, line }, note, lines) in &self.notes {
            let file = self.files.get(*file).map_or("", String::as_str);
            let _ = match line {
                0 => writeln!(out, "# {file}: {note}"),
                line => writeln!(out, "# {file}:{line}: {note}"),
            };
            for line in lines {
                let _ = writeln!(out, "#     {line}");
            }
        }
        let (tables, keys): (Vec<_>, Vec<_>) =
            self.keys.iter().partition(|(_, value)| value.is_table());
        out.push('\n');
        for (name, value) in keys {
            let _ = writeln!(out, "{} = {value}", key(name));
        }
        write_list(&mut out, "origin", &self.origins);
        write_list(&mut out, "fallback", &self.fallbacks);
        for (name, value) in tables {
            write_table(&mut out, &key(name), value, &self.unknown);
        }
        Ok(out)
    }
}

/// Writes a list of TOML tables, `[[name]]`. The name of the list may contain dots.
fn write_list<'a>(out: &mut String, name: &str, tables: impl IntoIterator<Item = &'a Table>) {
    for table in tables {
        let _ = writeln!(out, "\n[[{name}]]");
        for (key, value) in table {
            let _ = writeln!(out, "{key} = {value}");
        }
    }
}

/// Writes a TOML table: its plain keys before the tables in it.
fn write_table(out: &mut String, name: &str, value: &Value, unknown: &BTreeMap<String, String>) {
    let Value::Table(table) = value else {
        return;
    };
    let (tables, keys): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
    if !keys.is_empty() {
        let _ = writeln!(out, "\n[{name}]");
    }
    for (below, value) in keys {
        let comment = unknown.get(&format!("{name}.{below}"));
        let comment = comment.map_or("", String::as_str);
        let _ = writeln!(out, "{} = {value}{comment}", key(below));
    }
    for (below, value) in tables {
        write_table(out, &format!("{name}.{}", key(below)), value, unknown);
    }
}

fn random() -> anyhow::Result<String> {
    play::token().context("cannot make a random key")
}
