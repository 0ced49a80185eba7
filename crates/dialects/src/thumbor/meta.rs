//! The documents of `meta`.

use std::sync::Arc;

use andon_recipe::{Crop, Flip, Length, Step};
use serde_json::{Value, json};

use super::Flavour;
use crate::document::{About, Document};

pub(super) fn document(flavour: Flavour, image: &str, query: Option<&str>) -> Arc<dyn Document> {
    match flavour {
        Flavour::Thumbor => Arc::new(Plan {
            image: image.to_owned(),
            callback: query.and_then(callback),
        }),
        Flavour::Imagor => Arc::new(Outcome),
    }
}

/// The function that `callback=` names.
fn callback(query: &str) -> Option<String> {
    let name = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("callback="))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte);
    (!name.is_empty() && name.len() <= 64 && name.bytes().all(plain)).then(|| name.to_owned())
}

/// thumbor's: what is done, and what comes of it.
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
        // The source is measured after it was cropped and scaled, as thumbor does.
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
        Step::Exact { w, h } => {
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

/// imagor's: about the result.
#[derive(Debug)]
struct Outcome;

impl Document for Outcome {
    fn name(&self) -> String {
        "imagor".to_owned()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let result = &about.result;
        let colours = if about.source.colour == "gray" { 1 } else { 3 };
        json!({
            "format": result.format,
            "content_type": format!("image/{}", result.format),
            "width": result.width,
            "height": result.height,
            "orientation": 1,
            "pages": about.source.frames,
            "bands": colours + u32::from(about.source.alpha),
            "exif": {},
        })
        .to_string()
    }
}
