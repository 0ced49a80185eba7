//! The background of images in formats without opacity.

use andon_pixels::{Codec, Depth, Encode, Model, Traits};
use andon_recipe::{self as recipe, Colour, Output};

/// The background that images are flattened onto in formats without opacity.
#[derive(Clone, Debug)]
pub struct Background {
    colour: Colour,
    /// Names of the formats without opacity.
    opaque: Vec<&'static str>,
}

impl Background {
    /// Creates a background of this colour. It applies to the formats of those codecs that cannot write opacity.
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

    /// Returns the background of images in this format, if it has no opacity.
    pub(crate) fn behind(&self, format: &str, output: &Output) -> Option<Colour> {
        self.opaque
            .contains(&format)
            .then_some(match output.background {
                recipe::Background::Colour(colour) => colour,
                recipe::Background::Dropped | recipe::Background::Unsaid => self.colour,
            })
    }

    /// Writes the background into an output that needs one and names none, and removes the background from an output whose
    /// format has opacity. White, the default, is left out, so that equal results have equal texts.
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
