//! The manifest of the conformance set, with one row per file.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A file of the set and the answer that a decoder or server is expected to give. Keys of the manifest that are not
/// needed here are left out.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Row {
    pub(crate) path: String,
    pub(crate) format: String,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    /// A description of a TIFF's samples, e.g. `RGB NONE x3 uint8 II`.
    pub(crate) tiff: Option<String>,
    pub(crate) expected: Map<String, Value>,
    #[serde(default)]
    pub(crate) note: String,
}

/// The kinds of rows in the manifest, by the names that the tables of results show.
pub(crate) const KINDS: [&str; 6] = [
    "picture",
    "frames",
    "colours",
    "gain map",
    "refuse",
    "refuse or picture",
];

impl Row {
    /// Returns the first folder of the row's path.
    pub(crate) fn folder(&self) -> &str {
        self.path.split('/').next().unwrap_or("")
    }

    /// Returns the kind of the row, which is one of [`KINDS`].
    pub(crate) fn kind(&self) -> &'static str {
        let keys = [
            ("refuse", 4),
            ("refuse_or_picture", 5),
            ("gainmap", 3),
            ("colours", 2),
            ("srgb", 2),
            ("frames", 1),
        ];
        let key = keys
            .iter()
            .find(|(key, _)| self.expected.contains_key(*key));
        KINDS[key.map_or(0, |(_, kind)| *kind)]
    }

    /// Returns whether the expected answer is certain: several decoders agree on it, or the test suite itself defines
    /// it.
    pub(crate) fn sure(&self) -> bool {
        match self.text("sure") {
            Some(sure) => matches!(sure, "agree" | "suite"),
            None => {
                (self.expected.get("agree").and_then(Value::as_array))
                    .is_some_and(|decoders| !decoders.is_empty())
                    || self.text("by").is_some_and(|by| by.contains("(suite)"))
            }
        }
    }

    /// Returns whether it is also correct to refuse the file.
    pub(crate) fn may_be_refused(&self) -> bool {
        self.expected.contains_key("or_refuse") || self.note.contains("refusal")
    }

    /// Returns whether it is also correct to show an animation as the still image that it contains for other viewers.
    pub(crate) fn may_stand_still(&self) -> bool {
        self.note.contains("the default image is right too")
    }

    /// Returns whether status 415 is also correct, because the file needs a feature that is documented as unsupported.
    pub(crate) fn may_be_unsupported(&self) -> bool {
        let samples = self.tiff.as_deref().unwrap_or("");
        self.note.contains("415")
            || samples.split(' ').any(|word| {
                ["float", "int8", "int16", "int32", "uint32", "uint64"]
                    .iter()
                    .any(|kind| word.starts_with(kind))
            })
    }

    /// Returns whether the expected answer is an upright image. It is for formats that state an orientation themselves,
    /// and for images with gain maps. In all other answers, EXIF orientations are not applied.
    pub(crate) fn is_upright(&self) -> bool {
        matches!(self.format.as_str(), "avif" | "heic" | "jxl") || self.folder() == "gainmap"
    }

    /// Returns whether the expected image was drawn with the fonts in the conformance set.
    pub(crate) fn needs_fonts(&self) -> bool {
        self.note.contains("needs svg/fonts")
    }

    /// Returns the text at a key of the expected answer.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.expected.get(key).and_then(Value::as_str)
    }

    /// Returns the number at a key of the expected answer.
    pub(crate) fn number(&self, key: &str) -> Option<u32> {
        self.expected
            .get(key)
            .and_then(Value::as_u64)
            .map(|number| number as u32)
    }
}

pub(crate) fn read(set: &Path) -> Result<Vec<Row>> {
    let path = set.join("manifest.jsonl");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    (text.lines())
        .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
        .collect()
}
