//! The two programs whose URLs are read, and what they call images and formats.

use Flavour::{Imagor, Thumbor};

use crate::percent;
use crate::refusal::Refusal;
use crate::signature::base64;

/// The program whose URLs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    Thumbor,
    Imagor,
}

/// The formats that the engine writes: their names in URLs, the engine's name, and whether thumbor knows them, too.
const FORMATS: [(&[&str], &str, bool); 7] = [
    (&["jpeg", "jpg"], "jpeg", true),
    (&["png"], "png", true),
    (&["gif"], "gif", true),
    (&["webp"], "webp", true),
    (&["avif"], "avif", true),
    (&["jxl"], "jxl", false),
    (&["tiff"], "tiff", false),
];

impl Flavour {
    /// Returns the prefix of the text of the flavour's rules.
    pub(super) fn word(self) -> &'static str {
        match self {
            Thumbor => "thumbor:",
            Imagor => "imagor:",
        }
    }

    /// Returns the engine's name of a format that the flavour knows and the engine can write.
    pub(super) fn format(self, name: &str) -> Option<&'static str> {
        let mut all = FORMATS.iter();
        let row = all.find(|(names, _, both)| names.contains(&name) && (*both || self == Imagor));
        row.map(|(_, format, _)| *format)
    }

    /// Decodes the name of an image, once.
    ///
    /// # Errors
    /// A name of thumbor's that cannot be decoded. imagor leaves such a name undecoded.
    pub(super) fn image_name(self, raw: &str) -> Result<String, Refusal> {
        if self == Thumbor {
            return percent::decode(raw);
        }
        let image = unescaped(raw);
        let bytes = image.strip_prefix("b64:").and_then(base64::read_bare);
        // What is no base64 is a file's name.
        Ok(bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .unwrap_or(image))
    }
}

/// Decodes a text like the value of a form, where `+` is a space. A text that cannot be decoded is returned unchanged.
pub(super) fn unescaped(text: &str) -> String {
    percent::decode(&text.replace('+', " ")).unwrap_or_else(|_| text.to_owned())
}
