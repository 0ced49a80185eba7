//! Generates the text of the configuration for the URLs of a log.

use std::collections::BTreeMap;
use std::fmt::Write;

use andon_dialects::Form;
use andon_dialects::forms::Room;

use super::base::Base;
use super::recognise::{Found, Place, Recognised};
use super::secrets::{self, Secret};
use super::settings;
use crate::import::quoted;

/// A configuration that is still being built.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The text of the configuration that the draft completes; empty if there is none.
    base: String,
    /// The text of `base` for a trial server, which does not verify signatures whose key is unknown.
    base_tried: String,
    /// Comment lines at the top of the configuration file.
    head: Vec<String>,
    rewrites: Vec<Rule>,
    tables: Vec<Table>,
    /// Whether the configuration has to serve plain files explicitly, because the signing key of a dialect would make
    /// the server refuse their unsigned URLs.
    opens_files: bool,
    pub(super) origins: String,
}

/// A `[[rewrite]]` table of the configuration.
#[derive(Debug)]
struct Rule {
    from: String,
    to: String,
    why: String,
}

/// The configuration table of a dialect.
#[derive(Debug)]
struct Table {
    name: &'static str,
    lines: Vec<String>,
    secrets: Vec<Secret>,
    /// Rewrites that remove signatures whose key is unknown. Only the configuration of the trial server has them, so
    /// that it can answer the log's signed URLs.
    lifted: Vec<Rule>,
    /// Whether the table needs `open = true`, because the signing key of another dialect would refuse its unsigned
    /// URLs.
    opens: bool,
}

/// What a drafted configuration is generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// The `andon.toml` that `andon adopt` writes for the user. It has a line for every secret, even for those whose
    /// values are unknown and which the user has to fill in.
    Use,
    /// The configuration of a trial server, which does not verify signatures with unknown keys.
    Trial,
}

impl Draft {
    /// Builds the configuration for the recognised URLs. `base` is the configuration that it completes.
    pub(super) fn new(
        base: &Base,
        recognition: &Recognised,
        targets: &[(String, u64)],
    ) -> anyhow::Result<Self> {
        let base_table: toml::Table = toml::from_str(&base.text)?;
        let mut draft = Self::default();
        draft.rebase(base)?;
        let mut prefixes: Vec<String> = places(&base_table)
            .into_iter()
            .map(|(_, prefix)| prefix)
            .collect();
        let mut by_kind: BTreeMap<&Form, Vec<&Found>> = BTreeMap::new();
        for entry in &recognition.entries {
            by_kind.entry(entry.kind).or_default().push(entry);
        }
        for kind in andon_dialects::forms() {
            let Some(entries) = by_kind.get(kind) else {
                continue;
            };
            let mount = match base_table.get(kind.dialect) {
                Some(table) => own_prefix(kind, table),
                None => {
                    let mount = mount(entries, recognition, targets, &prefixes);
                    prefixes.push(mount.clone());
                    let all = recognition
                        .entries
                        .iter()
                        .filter(|it| it.kind.dialect == kind.dialect);
                    let all: Vec<&Found> = all.collect();
                    draft.add_table(kind, &mount, entries, &all, targets)?;
                    Some(mount)
                }
            };
            if let Some(mount) = mount {
                draft.add_rewrites(kind, &mount, entries, targets);
            }
        }
        let has_key = |table: &Table| table.secrets.iter().any(|it| it.is_key);
        let closers: Vec<&str> = (draft.tables.iter().filter(|it| has_key(it)))
            .map(|it| it.name)
            .collect();
        for table in &mut draft.tables {
            table.opens = !has_key(table) && !closers.is_empty();
        }
        draft.opens_files = !closers.is_empty()
            && !recognition.files.is_empty()
            && !base_table.contains_key("files");
        if base.text.is_empty() {
            let is_used = |name: &str| draft.tables.iter().any(|table| table.name == name);
            let unused_dialects = ["native", "small_light"]
                .into_iter()
                .filter(|name| !is_used(name));
            let off: Vec<Table> = unused_dialects.map(Table::off).collect();
            draft.tables.extend(off);
        }
        Ok(draft)
    }

    /// Sets the configuration that this draft completes to `base`, instead of the one that was set before. What the
    /// draft itself adds, such as rewrites and tables, stays the same.
    pub(super) fn rebase(&mut self, base: &Base) -> anyhow::Result<()> {
        self.base.clone_from(&base.text);
        self.base_tried = base.trial()?;
        Ok(())
    }

    /// Adds a comment line at the top of the configuration file.
    pub(super) fn say(&mut self, line: impl Into<String>) {
        self.head.push(line.into());
    }

    /// Returns the secrets that the user has to fill in.
    pub(super) fn unknown_secrets(&self) -> impl Iterator<Item = &Secret> {
        let all = self.tables.iter().flat_map(|table| &table.secrets);
        all.filter(|secret| !secret.is_known)
    }

    /// Adds the configuration table of a dialect, with the prefix `mount` for URLs of the form `kind`. If the table
    /// exists already, adds only the prefix. `entries` are the prefixes at which URLs of this form were recognised, and
    /// `all` those of every form with the same table, such as both versions of IIIF.
    fn add_table(
        &mut self,
        kind: &'static Form,
        mount: &str,
        entries: &[&Found],
        all: &[&Found],
        targets: &[(String, u64)],
    ) -> anyhow::Result<()> {
        let mut lines = Vec::new();
        if let Some(key) = kind.prefix_key {
            let prefix = if mount.is_empty() { "/" } else { mount };
            lines.push(format!("{key} = {}", quoted(prefix)));
        }
        // Two forms may share a table, such as both versions of IIIF.
        if let Some(table) = self
            .tables
            .iter_mut()
            .find(|table| table.name == kind.dialect)
        {
            table.lines.extend(lines);
            return Ok(());
        }
        lines.extend(settings::lines(kind, all, targets));
        let secrets = secrets::of(entries, targets)?;
        let is_lifted = ["thumbor", "imagor"].contains(&kind.dialect)
            && secrets.iter().any(|secret| !secret.is_known);
        let lifted = entries.iter().filter(|_| is_lifted).map(|entry| {
            let (from, to) = unsigned(&entry.prefix, mount);
            let why = String::new();
            Rule { from, to, why }
        });
        let lifted = lifted.collect();
        self.tables.push(Table {
            name: kind.dialect,
            lines,
            secrets,
            lifted,
            opens: false,
        });
        Ok(())
    }

    /// Adds rewrite rules to `mount`, the prefix at which the draft serves the dialect. They rewrite URLs with other
    /// prefixes that occur in the logs, and remove a slash at the end of a path if the dialect has only one path, such
    /// as `/_image`.
    fn add_rewrites(
        &mut self,
        kind: &'static Form,
        mount: &str,
        entries: &[&Found],
        targets: &[(String, u64)],
    ) {
        for entry in entries {
            let prefix = regex::escape(&entry.prefix);
            let paths = entry.readings.iter().map(|(index, _)| &*targets[*index].0);
            let is_slashed =
                |target: &str| target.split('?').next().unwrap_or_default().ends_with('/');
            let is_endpoint = kind.room == Room::OnePath;
            if is_endpoint && { paths }.any(is_slashed) {
                self.rewrites.push(Rule {
                    from: format!("^{prefix}/$"),
                    to: mount.to_owned(),
                    why: "a slash at the end".to_owned(),
                });
            }
            if entry.prefix != mount && kind.prefix_key.is_some() {
                let place = if entry.prefix.is_empty() {
                    "/"
                } else {
                    &entry.prefix
                };
                self.rewrites.push(Rule {
                    from: format!("^{prefix}({})$", kind.pattern),
                    to: format!("{mount}$1"),
                    why: format!("{kind} at {place}"),
                });
            }
        }
    }

    /// Returns the text of the configuration file.
    pub(super) fn text(&self, what: For) -> String {
        let mut out = String::new();
        for line in &self.head {
            let _ = writeln!(out, "# {line}");
        }
        out += match what {
            For::Use => &self.base,
            For::Trial => &self.base_tried,
        };
        out += &self.origins;
        let lifted = (self.tables.iter()).flat_map(|table| &table.lifted);
        let lifted = lifted.filter(|_| what == For::Trial);
        for Rule { from, to, why } in lifted.chain(&self.rewrites) {
            let why = if why.is_empty() {
                String::new()
            } else {
                format!("  # {why}")
            };
            let _ = writeln!(
                out,
                "\n[[rewrite]]{why}\nfrom = {}\nto = {}",
                quoted(from),
                quoted(to)
            );
        }
        if self.opens_files {
            out += "\n[files]\nopen = true  # the log has plain files\n";
        }
        for table in &self.tables {
            let _ = writeln!(out, "\n[{}]", table.name);
            for line in &table.lines {
                out += line;
                out.push('\n');
            }
            if table.opens {
                out += "open = true  # its URLs are not signed\n";
            }
            let is_open = table
                .lines
                .iter()
                .any(|line| line.starts_with("allow_unsafe"));
            if what == For::Trial && !table.lifted.is_empty() && !is_open {
                out += "allow_unsafe = true\n";
            }
            let is_wanted =
                |secret: &&Secret| what == For::Use || secret.is_known || !secret.is_key;
            for secret in table.secrets.iter().filter(is_wanted) {
                out += &secret.lines.join("\n");
                out.push('\n');
            }
        }
        out.trim_start().to_owned()
    }
}

/// Returns `from` and `to` of a rewrite for signed URLs of thumbor or imagor below `prefix`. It replaces the prefix by
/// `mount` and the signature by `unsafe`.
pub(super) fn unsigned(prefix: &str, mount: &str) -> (String, String) {
    let prefix = regex::escape(prefix);
    let from = format!("^{prefix}/[A-Za-z0-9_-]{{26,88}}(?:=|%3D){{0,2}}(/.+)$");
    (from, format!("{mount}/unsafe$1"))
}

impl Table {
    fn off(name: &'static str) -> Self {
        Self {
            name,
            lines: vec!["enabled = false  # true: as in docs/configuration.md".to_owned()],
            secrets: Vec::new(),
            lifted: Vec::new(),
            opens: false,
        }
    }
}

/// Returns the prefix at which to mount a dialect: the prefix of most of its URLs, or one of its own (`/_DIALECT`) if
/// another dialect is mounted there, or if the dialect would refuse other URLs of the log below that prefix.
fn mount(
    entries: &[&Found],
    recognition: &Recognised,
    targets: &[(String, u64)],
    prefixes: &[String],
) -> String {
    let Some(first) = entries.iter().max_by_key(|it| it.readings.len()) else {
        return String::new();
    };
    let below = format!("{}/", first.prefix);
    let others = recognition
        .entries
        .iter()
        .filter(|it| it.kind != first.kind);
    let others = others.flat_map(|it| it.readings.iter().map(|(index, _)| *index));
    let mut others = others.chain(recognition.files.iter().copied());
    let is_shared = others.any(|index| targets[index].0.starts_with(&below));
    let number = first
        .kind
        .prefix_key
        .and_then(|key| key.strip_prefix("prefix"));
    let mut neighbours = recognition
        .entries
        .iter()
        .filter(|it| it.kind != first.kind);
    // An endpoint is one path, which nothing else can share.
    let is_between = first.kind.is_endpoint() && neighbours.any(|it| it.prefix == first.prefix);
    let refuses = first.kind.room == Room::Everything && is_shared;
    match refuses || is_between || prefixes.contains(&first.prefix) {
        true => format!("/_{}{}", first.kind.dialect, number.unwrap_or_default()),
        false => first.prefix.clone(),
    }
}

/// Returns the URL forms of dialects for which a configuration sets a prefix, each with that prefix.
pub(super) fn places(config: &toml::Table) -> Vec<Place> {
    let forms = andon_dialects::forms();
    let place = |form: &'static Form| Some((form, own_prefix(form, config.get(form.dialect)?)?));
    forms.filter_map(place).collect()
}

/// Returns the prefix of the form `kind` in the configuration table of its dialect, without the slash at its end.
/// `None` if the table sets no prefix or an empty one.
fn own_prefix(kind: &Form, table: &toml::Value) -> Option<String> {
    let key = kind.prefix_key?;
    let prefix = table.get(key)?.as_str()?;
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    (!table.get(key)?.as_str()?.is_empty()).then(|| prefix.to_owned())
}
