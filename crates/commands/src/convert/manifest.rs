//! The manifest of a job: a file with a line of JSON for each result, from which the next run knows what is done.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::inputs::Input;
use crate::journal::Journal;

/// The entries of a manifest file for one recipe and one destination. The same file may hold entries for others as
/// well.
pub(super) struct Manifest {
    journal: Journal,
    recipe: String,
    into: String,
    /// Names and versions of the images that are done.
    done: HashSet<(String, String)>,
    /// Outputs of the images that are done, each with the name of the image that it was made from.
    outputs: HashMap<String, String>,
}

impl Manifest {
    pub(super) fn open(path: &Path, recipe: &str, into: &str) -> anyhow::Result<Self> {
        // `small` and `small/` are one folder.
        let folder = into.trim_end_matches('/');
        let into = if folder.is_empty() { into } else { folder };
        let (journal, lines) = Journal::open(path)?;
        let mut manifest = Self {
            journal,
            recipe: recipe.to_owned(),
            into: into.to_owned(),
            done: HashSet::new(),
            outputs: HashMap::new(),
        };
        for line in lines {
            let Ok(line) = serde_json::from_str::<Map<String, Value>>(&line) else {
                continue;
            };
            let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
            if text("recipe") == recipe && text("into") == into {
                let (input, version) = (text("input").to_owned(), text("version").to_owned());
                if let Some(output) = line.get("output").and_then(Value::as_str) {
                    manifest.outputs.insert(output.to_owned(), input.clone());
                }
                manifest.done.insert((input, version));
            }
        }
        Ok(manifest)
    }

    pub(super) fn has(&self, input: &Input) -> bool {
        let key = (input.name.clone(), input.version.clone());
        self.done.contains(&key)
    }

    /// Returns the outputs of the images that are done, each with the name of the image that it was made from.
    pub(super) fn outputs(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.outputs.iter();
        all.map(|(output, input)| (output.as_str(), input.as_str()))
    }

    pub(super) fn note(&self, input: &Input, result: &[(&str, Value)]) -> anyhow::Result<()> {
        let of = [
            ("recipe", &self.recipe),
            ("input", &input.name),
            ("version", &input.version),
            ("into", &self.into),
        ];
        let of = of.map(|(key, text)| (key.to_owned(), Value::from(text.as_str())));
        let result = result
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        let line: Map<String, Value> = of.into_iter().chain(result).collect();
        self.journal.add(&Value::Object(line).to_string())
    }
}
