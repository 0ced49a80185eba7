//! The version of everything that makes results.

use andon_dialects::{Ask, ImageRequest};
use andon_pixels::Codec;

/// Which version of pixels and codecs makes results.
#[derive(Clone, Debug)]
pub(crate) struct Revision(String);

impl Revision {
    pub(crate) fn of(codecs: &[&dyn Codec]) -> Self {
        Self(andon_pixels::revision(codecs))
    }

    /// What is made of the source, and by which version; nothing for a file as it is.
    pub(crate) fn result(&self, request: &ImageRequest) -> String {
        let facts = match request.ask {
            Ask::File | Ask::Redirect(_) => return String::new(),
            Ask::Picture => "",
            Ask::Describe => " facts",
        };
        format!("{}{facts} {}", self.0, request.rules.text())
    }
}
