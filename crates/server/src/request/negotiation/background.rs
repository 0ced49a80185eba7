//! What shows through images in formats that keep no opacity.

use andon_pixels::{Codec, Depth, Encode, Model, Traits};
use andon_recipe::{self as recipe, Colour, Output};

/// What images are flattened over in formats that keep no opacity.
#[derive(Clone, Debug)]
pub struct Background {
    colour: Colour,
    /// Those formats.
    opaque: Vec<&'static str>,
}

impl Background {
    /// Of this colour, for these formats.
    #[must_use]
    pub fn new(colour: Colour, codecs: &[&'static dyn Codec]) -> Self {
        let clear = Traits {
            model: Model::Rgb,
            depth: Depth::U8,
            alpha: true,
            space: andon_pixels::Space::UNSPECIFIED,
        };
        let is_opaque = |codec: &&&'static dyn Codec| {
            let written = codec.accepts(clear, &Encode::default());
            written.is_some_and(|written| !written.alpha)
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

    /// What shows through images in this format, if it keeps no opacity.
    pub(crate) fn behind(&self, format: &str, output: &Output) -> Option<Colour> {
        self.opaque
            .contains(&format)
            .then_some(match output.background {
                recipe::Background::Colour(colour) => colour,
                recipe::Background::Dropped | recipe::Background::Unsaid => self.colour,
            })
    }

    /// Puts it into an output that needs it and names no other, in its shortest form: equal results have equal
    /// texts, and an output that cannot need it does not change with it.
    pub fn complete(&self, output: &mut Output) {
        let format = output.format.as_ref();
        let needed = format.is_some_and(|format| self.opaque.contains(&format.as_str()));
        let colour = match output.background {
            recipe::Background::Dropped => return,
            _ if !needed => Colour::WHITE,
            recipe::Background::Unsaid => self.colour,
            recipe::Background::Colour(colour) => colour,
        };
        output.background = match colour {
            Colour::WHITE => recipe::Background::Unsaid,
            colour => recipe::Background::Colour(colour),
        };
    }
}
