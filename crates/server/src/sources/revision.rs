//! The version of everything that makes results.

use andon_dialects::Wish;
use andon_pixels::Codec;

/// Which version of pixels and codecs makes results.
#[derive(Clone, Debug)]
pub(crate) struct Revision(String);

impl Revision {
    pub(crate) fn of(codecs: &[&dyn Codec]) -> Self {
        Self(andon_pixels::revision(codecs))
    }

    /// What is made of the source, and by which version; nothing for a file as it is.
    pub(crate) fn result(&self, wish: &Wish) -> String {
        match wish.transformed {
            true => format!("{} {}", self.0, wish.rules.text()),
            false => String::new(),
        }
    }
}
