//! The JSON document about a source: `/info/SIGNATURE/s:1/cs:1/plain/local:///trip/a.jpg`. Most facts come from the
//! source's header. For each fact about pixels, a small image is made.

use std::collections::BTreeMap;

use andon_recipe::Recipe;
use serde_json::{Map, Value, json};

use super::args::{Wrong, truth};
use super::pixel_facts::PixelFact;
use crate::document::{About, Document, SourceAbout};
use crate::options::OptionHelp;

/// The facts that imgproxy's JSON document about a source contains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Info {
    fields: [bool; FIELDS.len()],
    /// Requested facts about the pixels, by their keys in the document.
    pixel_facts: BTreeMap<&'static str, PixelFact>,
}

/// An option of `/info` that adds facts from the source's header to the document.
struct Field {
    /// All names of the option.
    names: &'static [&'static str],
    /// Whether the option is on if the URL does not contain it.
    always: bool,
    /// Adds the field's keys to the document.
    tell: fn(&SourceAbout, &mut Map<String, Value>),
}

const FIELDS: [Field; 8] = [
    Field {
        names: &["size", "s"],
        always: true,
        tell: |source, document| add(document, "size", source.bytes),
    },
    Field {
        names: &["format", "f"],
        always: true,
        tell: |source, document| {
            add(document, "format", source.format);
            add(document, "mime_type", media_type(source.format));
        },
    },
    Field {
        names: &["dimensions", "d"],
        always: true,
        tell: |source, document| {
            let (width, height) = source.upright();
            add(document, "width", width);
            add(document, "height", height);
            add(document, "orientation", source.orientation.exif());
        },
    },
    Field {
        names: &["colorspace", "cs"],
        always: false,
        tell: |source, document| {
            let name = match source.colour {
                "gray" => "b-w",
                "cmyk" => "cmyk",
                _ => "srgb",
            };
            add(document, "colorspace", name);
        },
    },
    Field {
        names: &["bands", "b"],
        always: false,
        tell: |source, document| {
            let colours = match source.colour {
                "gray" => 1,
                "cmyk" => 4,
                _ => 3,
            };
            add(document, "bands", colours + u32::from(source.alpha));
        },
    },
    Field {
        names: &["sample_format", "sf"],
        always: false,
        tell: |source, document| {
            let name = if source.depth > 8 { "ushort" } else { "uchar" };
            add(document, "sample_format", name);
        },
    },
    Field {
        names: &["pages_number", "pn"],
        always: false,
        tell: |source, document| add(document, "pages_number", source.frames),
    },
    Field {
        names: &["alpha", "a"],
        always: false,
        tell: |source, document| add(document, "alpha", json!({ "has_alpha": source.alpha })),
    },
];

/// Returns the documentation of the options that add facts from the source's header.
pub(super) fn option_help() -> impl Iterator<Item = OptionHelp> {
    FIELDS.iter().map(|field| {
        let names = field.names.iter().map(|name| format!("/info {name}"));
        OptionHelp {
            names: names.collect(),
            ..OptionHelp::new(&[], "Puts this fact into the document of `/info`.")
        }
    })
}

/// Options of imgproxy's `/info` that are ignored with a note. Most of them require decoding, or reading metadata.
const UNTOLD: &[&str] = &[
    "exif",
    "iptc",
    "photoshop",
    "xmp",
    "video_meta",
    "vm",
    "crop",
    "c",
    "phash",
    "perceptual_hash",
    "classify",
    "calc_hashsums",
    "chs",
    "detect_objects",
    "do",
    "page",
    "pg",
    "preset",
    "pr",
    "video_thumbnail_second",
    "vts",
    "video_thumbnail_keyframes",
    "vtk",
    "cachebuster",
    "cb",
];

impl Default for Info {
    fn default() -> Self {
        Self {
            fields: FIELDS.map(|field| field.always),
            pixel_facts: BTreeMap::new(),
        }
    }
}

impl Info {
    /// Applies an option. Returns `None` if there is no such option, and otherwise whether it is supported.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub(super) fn option(&mut self, name: &str, args: &[&str]) -> Result<Option<bool>, Wrong> {
        let field = FIELDS.iter().position(|field| field.names.contains(&name));
        if let Some(field) = field {
            self.fields[field] = args.first().is_some_and(|text| truth(text));
            return Ok(Some(true));
        }
        if let Some(option) = PixelFact::read(name, args) {
            match option? {
                (key, Some(fact)) => self.pixel_facts.insert(key, fact),
                (key, None) => self.pixel_facts.remove(key),
            };
            return Ok(Some(true));
        }
        Ok(UNTOLD.contains(&name).then_some(false))
    }
}

impl Document for Info {
    fn name(&self) -> String {
        let flags = self.fields.map(|is_on| if is_on { '1' } else { '0' });
        let facts = self.pixel_facts.values().map(|fact| format!(" {fact:?}"));
        format!(
            "imgproxy {}{}",
            flags.iter().collect::<String>(),
            facts.collect::<String>()
        )
    }

    fn has_parts(&self) -> bool {
        !self.pixel_facts.is_empty()
    }

    fn parts(&self, _: &Recipe) -> Vec<Recipe> {
        self.pixel_facts
            .values()
            .filter_map(|fact| fact.recipe())
            .collect()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let mut document = Map::new();
        for (field, _) in FIELDS.iter().zip(self.fields).filter(|(_, on)| *on) {
            (field.tell)(&about.source, &mut document);
        }
        for ((key, fact), part) in self.pixel_facts.iter().zip(about.parts) {
            add(&mut document, key, fact.tell(&part.text()));
        }
        format!("{}\n", Value::Object(document))
    }
}

fn add(document: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    document.insert(key.to_owned(), value.into());
}

fn media_type(format: &str) -> String {
    match format {
        "svg" => "image/svg+xml".to_owned(),
        "ico" => "image/x-icon".to_owned(),
        other => format!("image/{other}"),
    }
}
