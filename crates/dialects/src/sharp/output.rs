//! How sharp writes images: formats, qualities and other defaults.

use andon_recipe::{
    Background, Chroma, Colour, Facts, FormatName, Goal, Kept, Output, Profile, StoredTurn,
};

use super::expected;

/// The output formats of sharp.
pub(crate) struct Format;

impl Format {
    /// Returns the engine's name of an output format of sharp; `None` for one that is not written here.
    pub(crate) fn named(name: &str) -> Option<&'static str> {
        Some(match name {
            "jpeg" | "jpg" | "jpe" => "jpeg",
            "png" => "png",
            "webp" => "webp",
            "avif" => "avif",
            "gif" => "gif",
            "tiff" | "tif" => "tiff",
            _ => return None,
        })
    }
}

/// Output settings that do not depend on the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoding {
    /// Quality from 1 to 100; `None`: the default of the format.
    pub(crate) quality: Option<u8>,
    /// Whether JPEG is written progressive.
    pub(crate) progressive: bool,
    /// Whether a source in SVG is sent unchanged if the URL names no format.
    pub(crate) keeps_svg: bool,
    /// Whether only the first frame of an animation is sent, unless the result is a GIF.
    pub(crate) is_still: bool,
}

/// Returns sharp's output settings for a format; `None`: the format of the source. Results are sRGB and have no
/// metadata.
pub(super) fn output(format: Option<&str>) -> Output {
    Output {
        stored_turn: StoredTurn::Verbatim,
        format: format.and_then(|name| FormatName::new(name).ok()),
        profile: Profile::Srgb,
        metadata: Kept::None,
        background: Background::Colour(Colour {
            a: 255,
            ..Colour::CLEAR
        }),
        ..Output::default()
    }
}

impl Encoding {
    /// Completes the output settings for a source: quality, subsampling and frames.
    pub(super) fn of(&self, output: &Output, facts: &Facts) -> Output {
        let mut output = output.clone();
        let format = output.format_or(&facts.format).to_owned();
        let default_quality = match &*format {
            "avif" => Some(50),
            "jpeg" | "webp" => Some(80),
            _ => None,
        };
        match (&*format, self.quality) {
            // With a quality, sharp writes PNGs with a palette.
            ("png", Some(_)) => {
                let colours = ("colours".to_owned(), "256".to_owned());
                output.options.extend([colours]);
            }
            (_, quality) => {
                output.goal = default_quality
                    .map(|default_quality| Goal::Quality(quality.unwrap_or(default_quality)))
            }
        }
        let is_jpeg = format == "jpeg";
        output.progressive = self.progressive && is_jpeg;
        output.chroma = is_jpeg.then_some(Chroma::C420);
        if self.is_still && format != "gif" {
            output.frame = Some(1);
        }
        output
    }
}

/// Validates a quality: a whole number from 1 to 100. `value` is the text that it was parsed from, and `kind`
/// JavaScript's name for its type.
///
/// # Errors
/// sharp's message about any other number.
pub(crate) fn quality(number: Option<f64>, value: &str, kind: &str) -> Result<u8, String> {
    number
        .filter(|number| number.fract() == 0.0 && (1.0..=100.0).contains(number))
        .map(|number| number as u8)
        .ok_or_else(|| expected("integer between 1 and 100", "quality", value, kind))
}
