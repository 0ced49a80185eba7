//! The table of Cloudflare's options, and how they are read from one path segment of a target: an unknown or invalid
//! option is an error.

use crate::colours;
use crate::options::About::{Answer, Ignored, Image, Partly};
use crate::options::Takes::{Number, Text, Word};
use crate::options::{Table, Takes, Values, row};
use crate::percent;
use crate::refusal::Refusal;

/// The longest side that a URL may request, in px.
const MOST: f64 = 12_000.0;

const SIDE: Takes = Text(is_side, "auto or a whole number from 1 to 12000");
const POINT: Takes = Text(
    |text| GRAVITIES.contains(&text) || point(text).is_some(),
    "auto, face, left, right, top, bottom or two numbers from 0 to 1 such as 0.5x0.2",
);
const TRIM: Takes = Text(
    |text| text == "border" || sides(text).is_some(),
    "border or top;right;bottom;left in px",
);
const COLOUR: Takes = Text(|text| colours::css(text).is_some(), "a CSS colour");
const QUALITY: Takes = Text(
    |text| quality(text).is_some(),
    "high, medium-high, medium-low, low or a number from 1 to 100",
);
const FORMATS: &[&str] = &[
    "auto",
    "avif",
    "webp",
    "png",
    "jpeg",
    "jpg",
    "baseline-jpeg",
    "json",
];
const FITS: &[&str] = &[
    "scale-down",
    "contain",
    "cover",
    "crop",
    "aspect-crop",
    "pad",
    "squeeze",
];
const GRAVITIES: &[&str] = &["auto", "face", "left", "right", "top", "bottom", "center"];

/// The options of Cloudflare's URLs.
#[rustfmt::skip]
pub(super) static OPTIONS: Table = Table(&[
    row(&["width", "w"], Partly(&["auto"]), SIDE, "width of the box in px"),
    row(&["height", "h"], Partly(&["auto"]), SIDE, "height of the box in px"),
    row(&["dpr"], Image, Number(0.01, 10.0), "factor for all lengths"),
    row(&["fit"], Image, Word(FITS), "how the image is fitted to the box; scale-down by default"),
    row(&["gravity", "g"], Image, POINT, "what stays in view where the box cuts"),
    row(&["face-zoom", "zoom"], Ignored("faces are kept in view as they are"), Number(0.0, 1.0), "how near faces come"),
    row(&["trim"], Image, TRIM, "what is cut off before scaling: lengths, or a border of one colour"),
    row(&["trim.width"], Image, Number(1.0, MOST), "width in px of the part to use"),
    row(&["trim.height"], Image, Number(1.0, MOST), "height in px of the part to use"),
    row(&["trim.left"], Image, Number(0.0, MOST), "left edge in px of the part to use"),
    row(&["trim.top"], Image, Number(0.0, MOST), "top edge in px of the part to use"),
    row(&["rotate"], Image, Word(&["0", "90", "180", "270", "360"]), "clockwise turn in degrees, before scaling"),
    row(&["flip"], Image, Word(&["h", "v", "hv", "vh"]), "mirrors the image, before it is turned"),
    row(&["background"], Image, COLOUR, "colour behind transparent parts, and around the image with fit=pad"),
    row(&["border.color"], Image, COLOUR, "colour of a border; needs border.width"),
    row(&["border.width"], Image, Number(0.0, MOST), "width in px of a border; needs border.color"),
    row(&["draw"], Image, Takes::any("a JSON array, percent-encoded"), "images to lay over the result, the last one on top"),
    row(&["blur"], Image, Number(1.0, 250.0), "radius of a blur"),
    row(&["sharpen"], Image, Number(0.0, 10.0), "strength of sharpening"),
    row(&["brightness"], Image, Number(0.0, 100.0), "factor for the brightness; 0 is ignored"),
    row(&["contrast"], Image, Number(0.0, 100.0), "factor for the contrast; 0 is ignored"),
    row(&["gamma"], Image, Number(0.0, 100.0), "exponent of the exposure; 0 is ignored"),
    row(&["saturation"], Image, Number(0.0, 100.0), "factor for the saturation; 0 makes the image gray"),
    row(&["quality", "q"], Image, QUALITY, "quality; 85 by default"),
    row(&["slow-connection-quality", "scq"], Image, QUALITY, "quality for clients with a slow connection"),
    row(&["format", "f"], Image, Word(FORMATS), "format of the result, or a JSON document about it"),
    row(&["upscale"], Partly(&["generate"]), Word(&["interpolate", "generate"]), "how images are enlarged"),
    row(&["compression"], Image, Word(&["fast"]), "changes nothing: results are always made as fast as that"),
    row(&["metadata"], Image, Word(&["copyright", "keep", "none"]), "the metadata that a JPEG keeps; copyright by default"),
    row(&["anim"], Image, Word(&["true", "false"]), "whether animations stay so"),
    row(&["onerror"], Answer, Word(&["redirect"]), "redirects to the source, if that is a URL, where no result can be made"),
    row(&["segment"], Partly(&["foreground"]), Word(&["foreground"]), "part of the image that is kept"),
]);

fn is_side(text: &str) -> bool {
    let whole = text.bytes().all(|byte| byte.is_ascii_digit());
    text == "auto" || (whole && Number(1.0, MOST).accepts(text))
}

/// Reads a point written as `XxY`, with both coordinates from 0 to 1.
pub(super) fn point(text: &str) -> Option<(f64, f64)> {
    let (x, y) = text.split_once('x')?;
    let share = |text| Number(0.0, 1.0).number(text);
    share(x).zip(share(y))
}

/// Reads how many px are cut off at each side: top, right, bottom, left.
pub(super) fn sides(text: &str) -> Option<[u32; 4]> {
    let sides = text.split(';').map(|side| side.parse().ok());
    sides.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Reads a quality. Cloudflare does not document the numbers behind its words, so that ours are estimates.
pub(super) fn quality(text: &str) -> Option<u8> {
    match text {
        "high" => Some(90),
        "medium-high" => Some(80),
        "medium-low" => Some(70),
        "low" => Some(50),
        number => Some(Number(1.0, 100.0).number(number)? as u8),
    }
}

/// Reads the options from their raw path segment. It is split before it is percent-decoded, and the last value of each
/// option counts.
pub(super) fn read(segment: &str) -> Result<Values, Refusal> {
    let mut options = Values::default();
    for piece in segment.split(',').filter(|piece| !piece.is_empty()) {
        let wrong = |why: String| Refusal::new(piece, why);
        let (name, value) = piece
            .split_once('=')
            .ok_or_else(|| wrong("an option is key=value".to_owned()))?;
        let value = percent::decode(value)?;
        let row = OPTIONS.named(name).ok_or_else(|| {
            let names: Vec<&str> = OPTIONS.names().collect();
            wrong(andon_recipe::unknown("option", name, &names))
        })?;
        if !row.takes.accepts(&value) {
            return Err(wrong(format!("{} must be {}", row.name(), row.takes)));
        }
        options.replace(row, value);
    }
    match options.is_empty() {
        true => Err(Refusal::new(
            segment,
            "at least one option must be there, such as width=250",
        )),
        false => Ok(options),
    }
}

/// Returns the options as `key=value` pairs separated by commas, sorted and percent-encoded.
pub(super) fn canonical(options: &Values) -> String {
    options.canonical(",", |value| percent::encode(value, "").replace(',', "%2C"))
}
