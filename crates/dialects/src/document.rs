//! Documents about a source, and about the image that a request would make of it.

use std::borrow::Cow;
use std::fmt;

use andon_recipe::{Orientation, Recipe};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// A kind of document about a source and the image that a request makes of it.
pub trait Document: fmt::Debug + Send + Sync {
    /// Returns a text that identifies the document's content, apart from the image that it describes. It is part of the
    /// result's cache key, so that it must contain everything that the content depends on.
    fn name(&self) -> String;

    /// Returns the document's media type.
    fn media_type(&self) -> &'static str;

    /// Whether [`Document::parts`] have to be made of the source before the document can be written.
    fn has_parts(&self) -> bool {
        false
    }

    /// Returns recipes for further results of the source that the document contains, such as a preview. `recipe` is the
    /// one that the request resolves to.
    fn parts(&self, recipe: &Recipe) -> Vec<Recipe> {
        let _ = recipe;
        Vec::new()
    }

    /// Writes the document as text of its media type.
    fn write(&self, about: &About<'_>) -> String;
}

/// Compares documents by their `name`: documents of the same name write the same text.
impl PartialEq for dyn Document {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Document {}

/// The facts that a document is written from.
#[derive(Clone, Debug)]
pub struct About<'a> {
    /// Facts from the source's header.
    pub source: SourceAbout,
    /// The resolved recipe of the request, in whole pixels.
    pub recipe: &'a Recipe,
    /// The image that the recipe makes of the source.
    pub result: ResultAbout,
    /// The results of [`Document::parts`], in their order.
    pub parts: &'a [Part],
}

/// A result that was made of a source for a document, such as a preview or a list of colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Media type of the part.
    pub media_type: &'static str,
    /// Content of the part, in bytes.
    pub body: Vec<u8>,
}

impl Part {
    /// Returns the part as a `data:` URI.
    #[must_use]
    pub fn data_uri(&self) -> String {
        let body = BASE64_STANDARD.encode(&self.body);
        format!("data:{};base64,{body}", self.media_type)
    }

    /// Returns the part as text. Bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

/// Facts from the header of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAbout {
    /// Name of the source's format.
    pub format: &'static str,
    /// Width as stored, in px.
    pub width: u32,
    /// Height as stored, in px.
    pub height: u32,
    /// How the stored image has to be turned to be upright.
    pub orientation: Orientation,
    /// How many frames there are; 1 for a still image.
    pub frames: u32,
    /// Whether the image may have transparent pixels.
    pub alpha: bool,
    /// Bits per sample.
    pub depth: u32,
    /// Colour model: `gray`, `ycbcr`, `rgb` or `cmyk`.
    pub colour: &'static str,
    /// Whether the source contains an ICC profile.
    pub profiled: bool,
    /// Whether the source contains EXIF, XMP or other metadata.
    pub metadata: bool,
    /// Whether the source is progressive or interlaced.
    pub progressive: bool,
    /// Length of the file, in bytes.
    pub bytes: u64,
}

impl SourceAbout {
    /// Width and height of the upright image, in px.
    #[must_use]
    pub fn upright(&self) -> (u32, u32) {
        self.orientation.size(self.width, self.height)
    }
}

/// The image that a request makes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultAbout {
    /// Name of the result's format.
    pub format: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
}
