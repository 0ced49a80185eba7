//! The documents that `meta` in thumbor's and imagor's URLs requests, which describe the image.

use std::collections::BTreeMap;
use std::sync::Arc;

use andon_recipe::{Crop, Exact, Flip, Length, Output, Recipe, Step};
use serde_json::{Value, json};

use super::filters::{Filter, PixelData};
use crate::colours::channels;
use crate::document::{About, Document};

/// Creates thumbor's document about an image.
pub(super) fn plan(image: &str, query: Option<&str>) -> Arc<dyn Document> {
    Arc::new(Plan {
        image: image.to_owned(),
        callback: query.and_then(callback),
    })
}

/// Creates imagor's document, with the data about pixels that filters request. If such a filter is repeated, the last
/// one counts.
pub(super) fn outcome(filters: &[Filter]) -> Arc<dyn Document> {
    let data = filters.iter().filter_map(|filter| match filter {
        Filter::PixelData(data) => Some((data.key(), *data)),
        _ => None,
    });
    Arc::new(Outcome(data.collect()))
}

/// Returns the name of the JavaScript function in `callback=`.
fn callback(query: &str) -> Option<String> {
    let name = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("callback="))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte);
    (!name.is_empty() && name.len() <= 64 && name.bytes().all(plain)).then(|| name.to_owned())
}

/// thumbor's document: the operations on the image, and the size of the result.
#[derive(Debug)]
struct Plan {
    image: String,
    callback: Option<String>,
}

impl Document for Plan {
    fn name(&self) -> String {
        format!(
            "thumbor {} {}",
            self.image,
            self.callback.as_deref().unwrap_or_default()
        )
    }

    fn media_type(&self) -> &'static str {
        match self.callback {
            Some(_) => "text/javascript",
            None => "application/json",
        }
    }

    fn write(&self, about: &About<'_>) -> String {
        let operations: Vec<Value> = about.recipe.steps.iter().flat_map(operation).collect();
        let (width, height) = (about.result.width, about.result.height);
        // thumbor reports the size of the source after it is cropped and scaled.
        let text = json!({ "thumbor": {
            "source": {
                "url": self.image, "width": width, "height": height, "frameCount": about.source.frames,
            },
            "operations": operations,
            "target": { "width": width, "height": height },
        } })
        .to_string();
        match &self.callback {
            Some(callback) => format!("{callback}({text});"),
            None => text,
        }
    }
}

fn operation(step: &Step) -> Vec<Value> {
    let px = |length: Length| length.of(0.0) as u64;
    match step {
        Step::Crop(Crop::At { x, y, w, h }) => vec![json!({
            "type": "crop",
            "left": px(*x), "top": px(*y), "right": px(*x) + px(*w), "bottom": px(*y) + px(*h),
        })],
        Step::Exact(Exact { w, h }) => {
            vec![json!({ "type": "resize", "width": px(*w), "height": px(*h) })]
        }
        Step::Flip(flip) => {
            let across = json!({ "type": "flip_horizontally" });
            let down = json!({ "type": "flip_vertically" });
            match flip {
                Flip::Horizontal => vec![across],
                Flip::Vertical => vec![down],
                Flip::Both => vec![across, down],
            }
        }
        _ => Vec::new(),
    }
}

/// imagor's document about the result, with data about its pixels.
#[derive(Debug)]
struct Outcome(BTreeMap<&'static str, PixelData>);

impl PixelData {
    /// Returns the key under which imagor's document has this data.
    fn key(self) -> &'static str {
        match self {
            Self::Average => "average_color",
            Self::BlurHash(..) => "blurhash",
            Self::ThumbHash => "thumbhash",
        }
    }

    /// Returns the output settings of a recipe that computes this data from a small image.
    fn recipe(self) -> String {
        match self {
            Self::Average => "as:palette,with:count:1".to_owned(),
            Self::BlurHash(across, down) => {
                format!("as:blurhash,with:across:{across},with:down:{down}")
            }
            Self::ThumbHash => "as:thumbhash".to_owned(),
        }
    }

    fn tell(self, text: &str) -> Value {
        if self != Self::Average {
            return text.into();
        }
        let colours: Value = serde_json::from_str(text).unwrap_or_default();
        let levels = colours["average"].as_str().and_then(channels);
        match levels.as_deref() {
            Some([r, g, b, ..]) => json!({ "r": r, "g": g, "b": b }),
            _ => Value::Null,
        }
    }
}

impl Document for Outcome {
    fn name(&self) -> String {
        let data = self.0.values().map(|data| format!(" {data:?}"));
        format!("imagor{}", data.collect::<String>())
    }

    fn has_parts(&self) -> bool {
        !self.0.is_empty()
    }

    fn parts(&self, recipe: &Recipe) -> Vec<Recipe> {
        let part = |data: &PixelData| {
            let part: Recipe = format!("fit:100x100,{}", data.recipe()).parse().ok()?;
            let steps = recipe.steps.iter().chain(&part.steps).cloned().collect();
            let output = Output {
                frame: recipe.output.frame,
                stored_turn: recipe.output.stored_turn,
                ..part.output
            };
            Some(Recipe { steps, output })
        };
        self.0.values().filter_map(part).collect()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let result = &about.result;
        let colours = if about.source.colour == "gray" { 1 } else { 3 };
        let mut facts = json!({
            "format": result.format,
            "content_type": format!("image/{}", result.format),
            "width": result.width,
            "height": result.height,
            "orientation": 1,
            "pages": about.source.frames,
            "bands": colours + u32::from(about.source.alpha),
            "exif": {},
        });
        for ((key, data), part) in self.0.iter().zip(about.parts) {
            facts[*key] = data.tell(&part.text());
        }
        facts.to_string()
    }
}
