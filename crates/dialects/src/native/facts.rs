//! The facts that `as:json` requests, and the options that add data computed from the result's pixels.

use andon_recipe::{FormatName, Original, Output, Recipe, Step, unknown};
use serde_json::{Value, json};

use crate::document::{About, Document, Part};
use crate::refusal::Refusal;

/// The output format that requests facts instead of an image.
pub(super) const FORMAT: &str = "json";

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// `as:json` with its options, as a recipe.
    request: Recipe,
    /// The requested data that are computed from the result's pixels: the kind of each, with the recipe that computes
    /// it.
    parts: Vec<(Kind, Recipe)>,
}

/// A part of the facts that is computed from the result's pixels.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Colours,
    BlurHash,
    ThumbHash,
    /// A data URI of a very small image, usable as a placeholder.
    Uri,
}

/// The name of each option of `as:json`, the kind of data that it requests, and the recipe that computes the data from
/// a small version of the result.
const KINDS: [(&str, Kind, &str); 4] = [
    ("blurhash", Kind::BlurHash, "fit:100x100,as:blurhash"),
    ("colours", Kind::Colours, "fit:100x100,as:palette"),
    ("thumbhash", Kind::ThumbHash, "fit:100x100,as:thumbhash"),
    ("uri", Kind::Uri, "fit:16x16,as:webp,q:60"),
];

impl Facts {
    /// Removes the format `json` and its options from a recipe, and returns them as a document. The rest of the recipe
    /// says which image the facts are about.
    ///
    /// # Errors
    /// An unknown option, or a value that an option does not take.
    pub(super) fn of(recipe: &mut Recipe) -> Result<Self, Refusal> {
        let options = std::mem::take(&mut recipe.output.options);
        let format = recipe.output.format.take();
        let mut parts = Vec::new();
        for (name, value) in &options {
            let Some((_, kind, text)) = KINDS.iter().find(|(option, ..)| option == name) else {
                let names = KINDS.map(|(name, ..)| name);
                return Err(Refusal::new(name, unknown("fact", name, &names)));
            };
            let refuse = |why: &str| Refusal::new(&format!("with:{name}:{value}"), why);
            let count = match (kind, value.as_str()) {
                (_, "") => String::new(),
                (Kind::Colours, count) => match count.parse() {
                    Ok(1..=256_u32) => format!(",with:count:{count}"),
                    _ => return Err(refuse("expected a number of colours, 1 to 256")),
                },
                _ => return Err(refuse("it takes no value")),
            };
            let part: Recipe = format!("{text}{count}")
                .parse()
                .map_err(|_| refuse("expected a number of colours"))?;
            let image_steps = recipe
                .steps
                .iter()
                .filter(|step| **step != Step::Original(Original));
            let steps = image_steps.cloned().chain(part.steps).collect();
            let output = Output {
                frame: recipe.output.frame,
                stored_turn: recipe.output.stored_turn,
                ..part.output
            };
            parts.push((*kind, Recipe { steps, output }));
        }
        let output = Output {
            format,
            options,
            ..Output::default()
        };
        Ok(Self {
            request: output.into(),
            parts,
        })
    }

    /// Adds the format `json` to a recipe, with the options of a document of this name.
    pub(super) fn add_options(name: &str, recipe: &mut Recipe) {
        let request: Option<Recipe> = name.strip_prefix(NAMED).and_then(|text| text.parse().ok());
        recipe.output.options = request.unwrap_or_default().output.options;
        recipe.output.format = FormatName::new(FORMAT).ok();
    }
}

/// Prefix of the name of a document that has options.
const NAMED: &str = "facts ";

impl Document for Facts {
    fn name(&self) -> String {
        if self.parts.is_empty() {
            return "facts".to_owned();
        }
        format!("{NAMED}{}", self.request)
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    fn parts(&self, _: &Recipe) -> Vec<Recipe> {
        self.parts
            .iter()
            .map(|(_, recipe)| recipe.clone())
            .collect()
    }

    fn write(&self, about: &About<'_>) -> String {
        let (source, result) = (&about.source, &about.result);
        let mut facts = json!({
            "source": {
                "format": source.format,
                "width": source.width,
                "height": source.height,
                "orientation": source.orientation.exif(),
                "frames": source.frames,
                "alpha": source.alpha,
                "depth": source.depth,
                "colour": source.colour,
                "profile": source.profiled,
                "metadata": source.metadata,
                "progressive": source.progressive,
                "bytes": source.bytes,
            },
            "recipe": about.recipe.to_string(),
            "result": { "format": result.format, "width": result.width, "height": result.height },
        });
        for ((kind, _), part) in self.parts.iter().zip(about.parts) {
            let (name, value) = kind.tell(part);
            facts["result"][name] = value;
        }
        facts.to_string()
    }
}

impl Kind {
    fn tell(self, part: &Part) -> (&'static str, Value) {
        let text = || Value::from(part.text());
        match self {
            Self::BlurHash => ("blurhash", text()),
            Self::ThumbHash => ("thumbhash", text()),
            Self::Colours => (
                "colours",
                serde_json::from_slice(&part.body).unwrap_or_default(),
            ),
            Self::Uri => ("uri", part.data_uri().into()),
        }
    }
}
