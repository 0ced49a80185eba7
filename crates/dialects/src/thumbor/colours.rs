//! Colours as filters write them, and what else may lie under an image.

use andon_recipe::{Colour, Effect};

use crate::colours::{channels, named, rgba};

/// `red`, `f00`, `ff0000`, `ff000080`, with or without `#`.
pub(super) fn read(text: &str) -> Option<Colour> {
    let text = text.trim_start_matches('#');
    let hex = || match text.len() {
        3 | 6 | 8 => rgba(&channels(text)?),
        _ => None,
    };
    named(text).or_else(hex)
}

/// What a filter lays an image on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    Colour(Colour),
    /// The image's mean colour.
    Mean,
    /// Its median colour.
    Median,
    /// The image itself, as large as the ground and blurred.
    Blurred,
}

impl Ground {
    /// thumbor's: `None` for what is no colour.
    pub(super) fn thumbor(word: &str) -> Option<Self> {
        match word {
            "transparent" => Some(Self::Colour(Colour::CLEAR)),
            "auto" => Some(Self::Median),
            "blur" => Some(Self::Blurred),
            colour => read(colour).map(Self::Colour),
        }
    }

    /// imagor's.
    pub(super) fn imagor(word: &str) -> Self {
        match word {
            "auto" => Self::Mean,
            "blur" => Self::Blurred,
            word => Self::Colour(imagor(word)),
        }
    }

    /// The colour of a canvas for it, through which it is seen if it is none itself.
    pub(super) fn canvas(self) -> Colour {
        match self {
            Self::Colour(colour) => colour,
            Self::Mean | Self::Median | Self::Blurred => Colour::CLEAR,
        }
    }

    /// What fills the canvas around an image at this place.
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

/// imagor paints black for what is no colour.
pub(super) fn imagor(text: &str) -> Colour {
    const BLACK: Colour = Colour {
        a: u8::MAX,
        ..Colour::CLEAR
    };
    match text {
        "none" | "transparent" => Colour::CLEAR,
        text => read(text).unwrap_or(BLACK),
    }
}

/// The colour of an image that is nothing else: `color:red`.
pub(super) fn of_image(name: &str) -> Option<Colour> {
    let colour = name.strip_prefix("color:")?;
    Some(imagor(colour.trim_start_matches('/')))
}
