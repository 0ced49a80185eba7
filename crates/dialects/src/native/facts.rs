//! The facts that `as:json` asks for.

use serde_json::json;

use crate::document::{About, Document};

#[derive(Debug)]
pub(super) struct Facts;

impl Document for Facts {
    fn name(&self) -> String {
        "facts".to_owned()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let (source, result) = (&about.source, &about.result);
        json!({
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
        })
        .to_string()
    }
}
