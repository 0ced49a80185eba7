//! Finds variables in docker-compose files, Kubernetes manifests and the values of Helm charts.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use toml::Value;

use super::lines::{self, OF_STARTER, assignment, files_of, of_line, of_words, words};
use super::yaml::{Item, Node};
use super::{Absent, At, Elsewhere, Environment, Leaf, is_name};

/// Returns the variables in the YAML documents of a file.
pub(super) fn read(documents: Vec<Item>) -> Environment {
    let mut collector = Found::default();
    collector.environment.is_compose = documents.iter().any(|it| it.node.get("services").is_some());
    for mut document in documents {
        if let Node::Map(entries) = &mut document.node {
            // Extension fields (`x-…`) of a compose file count only where their anchors are used.
            entries.retain(|(key, _)| !key.starts_with("x-"));
        }
        collector.item(&document);
    }
    let mut environment = collector.environment;
    // A map with an anchor is read both where it is defined and where it is used. Of equal assignments, the last one is
    // kept.
    let mut distinct = BTreeSet::new();
    environment.set.reverse();
    environment
        .set
        .retain(|it| distinct.insert((it.name.clone(), it.value.to_string(), it.at)));
    environment.set.reverse();
    // References to a `Secret` or `ConfigMap` in the same file are resolved, because its variables are read as well.
    let is_there = |it: &Elsewhere| collector.maps.contains(&it.place);
    environment.elsewhere.retain(|it| !is_there(it));
    environment
}

#[derive(Default)]
struct Found {
    environment: Environment,
    /// Every `Secret` and `ConfigMap` of the file, with its kind and name: "the Secret `keys`".
    maps: Vec<String>,
}

impl Found {
    fn set(&mut self, name: &str, value: &str, line: usize) {
        self.environment.set.push(assignment(name, value, line));
    }

    fn absent(&mut self, name: &str, line: usize, place: String) {
        self.environment.absent.push(Absent {
            name: name.to_owned(),
            at: At::line(line),
            place,
        });
    }

    fn elsewhere(&mut self, key: &str, line: usize, place: String, path: Option<&str>) {
        self.environment.elsewhere.push(Elsewhere {
            at: At::line(line),
            key: key.to_owned(),
            place,
            path: path.map(str::to_owned),
        });
    }

    fn item(&mut self, item: &Item) {
        match &item.node {
            Node::Null => {}
            Node::Text(text) => self.text(text, item.line),
            Node::List(items) => items.iter().for_each(|item| self.item(item)),
            Node::Map(entries) => {
                let name = item.node.get("name").and_then(|it| it.node.text());
                let is_listed = |key: &str| ["name", "value", "valueFrom"].contains(&key);
                let is_variable = entries.iter().all(|(key, _)| is_listed(key));
                if let Some(name) = name.filter(|name| is_variable && is_name(name)) {
                    self.variable(name, item);
                    return;
                }
                let kind = item.node.get("kind").and_then(|it| it.node.text());
                let kind = kind.unwrap_or_default();
                if let ("Secret" | "ConfigMap", Some(metadata)) = (kind, item.node.get("metadata"))
                    && let Some(name) = metadata.node.get("name").and_then(|it| it.node.text())
                {
                    self.maps.push(format!("the {kind} `{name}`"));
                }
                for (key, item) in entries {
                    self.entry(key, item, kind);
                }
            }
        }
    }

    fn entry(&mut self, key: &str, item: &Item, kind: &str) {
        match key {
            key if is_env_from(key) => self.env_from(key, item),
            "env_file" => self.env_file(item),
            "command" | "args" | "entrypoint" => self.command(item),
            "data" if kind == "Secret" => self.encoded(item),
            "encryptedData" => {
                for (name, item) in entries(&item.node) {
                    self.absent(name, item.line, "encrypted".to_owned());
                }
            }
            name if is_name(name) => self.variable(name, item),
            _ => self.item(item),
        }
    }

    /// Reads a string that is neither a key nor the value of a variable: `NAME=value` in a list, the name of a variable
    /// that is passed through, lines of a file, or a command.
    fn text(&mut self, text: &str, line: usize) {
        if text.contains('\n') {
            let mut inner = lines::read(text);
            for it in &mut inner.set {
                it.at = At::line(line + it.at.line);
            }
            self.environment.set.append(&mut inner.set);
            self.environment.elsewhere.append(&mut inner.elsewhere);
        } else if is_name(text) {
            self.absent(text, line, OF_STARTER.to_owned());
        } else if let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_name(name)) {
            self.set(name, value, line);
        } else {
            self.environment.elsewhere.extend(files_of(text, line));
            self.environment.set.extend(of_line(text, line));
        }
    }

    /// Reads a variable: a map with `value` or `valueFrom`, or a plain value.
    fn variable(&mut self, name: &str, item: &Item) {
        let line = item.line;
        match &item.node {
            Node::Null => self.absent(name, line, OF_STARTER.to_owned()),
            Node::Text(text) => self.set(name, text, line),
            Node::List(items) => {
                let texts = items.iter().filter_map(|it| it.node.text());
                let value: Vec<Value> = texts.map(Value::from).collect();
                self.environment.set.push(super::Assignment {
                    name: name.to_owned(),
                    value: Value::Array(value),
                    at: At::line(line),
                });
            }
            Node::Map(_) => match item.node.get("value") {
                Some(value) => self.variable(name, value),
                None => self.absent(name, line, place(&item.node)),
            },
        }
    }

    fn env_from(&mut self, key: &str, item: &Item) {
        let Node::List(items) = &item.node else {
            let is_empty =
                item.node == Node::Null || matches!(&item.node, Node::Map(all) if all.is_empty());
            if !is_empty {
                self.elsewhere(key, item.line, "what it names".to_owned(), None);
            }
            return;
        };
        for item in items {
            let of = |key, kind| Some((kind, item.node.get(key)?.node.get("name")?.node.text()?));
            let named = || Some(("Secret", item.node.text()?));
            let reference = of("secretRef", "Secret")
                .or_else(|| of("configMapRef", "ConfigMap"))
                .or_else(named);
            let place = reference.map_or("what it names".to_owned(), |(kind, name)| {
                format!("the {kind} `{name}`")
            });
            self.elsewhere(key, item.line, place, None);
        }
    }

    fn env_file(&mut self, item: &Item) {
        match &item.node {
            Node::Text(path) => {
                self.elsewhere("env_file", item.line, format!("`{path}`"), Some(path));
            }
            Node::List(items) => items.iter().for_each(|item| self.env_file(item)),
            Node::Map(_) => match item.node.get("path") {
                Some(path) => self.env_file(path),
                None => self.elsewhere("env_file", item.line, "a file".to_owned(), None),
            },
            Node::Null => {}
        }
    }

    fn command(&mut self, item: &Item) {
        let all: Vec<String> = match &item.node {
            Node::Text(text) if text.contains('\n') => return self.text(text, item.line),
            Node::Text(text) => words(text),
            Node::List(items) => {
                let texts = items.iter().filter_map(|it| it.node.text());
                texts.map(str::to_owned).collect()
            }
            // A map may have a key of the same name that is not about environment files.
            _ => return self.item(item),
        };
        // `sh -c "…"` has a whole command in one word.
        match all.iter().position(|word| word == "-c") {
            Some(at) if all.len() == at + 2 => self.text(&all[at + 1], item.line),
            _ => {
                let files = files_of(&all.join(" "), item.line);
                self.environment.elsewhere.extend(files);
                let assignments = of_words(&all, item.line);
                self.environment.set.extend(assignments);
            }
        }
    }

    /// Reads the data of a Secret, whose values are encoded in base64.
    fn encoded(&mut self, item: &Item) {
        for (name, item) in entries(&item.node) {
            let bytes = item.node.text().and_then(|text| STANDARD.decode(text).ok());
            match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(value) if is_name(name) => self.set(name, &value, item.line),
                Some(text) => self.text(&text, item.line),
                None => self.absent(name, item.line, "no base64 of a text".to_owned()),
            }
        }
    }
}

/// Returns the scalar values below a key that is at the top level of the documents, or in a map at the top level.
pub(super) fn leaves(documents: &[Item], key: &str) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for document in documents {
        let inner = entries(&document.node).iter().map(|(_, item)| item);
        for map in std::iter::once(document).chain(inner) {
            if let Some(item) = map.node.get(key) {
                collect(item, "", &mut leaves);
            }
        }
    }
    leaves
}

fn collect(item: &Item, path: &str, leaves: &mut Vec<Leaf>) {
    match &item.node {
        Node::Text(value) => leaves.push(Leaf {
            path: path.to_owned(),
            value: value.clone(),
            at: At::line(item.line),
        }),
        Node::Map(entries) => {
            for (key, item) in entries {
                let dot = if path.is_empty() { "" } else { "." };
                collect(item, &format!("{path}{dot}{key}"), leaves);
            }
        }
        Node::Null | Node::List(_) => {}
    }
}

fn entries(node: &Node) -> &[(String, Item)] {
    match node {
        Node::Map(entries) => entries,
        _ => &[],
    }
}

/// Whether a key lists objects whose entries become variables: `envFrom` of a container, similar lists in the values of
/// charts, such as `extraEnvFrom`, and `addSecrets` of imgproxy's chart.
fn is_env_from(key: &str) -> bool {
    key == "addSecrets" || key.to_ascii_lowercase().ends_with("envfrom")
}

/// Describes the place that the `valueFrom` of a variable refers to.
fn place(node: &Node) -> String {
    let from = node.get("valueFrom").map_or(node, |it| &it.node);
    if let Some(text) = from.text() {
        return format!("in {text}");
    }
    for (key, kind) in [
        ("secretKeyRef", "a Secret"),
        ("configMapKeyRef", "a ConfigMap"),
    ] {
        if let Some(reference) = from.get(key) {
            let name = reference.node.get("name").and_then(|it| it.node.text());
            let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
            return format!("in {kind}{name}");
        }
    }
    match node.get("valueFrom") {
        Some(_) => "that of a field of the pod".to_owned(),
        None => OF_STARTER.to_owned(),
    }
}
