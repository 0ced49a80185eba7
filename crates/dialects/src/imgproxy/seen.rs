//! Facts about a source's pixels. Each is made by a recipe whose result is a text.

use andon_recipe::Recipe;
use serde_json::{Map, Value, json};

use super::args::{Wrong, int, truth};
use crate::colours;
use crate::swatches::{self, Weighed};

/// A fact that can only be found in an image's pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    /// A palette with at most this many colours.
    Palette(u32),
    Average,
    /// The six dominant colours (swatches), and whether those that are not found are derived from the others.
    Dominant(bool),
    /// A BlurHash with this many components across and down.
    BlurHash(u32, u32),
    ThumbHash,
}

impl Seen {
    /// Reads an option about pixels. Returns its key, and the fact that it asks for unless it is switched off. `None`:
    /// the option is another one.
    pub(super) fn read(
        name: &str,
        args: &[&str],
    ) -> Option<Result<(&'static str, Option<Self>), Wrong>> {
        let first = args.first().copied().unwrap_or_default();
        let flag = |place: usize| args.get(place).is_some_and(|text| truth(text));
        let count = |text: &str, most: i64| Ok::<_, Wrong>(int(text, 0, most)? as u32);
        let on = |seen: Self| Ok(flag(0).then_some(seen));
        let (key, seen) = match name {
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
                let read = || {
                    let down = args.get(1).copied().unwrap_or_default();
                    let (across, down) = (count(first, 9)?, count(down, 9)?);
                    Ok((across > 0 && down > 0).then_some(Self::BlurHash(across, down)))
                };
                ("blurhash", read())
            }
            "thumb_hash" | "th" => ("thumb_hash", on(Self::ThumbHash)),
            _ => return None,
        };
        Some(seen.map(|seen| (key, seen)))
    }

    /// Returns the recipe that finds the fact in the first frame, turned upright, and writes it as a text.
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

    /// Returns the fact's value in the document, made of the text that its recipe wrote.
    pub(super) fn tell(self, text: &str) -> Value {
        let colours = || serde_json::from_str::<Value>(text).unwrap_or_default();
        match self {
            Self::BlurHash(..) | Self::ThumbHash => text.into(),
            Self::Average => colour(&levels(&colours()["average"])),
            Self::Palette(_) => {
                let opaque = |([r, g, b], _): Weighed| colour(&[r, g, b, u8::MAX]);
                swatches::weighed(&colours())
                    .into_iter()
                    .map(opaque)
                    .collect()
            }
            Self::Dominant(all) => {
                let swatches = swatches::of(&swatches::weighed(&colours()), all).into_iter();
                let told = swatches.map(|(name, levels)| (name.to_owned(), colour(&levels)));
                Value::Object(told.collect::<Map<_, _>>())
            }
        }
    }
}

/// How many colours the palette has from which the dominant ones are chosen.
const DOMINANT: u32 = 32;

/// Reads the channels of a colour in hexadecimal digits.
fn levels(digits: &Value) -> Vec<u8> {
    let read = digits.as_str().and_then(colours::channels);
    read.unwrap_or_default()
}

/// Returns a colour in the form in which imgproxy writes it, made of 3 or 4 channels.
fn colour(levels: &[u8]) -> Value {
    match levels {
        [r, g, b] => json!({ "R": r, "G": g, "B": b }),
        [r, g, b, a] => json!({ "R": r, "G": g, "B": b, "A": a }),
        _ => Value::Null,
    }
}
