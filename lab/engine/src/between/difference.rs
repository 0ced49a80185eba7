//! Differences between two runs' set-ups, key by key.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::record::{Header, Run};

/// One key of the set-up that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The part of the set-up that the key belongs to.
    pub part: Part,
    /// The key as in scenarios, e.g. `load.connections`.
    pub key: String,
    /// The value in the old run; `–` if it has none.
    pub old: String,
    /// The value in the new run; `–` if it has none.
    pub new: String,
    /// Whether this difference makes the metrics of the two runs incomparable, so that they get no verdict.
    pub fatal: bool,
}

/// A part of a run's set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The machine and its kernel.
    Machine,
    /// The requests, and everything else in the scenario that does not describe the server.
    Asked,
    /// The server that was started, which is what a comparison is about.
    Server,
    /// The program that measured.
    Laboratory,
}

impl Part {
    /// Returns the part's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Asked => "asked",
            Self::Server => "server",
            Self::Laboratory => "laboratory",
        }
    }
}

/// Returns all differences, those of the machine first.
pub(super) fn all(old: &Run, new: &Run) -> Vec<Difference> {
    let (first, second) = (keys(old), keys(new));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let mut all: Vec<Difference> = names
        .into_iter()
        .filter_map(|key| {
            let (old, new) = (first.get(key), second.get(key));
            let same = match key.as_str() {
                "machine.memory" => is_similar(old, new),
                _ => old == new,
            };
            let part = part(key);
            let show = |it: Option<&String>| it.map_or_else(|| "–".to_owned(), |it| short(key, it));
            (!same).then(|| Difference {
                part,
                key: key.clone(),
                old: show(old),
                new: show(new),
                fatal: fatal(key),
            })
        })
        .collect();
    all.sort_by_key(|it| it.part);
    all
}

/// Returns everything that a comparison may depend on, as flat keys with values.
fn keys(run: &Run) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let header = &run.header;
    keys.insert("laboratory".to_owned(), header.program.clone());
    flatten("machine", value(&header.machine), &mut keys);
    flatten("", value(&header.scenario), &mut keys);
    keys.retain(|key, _| !LEFT_OUT.iter().any(|out| key.starts_with(out)));
    keys.insert("load.urls".to_owned(), urls(run));
    for (at, variant) in header.variants.iter().enumerate() {
        let mut of_variant = BTreeMap::new();
        flatten("", value(variant), &mut of_variant);
        of_variant.remove("name");
        of_variant.insert("program".to_owned(), program(header, at));
        let name = match header.variants.len() {
            1 => String::new(),
            _ => format!(" {}", variant.name),
        };
        for (key, value) in of_variant {
            keys.insert(format!("variant{name}.{key}"), value);
        }
    }
    keys
}

/// Prefixes of keys that are left out: they do not matter to the comparison, or are covered by the variants and their
/// URLs.
const LEFT_OUT: [&str; 11] = [
    "schema",
    "name",
    "seed",
    "gate",
    "matrix",
    "variant",
    "server.cmd",
    "server.env",
    "load.url",
    "machine.missing",
    "sample",
];

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

fn flatten(above: &str, value: Value, into: &mut BTreeMap<String, String>) {
    let join = |key: &str| match above {
        "" => key.to_owned(),
        above => format!("{above}.{key}"),
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                flatten(&join(&key), value, into);
            }
        }
        Value::Null => {}
        Value::String(text) => {
            into.insert(above.to_owned(), text);
        }
        other => {
            into.insert(above.to_owned(), other.to_string());
        }
    }
}

/// Returns the request targets in order, separated by spaces.
fn urls(run: &Run) -> String {
    let block = run.blocks.iter().find(|it| !it.load.urls.is_empty());
    let urls = block.map_or(&[][..], |block| &block.load.urls);
    let urls: Vec<&str> = urls.iter().map(|url| url.url.as_str()).collect();
    urls.join(" ")
}

fn program(header: &Header, at: usize) -> String {
    header.programs.get(at).cloned().unwrap_or_default()
}

fn part(key: &str) -> Part {
    match key.split(['.', ' ']).next() {
        Some("machine") => Part::Machine,
        Some("server" | "variant") => Part::Server,
        Some("laboratory") => Part::Laboratory,
        _ => Part::Asked,
    }
}

/// Whether a difference in this key makes the metrics of two runs incomparable: another machine, or another load. Where
/// the client ran counts as part of the machine.
fn fatal(key: &str) -> bool {
    let machine = ["machine.cpu", "machine.cpus", "machine.memory"];
    machine.contains(&key) || key.starts_with("load.") || key.ends_with(".connections")
}

/// Whether two amounts of memory are alike, within 2 %. Kernels reserve different amounts for themselves.
fn is_similar(old: Option<&String>, new: Option<&String>) -> bool {
    let number = |it: Option<&String>| it.and_then(|it| it.parse::<f64>().ok());
    let numbers = number(old).zip(number(new));
    numbers.is_some_and(|(old, new)| (old - new).abs() <= 0.02 * old.max(new))
}

/// Shortens hashes and long lists for display. An empty text becomes `–`.
fn short(key: &str, text: &str) -> String {
    let most = if key.ends_with(".program") { 12 } else { 80 };
    if text.is_empty() {
        return "–".to_owned();
    }
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most).collect();
    format!("{start}…")
}
