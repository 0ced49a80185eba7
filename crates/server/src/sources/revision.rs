//! The version of everything that makes results.

use std::fmt::Display;

use andon_dialects::Ask;
use andon_pixels::Codec;

/// Which version of pixels and codecs makes results.
#[derive(Clone, Debug)]
pub(crate) struct Revision(String);

impl Revision {
    pub(crate) fn of(codecs: &[&dyn Codec]) -> Self {
        Self(andon_pixels::revision(codecs))
    }

    /// Which version makes what of the source; nothing for a file as it is. The recipe is in whole pixels.
    pub(crate) fn result(&self, ask: &Ask, recipe: &dyn Display) -> String {
        match ask {
            Ask::File | Ask::Redirect(_) | Ask::Text { .. } => String::new(),
            Ask::Picture => format!("{} {recipe}", self.0),
            Ask::Describe(document) => format!("{} {} {recipe}", self.0, document.name()),
        }
    }

    /// Which version reads headers.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}
