//! What is told of a source's pixels: made by a recipe each, as a text.

use andon_recipe::Recipe;
use serde_json::{Map, Value, json};

use super::args::{Wrong, int, truth};
use crate::colours;
use crate::swatches::{self, Weighed};

/// Something to be seen in an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    /// The most colours that it may have.
    Palette(u32),
    Average,
    /// The six swatches; those that are not found may be made of others.
    Dominant(bool),
    /// Components across and down.
    BlurHash(u32, u32),
    ThumbHash,
}

impl Seen {
    /// Reads an option about pixels: what it asks for, if anything. `None`: it is another option.
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

    /// What makes it visible, as a text: of the first frame, upright.
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

    /// Its value, from the text.
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

/// The colours of which the dominant ones are chosen.
const DOMINANT: u32 = 32;

/// The levels of a colour in hexadecimal digits.
fn levels(digits: &Value) -> Vec<u8> {
    let read = digits.as_str().and_then(colours::channels);
    read.unwrap_or_default()
}

/// A colour as imgproxy tells it.
fn colour(levels: &[u8]) -> Value {
    match levels {
        [r, g, b] => json!({ "R": r, "G": g, "B": b }),
        [r, g, b, a] => json!({ "R": r, "G": g, "B": b, "A": a }),
        _ => Value::Null,
    }
}
