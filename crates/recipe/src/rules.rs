//! The rules of a request before its source is known, and the facts about a source.

use std::fmt;
use std::sync::Arc;

use crate::{Measure, Measured, Orientation, Output, Recipe, Wish};

/// The rules of a request. Sizes in the rules may depend on the source; with the source's facts, the rules resolve to a
/// recipe in whole pixels.
///
/// A [`Recipe`] is the rules of the native language. A URL dialect with arithmetic of its own implements its own rules.
pub trait Rules: fmt::Debug + Send + Sync {
    /// Returns the canonical text of these rules, which no other rules have.
    fn text(&self) -> String;

    /// Resolves the rules for a source: to steps in whole pixels, and only those that change something. Resolving the
    /// result again changes nothing. Sizes are resolved even if the area that draws the eye was not measured: crops
    /// around it stay `focus:smart,crop:WxH`, and `focus:faces` and `blur-faces` stay as well.
    ///
    /// # Errors
    /// [`ResolveError`] if the rules cannot make an image of this source.
    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError>;

    /// Returns the measurements of pixels that these rules need, for a source that is stored in this orientation.
    /// Whether there are any does not depend on the orientation.
    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let _ = stored;
        Vec::new()
    }

    /// Returns the canonical URL target (path and query) of the same request for this source, if that depends on the
    /// source.
    fn canonical(&self, facts: &Facts) -> Option<String> {
        let _ = facts;
        None
    }

    /// Returns the output settings.
    fn output(&self) -> &Output;

    /// Returns these rules with other output settings, such as those after content negotiation.
    fn with_output(&self, output: Output) -> Arc<dyn Rules>;

    /// Returns the names of the overlay files that these rules use.
    fn overlays(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks whether these rules permit a recipe that they resolved to and that was changed afterwards, for example by
    /// client hints. The rules must have been resolved without the measured area that draws the eye, because lists of
    /// permitted sizes must not depend on it.
    ///
    /// # Errors
    /// [`ResolveError`] if the recipe is not permitted.
    fn permits(&self, recipe: &Recipe, facts: &Facts) -> Result<(), ResolveError> {
        let _ = (recipe, facts);
        Ok(())
    }

    /// Returns this request in the terms that all URL languages share, or `None` if they cannot express it.
    fn wish(&self) -> Option<Wish> {
        None
    }
}

/// The facts about a source that rules may depend on: those in its header, and the measurements of its pixels that the
/// rules need.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Name of the source's format.
    pub format: String,
    /// Width as stored, in px.
    pub width: u32,
    /// Height as stored, in px.
    pub height: u32,
    /// Orientation that makes the stored image upright.
    pub orientation: Orientation,
    /// Number of frames; 1 for a still image.
    pub frames: u32,
    /// Whether the source may be transparent.
    pub alpha: bool,
    /// Whether the source is CMYK.
    pub cmyk: bool,
    /// Quality that the source was written with, 1 to 100, if it is known.
    pub quality: Option<u8>,
    /// Whether the source describes its colour space. Without a description, it is taken as sRGB.
    pub tagged: bool,
    /// Whether the source has EXIF, XMP or other metadata besides the description of its colours.
    pub metadata: bool,
    /// Whether the source can be brighter than white, by its transfer function or a gain map.
    pub hdr: bool,
    /// Whether the source is drawn rather than a photo, as far as its header tells: shapes, a palette, or a lossless
    /// file that is short for its number of pixels.
    pub drawn: bool,
    /// Whether the source is a vector image, which is drawn at any size without a loss.
    pub vector: bool,
    /// Whether the result is written in another format if none is requested, because few clients support the source's
    /// format.
    pub replaced: bool,
    /// Whether the source can be decoded at a scale of N/8 ([`Shrink`](crate::Shrink)).
    pub shrinks: bool,
    /// Results of the measurements that [`Rules::measures`] returns.
    pub measured: Measured,
}

impl Facts {
    /// Creates the facts of a plain still image of this size in px: opaque, upright, without metadata.
    #[must_use]
    pub fn new(format: &str, width: u32, height: u32) -> Self {
        Self {
            format: format.to_owned(),
            width,
            height,
            orientation: Orientation::default(),
            frames: 1,
            alpha: false,
            cmyk: false,
            quality: None,
            tagged: false,
            metadata: false,
            hdr: false,
            drawn: false,
            vector: false,
            replaced: false,
            shrinks: false,
            measured: Measured::default(),
        }
    }
}

/// Error for rules that cannot make an image of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveError {
    /// The offending piece of the request.
    pub piece: String,
    /// The reason for the error, with the offending value and what would be accepted.
    pub why: String,
    /// What would have to change for the request to succeed.
    pub blame: Blame,
}

/// What would have to change so that a failed request succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The request would have to change for the rules to succeed.
    Request,
    /// The source would have to change: the rules cannot make an image of this one.
    Source,
    /// The operator's configuration would have to change: it does not permit the request.
    Permission,
}

impl ResolveError {
    /// Creates an error about a piece of the request.
    #[must_use]
    pub fn new(piece: impl fmt::Display, why: impl Into<String>) -> Self {
        Self {
            piece: piece.to_string(),
            why: why.into(),
            blame: Blame::Request,
        }
    }

    /// Returns this error marked as one that would not occur with another source.
    #[must_use]
    pub fn of_source(self) -> Self {
        Self {
            blame: Blame::Source,
            ..self
        }
    }

    /// Returns this error marked as caused by the operator's configuration.
    #[must_use]
    pub fn not_permitted(self) -> Self {
        Self {
            blame: Blame::Permission,
            ..self
        }
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.piece, self.why)
    }
}

impl std::error::Error for ResolveError {}
