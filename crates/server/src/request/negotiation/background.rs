//! The background of images in formats without alpha channel.

use andon_pixels::{Codec, Depth, Encode, Model, Traits};
use andon_recipe::{self as recipe, Colour, Output};

/// The background that images are flattened onto in formats without alpha channel.
#[derive(Clone, Debug)]
pub struct Background {
    colour: Colour,
    /// Names of the formats without alpha channel.
    opaque: Vec<&'static str>,
}

impl Background {
    /// Creates a background of this colour for the formats whose codecs cannot write an alpha channel.
    #[must_use]
    pub fn new(colour: Colour, codecs: &[&'static dyn Codec]) -> Self {
        let clear = Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            alpha: true,
            space: andon_pixels::Space::UNSPECIFIED,
        };
        let is_opaque = |codec: &&&'static dyn Codec| {
            let encoder = codec.encoder();
            encoder.is_some_and(|encoder| !encoder.accepts(clear, &Encode::default()).alpha)
        };
        Self {
            colour,
            opaque: codecs
                .iter()
                .filter(is_opaque)
                .map(|codec| codec.name())
                .collect(),
        }
    }

    /// Returns the background of images in this format, or `None` if the format has an alpha channel.
    pub(crate) fn behind(&self, format: &str, output: &Output) -> Option<Colour> {
        self.opaque
            .contains(&format)
            .then_some(match output.background {
                recipe::Background::Colour(colour) => colour,
                recipe::Background::Dropped | recipe::Background::Unsaid => self.colour,
            })
    }

    /// Writes the background into an output that names none and whose format has no alpha channel, and removes it from
    /// outputs in other formats. White, the default, is left out, so that equal results have equal texts.
    pub fn complete(&self, output: &mut Output) {
        let format = output.format.as_ref();
        let is_needed = format.is_some_and(|format| self.opaque.contains(&format.as_str()));
        let colour = match output.background {
            recipe::Background::Dropped => return,
            _ if !is_needed => Colour::WHITE,
            recipe::Background::Unsaid => self.colour,
            recipe::Background::Colour(colour) => colour,
        };
        output.background = match colour {
            Colour::WHITE => recipe::Background::Unsaid,
            colour => recipe::Background::Colour(colour),
        };
    }
}
