//! The manifest of a job: a file with a line of JSON for each result, from which the next run learns what is already
//! converted.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use serde_json::{Map, Value};

use super::buckets::SCHEME;
use super::inputs::Input;
use super::names;
use crate::journal::Journal;

/// The entries of a manifest file. The file may have entries for multiple recipes and destinations.
pub(super) struct Manifest {
    journal: Journal,
    recipe: String,
    into: String,
    /// Images that were converted with `recipe` and for the destination `into`, by [`Input::id`] and version. The value
    /// is the result's file, or `None` if the result is in a store.
    done: HashMap<(String, String), Option<Made>>,
    /// The recorded results, by their absolute paths or URLs.
    outputs: HashMap<Arc<str>, Recorded>,
}

/// A result file as a line of the manifest describes it: its absolute path or URL, and its length in bytes.
struct Made {
    output: Arc<str>,
    bytes: Option<u64>,
}

impl Made {
    /// Whether the file exists with this length. Results in buckets, and files whose metadata cannot be read, are
    /// assumed to exist.
    fn is_there(&self) -> bool {
        if self.output.starts_with(SCHEME) {
            return true;
        }
        match names::path(&self.output).metadata() {
            Ok(file) => file.is_file() && self.bytes.is_none_or(|bytes| file.len() == bytes),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }
}

/// A result that the manifest records, of any recipe and destination.
struct Recorded {
    image: Image,
    /// The destination that was given to the `andon convert` command that created the result, as the user wrote it.
    into: String,
}

/// The source image of a result.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) id: String,
    pub(super) name: String,
}

impl Manifest {
    pub(super) fn open(path: &Path, recipe: &str, into: &str) -> anyhow::Result<Self> {
        let (journal, lines) = Journal::open(path)?;
        let is_entry = |line: &str| serde_json::from_str::<Map<String, Value>>(line).is_ok();
        if !lines.is_empty() && !lines.lines().any(is_entry) {
            bail!(
                "--manifest {}: this is another file, without a line of a manifest; name a new one",
                path.display()
            );
        }
        let mut done = HashMap::new();
        // The last line for a result file is the valid one, whichever job wrote it.
        let mut last = HashMap::new();
        for line in lines.lines() {
            let Ok(line) = serde_json::from_str::<Map<String, Value>>(line) else {
                continue;
            };
            let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
            let name = text("input").to_owned();
            let version = text("version").to_owned();
            match line.get("output").and_then(Value::as_str) {
                Some(output) => {
                    let is_own = text("recipe") == recipe && same(text("into"), into);
                    let id = identity(&name);
                    let image = Image { id, name };
                    let into = text("into").to_owned();
                    let result = Recorded { image, into };
                    let bytes = line.get("bytes").and_then(Value::as_u64);
                    let own_entry = is_own.then_some((version, bytes));
                    last.insert(identity(output), (result, own_entry));
                }
                None if text("recipe") == recipe && text("into") == into => {
                    done.insert((identity(&name), version), None);
                }
                None => {}
            }
        }
        let mut outputs = HashMap::new();
        for (output, (result, own_entry)) in last {
            let output = Arc::<str>::from(output);
            if let Some((version, bytes)) = own_entry {
                let output = output.clone();
                let file = Made { output, bytes };
                done.insert((result.image.id.clone(), version), Some(file));
            }
            outputs.insert(output, result);
        }
        Ok(Self {
            journal,
            recipe: recipe.to_owned(),
            into: into.to_owned(),
            done,
            outputs,
        })
    }

    /// Whether an image is already converted. With `verify`, its result must also exist.
    pub(super) fn has(&self, input: &Input, verify: bool) -> bool {
        let key = (input.id.clone(), input.version.clone());
        let file = self.done.get(&key);
        file.is_some_and(|file| !verify || file.as_ref().is_none_or(Made::is_there))
    }

    /// Prints a warning if recorded results of these images are missing or have another length.
    pub(super) fn warn_of_missing(&self, images: &[Input]) {
        let files = images.iter().filter_map(|image| {
            let key = (image.id.clone(), image.version.clone());
            self.done.get(&key)?.as_ref()
        });
        let mut missing = files.filter(|file| !file.is_there());
        let Some(first) = missing.next() else {
            return;
        };
        let manifest = self.journal.path().display();
        let (results, them) = match 1 + missing.count() {
            1 => ("1 result that is not there or has".to_owned(), "it"),
            all => (format!("{all} results that are not there or have"), "them"),
        };
        eprintln!(
            "warning: {manifest} lists {results} another length, such as {}: --verify makes {them} again",
            first.output
        );
    }

    /// Prints a warning if recorded results were made from earlier versions of these images.
    pub(super) fn warn_of_outdated<'a>(&self, images: impl Iterator<Item = &'a Input>) {
        let ids: HashSet<&str> = images.map(|image| image.id.as_str()).collect();
        let entries = self.done.iter();
        let entries = entries.filter(|((id, _), _)| ids.contains(id.as_str()));
        let results = entries.filter_map(|(_, file)| Some(&*file.as_ref()?.output));
        let results = results.filter(|result| names::path(result).is_file());
        let results: BTreeSet<&str> = results.collect();
        let Some(first) = results.first() else {
            return;
        };
        let manifest = self.journal.path().display();
        let (lists, lines) = match results.len() {
            1 => (
                "1 result of an image that has changed and was".to_owned(),
                "it and its line",
            ),
            all => (
                format!("{all} results of images that have changed and were"),
                "them and their lines",
            ),
        };
        eprintln!(
            "warning: {manifest} lists {lists} not made again, such as {first}: where its earlier version is not wanted, delete {lines}"
        );
    }

    /// Whether an image is itself a result that an earlier job wrote to the folder `output`, or to a file in it.
    pub(super) fn is_result_in(&self, input: &Input, output: &str) -> bool {
        self.outputs.get(input.id.as_str()).is_some_and(|result| {
            let folder = result.into.rsplit_once('/');
            let folder = folder.map_or("", |(folder, _)| folder);
            let is_here = same(&result.into, output) || same(folder, output);
            is_here && result.image.id != input.id
        })
    }

    /// Returns the source image of an earlier job's result, given the absolute path or URL of the result.
    pub(super) fn image_of(&self, output: &str) -> Option<&Image> {
        Some(&self.outputs.get(output)?.image)
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

/// Prints how the manifest writes names that are not UTF-8, if there are any.
pub(super) fn note_bytes(images: &[Input]) {
    let mut odd = images
        .iter()
        .filter(|it| str::from_utf8(it.bytes()).is_err());
    let Some(first) = odd.next() else {
        return;
    };
    let (names, are) = match 1 + odd.count() {
        1 => ("1 name".to_owned(), "is"),
        all => (format!("{all} names"), "are"),
    };
    eprintln!(
        "note: {names} {are} not UTF-8, such as {}: the manifest writes such bytes so; `convmv -r -f latin1 -t utf8 FOLDER` lists \
         names in UTF-8, and with --notest renames",
        first.name
    );
}

/// Returns the absolute path for a path in a line of the manifest. A URL is returned unchanged.
fn identity(text: &str) -> String {
    names::identity(&names::path(text))
}

/// Whether two destinations are the same folder or file.
fn same(one: &str, other: &str) -> bool {
    let of = |into: &str| match into.trim_end_matches('/') {
        "" => into.to_owned(),
        folder => names::identity(Path::new(folder)),
    };
    of(one) == of(other)
}
