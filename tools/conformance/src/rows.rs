//! The manifest: one row per file.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A file and what is right for it; other keys of the manifest are of no use here.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Row {
    pub(crate) path: String,
    pub(crate) format: String,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
    /// The samples of a TIFF.
    pub(crate) tiff: Option<String>,
    pub(crate) expected: Map<String, Value>,
    #[serde(default)]
    pub(crate) note: String,
}

/// What a row asks for, as the tables name it.
pub(crate) const KINDS: [&str; 6] = [
    "picture",
    "frames",
    "colours",
    "gain map",
    "refuse",
    "refuse or picture",
];

impl Row {
    /// The first folder of its path.
    pub(crate) fn folder(&self) -> &str {
        self.path.split('/').next().unwrap_or("")
    }

    /// One of [`KINDS`].
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

    /// Is the answer that of several decoders, or of the suite itself?
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

    /// A refusal is right too.
    pub(crate) fn may_be_refused(&self) -> bool {
        self.expected.contains_key("or_refuse") || self.note.contains("refusal")
    }

    /// So is the one image that is shown where animations are not.
    pub(crate) fn may_stand_still(&self) -> bool {
        self.note.contains("the default image is right too")
    }

    /// 415 is right too, for what the documentation says that it is not read.
    pub(crate) fn may_be_unsupported(&self) -> bool {
        let samples = self.tiff.as_deref().unwrap_or("");
        self.note.contains("415")
            || samples.split(' ').any(|word| {
                ["float", "int8", "int16", "int32", "uint32", "uint64"]
                    .iter()
                    .any(|kind| word.starts_with(kind))
            })
    }

    /// Is its answer turned upright? By what a format says of its own; EXIF counts only in the gain maps' images.
    pub(crate) fn is_upright(&self) -> bool {
        matches!(self.format.as_str(), "avif" | "heic" | "jxl") || self.folder() == "gainmap"
    }

    /// Was its answer drawn with the set's fonts?
    pub(crate) fn needs_fonts(&self) -> bool {
        self.note.contains("needs svg/fonts")
    }

    /// A text among what is expected.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.expected.get(key).and_then(Value::as_str)
    }

    /// A number among what is expected.
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
