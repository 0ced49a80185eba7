//! Facts about a source's pixels. Each is computed by a recipe whose result is a text.

use andon_recipe::Recipe;
use serde_json::{Map, Value, json};

use super::args::{Wrong, int, truth};
use crate::colours;
use crate::swatches::{self, ColourShare};

/// A fact that is computed from the pixels of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PixelFact {
    /// A palette with at most this many colours.
    Palette(u32),
    Average,
    /// The six dominant colours (swatches), and whether missing ones are derived from the others.
    Dominant(bool),
    /// A BlurHash with this many components across and down.
    BlurHash(u32, u32),
    ThumbHash,
}

impl PixelFact {
    /// Parses an option of `/info` about pixels. Returns the key of the fact in the JSON document, and the fact, which
    /// is `None` if the option switches it off. Returns `None` for an option that is not about pixels.
    pub(super) fn read(
        name: &str,
        args: &[&str],
    ) -> Option<Result<(&'static str, Option<Self>), Wrong>> {
        let first = args.first().copied().unwrap_or_default();
        let flag = |place: usize| args.get(place).is_some_and(|text| truth(text));
        let count = |text: &str, most: i64| Ok::<_, Wrong>(int(text, 0, most)? as u32);
        let on = |fact: Self| Ok(flag(0).then_some(fact));
        let (key, fact) = match name {
            "palette" | "p" => (
                "palette",
                count(first, 256).and_then(|colours| match colours {
                    0 => Ok(None),
                    1 => Err("a palette has 2 to 256 colours".to_owned()),
                    colours => Ok(Some(Self::Palette(colours))),
                }),
            ),
            "average" | "avg" => ("average", on(Self::Average)),
            "dominant_colors" | "dc" => ("dominant_colors", on(Self::Dominant(flag(1)))),
            "blurhash" | "bh" => {
                let components = || {
                    let rows = args.get(1).copied().unwrap_or_default();
                    let (columns, rows) = (count(first, 9)?, count(rows, 9)?);
                    Ok((columns > 0 && rows > 0).then_some(Self::BlurHash(columns, rows)))
                };
                ("blurhash", components())
            }
            "thumb_hash" | "th" => ("thumb_hash", on(Self::ThumbHash)),
            _ => return None,
        };
        Some(fact.map(|fact| (key, fact)))
    }

    /// Returns the recipe that computes the fact from the first frame, turned upright, and writes it as text.
    pub(super) fn recipe(self) -> Option<Recipe> {
        let format = match self {
            Self::Palette(colours) => format!("as:palette,with:count:{colours}"),
            Self::Average => "as:palette,with:count:1".to_owned(),
            Self::Dominant(_) => format!("as:palette,with:count:{DOMINANT}"),
            Self::BlurHash(across, down) => {
                format!("as:blurhash,with:across:{across},with:down:{down}")
            }
            Self::ThumbHash => "as:thumbhash".to_owned(),
        };
        format!("orient,fit:100x100,{format}").parse().ok()
    }

    /// Returns the fact's value in the JSON document about the source. `text` is the result of the fact's recipe.
    pub(super) fn tell(self, text: &str) -> Value {
        let colours = || serde_json::from_str::<Value>(text).unwrap_or_default();
        match self {
            Self::BlurHash(..) | Self::ThumbHash => text.into(),
            Self::Average => colour(&levels(&colours()["average"])),
            Self::Palette(_) => {
                let opaque = |([r, g, b], _): ColourShare| colour(&[r, g, b, u8::MAX]);
                swatches::colour_shares(&colours())
                    .into_iter()
                    .map(opaque)
                    .collect()
            }
            Self::Dominant(all) => {
                let swatches = swatches::of(&swatches::colour_shares(&colours()), all).into_iter();
                let entries = swatches.map(|(name, levels)| (name.to_owned(), colour(&levels)));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

/// Number of colours in the palette that the dominant colours are chosen from.
const DOMINANT: u32 = 32;

/// Parses the channels of a colour in hexadecimal digits.
fn levels(digits: &Value) -> Vec<u8> {
    let channels = digits.as_str().and_then(colours::channels);
    channels.unwrap_or_default()
}

/// Returns a colour of 3 or 4 channels in imgproxy's JSON form.
fn colour(levels: &[u8]) -> Value {
    match levels {
        [r, g, b] => json!({ "R": r, "G": g, "B": b }),
        [r, g, b, a] => json!({ "R": r, "G": g, "B": b, "A": a }),
        _ => Value::Null,
    }
}
