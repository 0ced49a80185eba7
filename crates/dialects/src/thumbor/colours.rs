//! Colours in filters, and backgrounds that filters place an image on.

use andon_recipe::{Colour, Effect};

use super::flavour::Flavour;
use crate::colours::{channels, rgba};

/// Parses a colour such as `red`, `f00`, `ff0000` or `ff000080`, with or without `#`.
pub(super) fn read(text: &str) -> Option<Colour> {
    let text = text.trim_start_matches('#');
    let hex = || match text.len() {
        3 | 6 | 8 => rgba(&channels(text)?),
        _ => None,
    };
    Colour::named(text).or_else(hex)
}

/// The background that a filter places an image on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    Colour(Colour),
    /// The image's mean colour.
    Mean,
    /// The image's median colour.
    Median,
    /// The image itself, scaled to the size of the background and blurred.
    Blurred,
}

impl Ground {
    /// Parses a background; `None` for a text that is invalid in thumbor. In imagor every text is valid.
    pub(super) fn read(flavour: Flavour, word: &str) -> Option<Self> {
        match (flavour, word) {
            (_, "blur") => Some(Self::Blurred),
            (Flavour::Thumbor, "auto") => Some(Self::Median),
            (Flavour::Imagor, "auto") => Some(Self::Mean),
            (Flavour::Thumbor, "transparent") => Some(Self::Colour(Colour::CLEAR)),
            (Flavour::Thumbor, colour) => read(colour).map(Self::Colour),
            (Flavour::Imagor, colour) => Some(Self::Colour(imagor(colour))),
        }
    }

    /// Returns the colour of the canvas for this background. The canvas is transparent if the background is made from
    /// the image, because then [`Self::effect`] draws the background behind the image later.
    pub(super) fn canvas(self) -> Colour {
        match self {
            Self::Colour(colour) => colour,
            Self::Mean | Self::Median | Self::Blurred => Colour::CLEAR,
        }
    }

    /// Returns the effect that draws the background around an image at this place and of this size in px; `None` for a
    /// plain colour.
    pub(super) fn effect(self, (x, y): (i32, i32), (w, h): (u32, u32)) -> Option<Effect> {
        let kind = match self {
            Self::Colour(_) => return None,
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Blurred => "blur",
        };
        let args = vec![
            kind.to_owned(),
            x.to_string(),
            y.to_string(),
            format!("{w}x{h}"),
        ];
        Effect::new("backdrop", args).ok()
    }
}

/// Parses a colour as imagor does, where a text that is not a colour is black.
pub(super) fn imagor(text: &str) -> Colour {
    match text {
        "none" | "transparent" => Colour::CLEAR,
        text => read(text).unwrap_or(Colour::BLACK),
    }
}

/// Returns the colour of an image that is only a colour, such as `color:red`; `None` for other names.
pub(super) fn of_image(name: &str) -> Option<Colour> {
    let colour = name.strip_prefix("color:")?;
    Some(imagor(colour.trim_start_matches('/')))
}
