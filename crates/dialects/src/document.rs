//! Documents about a source, and about the image that a request would make of it.

use std::borrow::Cow;
use std::fmt;

use andon_recipe::{Orientation, Recipe};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// One kind of document.
pub trait Document: fmt::Debug + Send + Sync {
    /// Everything that its text depends on beside what it is about: part of the key of its result.
    fn name(&self) -> String;

    /// Its media type.
    fn media_type(&self) -> &'static str;

    /// Must anything be made of the source before it can be written?
    fn has_parts(&self) -> bool {
        false
    }

    /// What that is, where the request comes to this recipe.
    fn parts(&self, recipe: &Recipe) -> Vec<Recipe> {
        let _ = recipe;
        Vec::new()
    }

    /// Its text.
    fn write(&self, about: &About<'_>) -> String;
}

/// Equal when they write the same.
impl PartialEq for dyn Document {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Document {}

/// What a document is about.
#[derive(Clone, Debug)]
pub struct About<'a> {
    /// The source.
    pub source: SourceAbout,
    /// The request in whole pixels.
    pub recipe: &'a Recipe,
    /// The image that the recipe makes of the source.
    pub result: ResultAbout,
    /// What was made by [`Document::parts`], in their order.
    pub parts: &'a [Part],
}

/// Something that a document tells of an image, or shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub body: Vec<u8>,
}

impl Part {
    /// It as a URI that holds it.
    #[must_use]
    pub fn data_uri(&self) -> String {
        let body = BASE64_STANDARD.encode(&self.body);
        format!("data:{};base64,{body}", self.media_type)
    }

    /// Its text, if it is one.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

/// What the header of a source says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAbout {
    /// The format's name.
    pub format: &'static str,
    /// Width as stored, in px.
    pub width: u32,
    /// Height as stored, in px.
    pub height: u32,
    /// How the stored image becomes upright.
    pub orientation: Orientation,
    /// How many frames there are; 1 for a still image.
    pub frames: u32,
    /// May it be transparent?
    pub alpha: bool,
    /// Bits per sample.
    pub depth: u32,
    /// `gray`, `ycbcr`, `rgb` or `cmyk`.
    pub colour: &'static str,
    /// Has it an ICC profile?
    pub profiled: bool,
    /// Has it EXIF, XMP or other metadata?
    pub metadata: bool,
    /// Is it progressive or interlaced?
    pub progressive: bool,
    /// Length of the file.
    pub bytes: u64,
}

impl SourceAbout {
    /// Width and height of the upright image, in px.
    #[must_use]
    pub fn upright(&self) -> (u32, u32) {
        self.orientation.size(self.width, self.height)
    }
}

/// What a request makes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultAbout {
    /// The format's name.
    pub format: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
}
