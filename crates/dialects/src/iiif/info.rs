//! `info.json` of the IIIF Image API: the document that image viewers read before they request tiles.

use serde_json::{Value, json};

use super::parse::{FORMATS, Quality};
use super::rules::Limits;
use super::{IiifConfig, Version};
use crate::document::{About, Document};

/// The contents of `info.json` that do not depend on the image's size.
#[derive(Clone, Debug)]
pub(super) struct Information {
    pub(super) version: Version,
    /// URI of the image without `/info.json`, as the client wrote it.
    pub(super) id: String,
    /// Whether the document is sent with the media type of JSON-LD, `application/ld+json`.
    pub(super) linked: bool,
    pub(super) limits: Limits,
    pub(super) config: IiifConfig,
}

const PROTOCOL: &str = "http://iiif.io/api/image";

/// Minimum length, in px, of the longer side of the sizes that `info.json` lists under `sizes`.
const SMALLEST: u32 = 100;

/// The number of formats, counted from the first of [`FORMATS`], that level 2 of the IIIF specification requires.
/// `info.json` lists the others as extra formats.
const NEEDED: usize = 2;

impl Document for Information {
    fn name(&self) -> String {
        let media_type = self.media_type();
        format!("iiif {media_type} {}", self.document(0, 0))
    }

    fn media_type(&self) -> &'static str {
        match (self.linked, self.version) {
            (false, _) => "application/json",
            (true, Version::V3) => {
                "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\""
            }
            (true, Version::V2) => "application/ld+json",
        }
    }

    fn write(&self, about: &About<'_>) -> String {
        let (width, height) = about.source.upright();
        format!("{}\n", self.document(width, height))
    }
}

impl Information {
    /// Returns `info.json` for an image of this upright size, in px.
    pub(super) fn document(&self, width: u32, height: u32) -> Value {
        let config = &self.config;
        let factors = scale_factors(config.tile, width.max(height));
        let mut document = json!({
            "@context": self.version.context(),
            "protocol": PROTOCOL,
            "width": width,
            "height": height,
            "sizes": self.sizes(width, height),
            "tiles": [{ "width": config.tile, "scaleFactors": factors }],
        });
        let texts = match self.version {
            Version::V3 => {
                self.add_profile3(&mut document);
                vec![("rights", &config.rights)]
            }
            Version::V2 => {
                document["@id"] = json!(self.id);
                document["profile"] = json!([self.version.profile(), self.profile2()]);
                vec![
                    ("license", &config.rights),
                    ("attribution", &config.attribution),
                ]
            }
        };
        for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            document[name] = json!(text);
        }
        document
    }

    /// Adds what `info.json` states in the form of version 3.0 only: identity, profile, extra features and limits.
    fn add_profile3(&self, document: &mut Value) {
        document["id"] = json!(self.id);
        document["type"] = json!("ImageService3");
        document["profile"] = json!("level2");
        document["extraFormats"] = extensions().skip(NEEDED).collect();
        document["extraQualities"] = json!(["bitonal"]);
        document["extraFeatures"] = json!([
            "canonicalLinkHeader",
            "mirroring",
            "profileLinkHeader",
            "rotationArbitrary",
            "sizeUpscaling",
        ]);
        self.add_limits(document);
    }

    /// Returns the object of features and limits that follows the compliance level in the `profile` of IIIF 2.1.
    fn profile2(&self) -> Value {
        let mut profile = json!({
            "formats": extensions().collect::<Value>(),
            "qualities": Quality::ALL.iter().map(|(name, _)| *name).collect::<Value>(),
            "supports": [
                "canonicalLinkHeader",
                "mirroring",
                "profileLinkHeader",
                "regionSquare",
                "rotationArbitrary",
                "sizeAboveFull",
            ],
        });
        self.add_limits(&mut profile);
        profile
    }

    fn add_limits(&self, to: &mut Value) {
        to["maxWidth"] = json!(self.limits.width);
        to["maxHeight"] = json!(self.limits.height);
        to["maxArea"] = json!(self.limits.area);
    }

    /// Returns the sizes of the image that are within the limits: full size, half of it, a quarter, and so on.
    fn sizes(&self, width: u32, height: u32) -> Value {
        let halved = |times: u32| {
            let side = |side: u32| u64::from(side).div_ceil(1 << times) as u32;
            (side(width), side(height))
        };
        (0..32)
            .map(halved)
            .take_while(|(w, h)| *w.max(h) >= SMALLEST)
            .filter(|size| self.limits.allow(*size))
            .map(|(w, h)| json!({ "width": w, "height": h }))
            .collect()
    }
}

/// Returns the scale factors of the tiles: powers of two, up to the first at which one tile holds the longest side.
fn scale_factors(tile: u32, longest: u32) -> Value {
    let holds = |factor: u32| u64::from(tile) << factor >= u64::from(longest);
    (0..32)
        .take_while(|factor| *factor == 0 || !holds(factor - 1))
        .map(|factor| 1_u64 << factor)
        .collect()
}

fn extensions() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|(extension, _)| *extension)
}
