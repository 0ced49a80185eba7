//! What a request wants before its source is known, and what is known of a source.

use std::fmt;
use std::sync::Arc;

use crate::{Measure, Measured, Orientation, Output, Recipe};

/// A request's rules. Sizes in it may depend on the source; with the source's facts they come to a recipe
/// of whole pixels.
///
/// A [`Recipe`] is the rules of the native language. A URL dialect with an arithmetic of its own has rules
/// of its own.
pub trait Rules: fmt::Debug + Send + Sync {
    /// One canonical text, different from that of any other rules.
    fn text(&self) -> String;

    /// What they come to for a source: steps in whole pixels, and only those that change something.
    /// Resolving the result again changes nothing. Sizes are settled even where it was not measured what draws the eye:
    /// crops around that stay `focus:smart,crop:WxH`, and so do `focus:faces` and `blur-faces`.
    ///
    /// # Errors
    /// [`ResolveError`] for rules that make no image of this source.
    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError>;

    /// What has to be known of the pixels of a source that is stored in this orientation. Whether there is
    /// anything does not depend on it.
    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let _ = stored;
        Vec::new()
    }

    /// The canonical target of the same request for this source, where that depends on the source.
    fn canonical(&self, facts: &Facts) -> Option<String> {
        let _ = facts;
        None
    }

    /// How the result is written.
    fn output(&self) -> &Output;

    /// These rules with another output: what content negotiation and the configuration settle.
    fn with_output(&self, output: Output) -> Arc<dyn Rules>;

    /// The files that they compose with, by name.
    fn materials(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What rules may depend on: the source's header, and of its pixels what they asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The format's name.
    pub format: String,
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
    /// Is it CMYK?
    pub cmyk: bool,
    /// The quality that it was written with, 1 to 100, if that can be told.
    pub quality: Option<u8>,
    /// Does it say that its colours are not sRGB?
    pub tagged: bool,
    /// Has it EXIF, XMP or other metadata beside what says what its colours are?
    pub metadata: bool,
    /// Is it brighter than white in places, by its curve or a gain map?
    pub hdr: bool,
    /// Is it drawn rather than photographed, as far as its header tells: shapes, a palette, or a file without loss that is
    /// short for its pixels?
    pub drawn: bool,
    /// Is the result written in another format where none is asked for, because few clients show this one?
    pub replaced: bool,
    /// Can it be decoded at N/8 ([`Step::Shrink`](crate::Step::Shrink))?
    pub shrinks: bool,
    /// The answers to [`Rules::measures`].
    pub measured: Measured,
}

impl Facts {
    /// A plain image: opaque, upright, without metadata.
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
            replaced: false,
            shrinks: false,
            measured: Measured::default(),
        }
    }
}

/// Why rules make no image of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveError {
    /// The offending piece.
    pub piece: String,
    /// The reason, with the offending value and what would be accepted.
    pub why: String,
    /// Is it the source that will not do, rather than the request?
    pub of_source: bool,
}

impl ResolveError {
    /// An error about a piece of the request.
    #[must_use]
    pub fn new(piece: impl fmt::Display, why: impl Into<String>) -> Self {
        Self {
            piece: piece.to_string(),
            why: why.into(),
            of_source: false,
        }
    }

    /// This error, marked as one that another source would not have.
    #[must_use]
    pub fn of_source(self) -> Self {
        Self {
            of_source: true,
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
