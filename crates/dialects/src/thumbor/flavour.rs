//! thumbor and imagor, the two programs whose URLs are parsed, and how they name images and formats.

use Flavour::{Imagor, Thumbor};

use crate::percent;
use crate::refusal::Refusal;
use crate::signature::base64;

/// The program whose syntax and arithmetic apply to a URL: thumbor or imagor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    Thumbor,
    Imagor,
}

/// The formats that the engine writes: their names in URLs, the engine's name, and whether thumbor has them as well as
/// imagor.
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
    /// Returns the prefix that the canonical texts of this program's rules have.
    pub(super) fn word(self) -> &'static str {
        match self {
            Thumbor => "thumbor:",
            Imagor => "imagor:",
        }
    }

    /// Returns the engine's name of an output format; `None` if the program does not have the format, or the engine
    /// cannot write it.
    pub(super) fn format(self, name: &str) -> Option<&'static str> {
        let mut all = FORMATS.iter();
        let row = all.find(|(names, _, both)| names.contains(&name) && (*both || self == Imagor));
        row.map(|(_, format, _)| *format)
    }

    /// Decodes the name of an image, once.
    ///
    /// # Errors
    /// A name that cannot be decoded, for thumbor. imagor takes such a name literally.
    pub(super) fn image_name(self, raw: &str) -> Result<String, Refusal> {
        if self == Thumbor {
            return percent::decode(raw);
        }
        let image = unescape(raw);
        let bytes = image.strip_prefix("b64:").and_then(base64::read_bare);
        // A text that is not base64 is the name of a file.
        Ok(bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .unwrap_or(image))
    }
}

/// Decodes a text like the value of a form, where `+` is a space. A text that cannot be decoded is returned unchanged.
pub(super) fn unescape(text: &str) -> String {
    percent::decode(&text.replace('+', " ")).unwrap_or_else(|_| text.to_owned())
}
