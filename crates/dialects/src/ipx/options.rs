//! The table of ipx's modifiers, and how a path segment of modifiers is parsed.

use crate::options::About::{Answer, Ignored, Image};
use crate::options::Takes::{Number, Word};
use crate::options::{MOST_NOTES, OptionRow, Table, Takes, row};
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::sharp::Fit;

const SIDE: Takes = Takes::any("a whole number from 1");
const BOX: Takes = Takes::any("WIDTHxHEIGHT, or one number for both");
const PART: Takes = Takes::any("LEFT_TOP_WIDTH_HEIGHT in px");
const COLOUR: Takes = Takes::any("a CSS colour, or rgb or rrggbb without `#`");
const NOTHING: Takes = Takes::any("nothing");
const PLACES: Takes = Takes::any(
    "top, right, bottom, left, `right top` and so on, north and so on, center, entropy, attention, or the number of one",
);
const FORMATS: Takes = Word(&["auto", "jpeg", "jpg", "png", "webp", "avif", "gif", "tiff"]);
const KERNELS: Takes = Word(&[
    "nearest", "linear", "cubic", "mitchell", "lanczos2", "lanczos3", "mks2013", "mks2021",
]);

/// The modifiers of ipx.
#[rustfmt::skip]
pub(super) static OPTIONS: Table = Table(&[
    row(&["w", "width"], Image, SIDE, "width in px; the height follows, and takes precedence over h"),
    row(&["h", "height"], Image, SIDE, "height in px; the width follows"),
    row(&["s", "resize"], Image, BOX, "the box in px that fit and position are about"),
    row(&["fit"], Image, Word(Fit::NAMES), "how the image is fitted to the box; cover by default"),
    row(&["position", "pos"], Image, PLACES, "what stays in view with fit=cover, and where the image lies with fit=contain"),
    row(&["enlarge"], Image, NOTHING, "enlarges smaller images, too"),
    row(&["kernel"], Ignored("images are always resampled with the same kernel"), KERNELS, "the kernel for resampling"),
    row(&["quality", "q"], Image, Number(1.0, 100.0), "quality; 80 by default, of AVIF 50; makes a palette of a PNG"),
    row(&["format", "f"], Image, FORMATS, "format of the result; auto: by the header Accept; SVG is passed through without this option"),
    row(&["animated", "a"], Image, NOTHING, "keeps all frames of an animation, as results in GIF do anyway"),
    row(&["background", "b"], Image, COLOUR, "colour for fit=contain, extend, rotate and flatten; black by default"),
    row(&["crop"], Image, PART, "cuts a part out, before scaling; another name is extract"),
    row(&["extract"], Image, PART, "cuts a part out, before scaling; after it, and after crop, if both are there"),
    row(&["trim"], Image, Number(0.0, 255.0), "cuts off the border, whose colours may differ by this; 10 by default"),
    row(&["extend"], Image, Takes::any("TOP_RIGHT_BOTTOM_LEFT in px"), "adds margins"),
    row(&["rotate"], Image, Takes::any("degrees, or undefined"), "clockwise turn; undefined: upright by EXIF"),
    row(&["flip"], Image, NOTHING, "mirrors top and bottom"),
    row(&["flop"], Image, NOTHING, "mirrors left and right"),
    row(&["sharpen"], Image, Takes::any("SIGMA_FLAT_JAGGED, SIGMA or true"), "sharpens"),
    row(&["blur"], Image, Number(0.3, 1000.0), "sigma of a blur; true: a mild one"),
    row(&["median"], Ignored("there is no median filter"), Number(1.0, 1000.0), "size of a median filter"),
    row(&["gamma"], Image, Takes::any("GAMMA or GAMMA_OUT from 1 to 3"), "scales in linear light; with two numbers, changes the gamma by their ratio"),
    row(&["negate"], Image, NOTHING, "inverts the colours"),
    row(&["normalize"], Ignored("the range of an image is not stretched"), NOTHING, "stretches the luminance to the full range"),
    row(&["threshold"], Image, Number(0.0, 255.0), "makes black and white, by the lightness from which it is white"),
    row(&["modulate"], Image, Takes::any("BRIGHTNESS_SATURATION_HUE"), "factors for brightness and saturation, and degrees by which hues turn"),
    row(&["tint"], Image, Takes::any("a CSS colour"), "tints the image"),
    row(&["grayscale"], Image, NOTHING, "makes the image gray"),
    row(&["flatten"], Image, NOTHING, "lays the image on the background"),
    row(&["_"], Answer, NOTHING, "in the place of all modifiers: there are none"),
]);

/// A modifier with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Modifier {
    /// The name as in the URL, which decides when the modifier acts.
    pub(super) name: &'static str,
    /// The values, decoded and separated by `_`.
    pub(super) value: String,
}

/// The modifiers of a URL.
#[derive(Clone, Debug, Default)]
pub(super) struct Modifiers(Vec<Modifier>);

impl Modifiers {
    /// Parses a raw segment, and notes unknown names. If a modifier is repeated, its last value counts.
    pub(super) fn read(segment: &str, notes: &mut Vec<String>) -> Result<Self, Refusal> {
        let mut modifiers = Self::default();
        let pieces = segment.split(['&', ',']).filter(|_| segment != "_");
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let mut parts = piece.split([':', '=', '_']);
            let key = parts.next().unwrap_or_default();
            let values = parts.map(percent::decode).collect::<Result<Vec<_>, _>>()?;
            match OPTIONS.named(key).and_then(|row| named(row, key)) {
                Some(name) => modifiers.set(name, values.join("_")),
                None if notes.len() < MOST_NOTES => {
                    let key = shorten(key);
                    notes.push(format!("{key}: there is no such modifier; it is ignored"));
                }
                None => {}
            }
        }
        Ok(modifiers)
    }

    /// Sets the value of a modifier. A modifier that is present already keeps its place.
    pub(super) fn set(&mut self, name: &'static str, value: String) {
        match self.0.iter_mut().find(|modifier| modifier.name == name) {
            Some(modifier) => modifier.value = value,
            None => self.0.push(Modifier { name, value }),
        }
    }

    /// Removes the modifiers of these names.
    pub(super) fn remove(&mut self, names: &[&str]) {
        self.0.retain(|modifier| !names.contains(&modifier.name));
    }

    /// Returns the value of a modifier.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let modifier = self.0.iter().find(|it| it.name == name);
        modifier.map(|it| &*it.value)
    }

    /// Returns the first value that is not empty of the modifiers of these names.
    pub(super) fn first(&self, names: [&str; 2]) -> Option<&str> {
        let values = names.into_iter().filter_map(|name| self.get(name));
        values.into_iter().find(|value| !value.is_empty())
    }

    /// Returns the modifiers in the order in which they act: first those that others depend on, in the order of the
    /// URL, and then the others by name.
    pub(super) fn in_order(&self) -> Vec<&Modifier> {
        const FIRST: &[&str] = &["q", "quality", "fit", "pos", "position", "b", "background"];
        let mut all: Vec<&Modifier> = self.0.iter().collect();
        all.sort_by_key(|it| match FIRST.contains(&it.name) {
            true => "",
            false => it.name,
        });
        all
    }

    /// Returns an equivalent segment: the same modifiers in the order in which they act.
    pub(super) fn canonical(&self) -> String {
        let piece = |it: &&Modifier| match it.value.is_empty() {
            true => it.name.to_owned(),
            false => format!("{}_{}", it.name, encode_value(&it.value)),
        };
        match self.0.is_empty() {
            true => "_".to_owned(),
            false => {
                let all = self.in_order();
                all.iter().map(piece).collect::<Vec<_>>().join("&")
            }
        }
    }
}

/// Returns the name in a row that equals `key`.
fn named(row: &'static OptionRow, key: &str) -> Option<&'static str> {
    row.names
        .iter()
        .copied()
        .find(|name| *name == key && *name != "_")
}

/// Percent-encodes a value, including all characters that separate modifiers.
fn encode_value(value: &str) -> String {
    let text = percent::encode(value, "");
    let separators = [
        ('&', "%26"),
        (',', "%2C"),
        (':', "%3A"),
        ('=', "%3D"),
        (';', "%3B"),
    ];
    let encode = |text: String, (from, to): (char, &str)| text.replace(from, to);
    separators.into_iter().fold(text, encode)
}
