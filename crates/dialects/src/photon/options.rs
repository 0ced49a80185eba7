//! The table of Photon's arguments, and how a query is parsed.

use crate::options::About::{Answer, Ignored, Image, Partly};
use crate::options::Takes::{self, Number, Text, Word};
use crate::options::{MOST_NOTES, OptionRow, Table, row};
use crate::percent;
use crate::refusal::shorten;

const SIDE: Takes = Text(
    |text| side(text).is_some(),
    "px, or per cent of the image such as 15%",
);
const BOX: Takes = Text(|text| pair(text).is_some(), "width,height in px");
const CROP: Takes = Text(
    |text| ["1", "true", "0", "false"].contains(&text) || crop(text).is_some(),
    "x,y,w,h in per cent, or with `px` in px; or 1, for a crop to w and h",
);
const FLAG: Takes = Word(&["1", "true", "0", "false"]);
const FILTERS: &[&str] = &[
    "negate",
    "grayscale",
    "sepia",
    "blurgaussian",
    "edgedetect",
    "emboss",
    "blurselective",
    "meanremoval",
];
const UNDONE: &[&str] = &["edgedetect", "emboss", "blurselective", "meanremoval"];

/// The arguments of Photon.
#[rustfmt::skip]
pub(super) static OPTIONS: Table = Table(&[
    row(&["w"], Image, SIDE, "largest width; nothing is enlarged"),
    row(&["h"], Image, SIDE, "largest height; nothing is enlarged"),
    row(&["crop"], Image, CROP, "keeps a part of the image"),
    row(&["resize"], Image, BOX, "fills a box, and cuts off what hangs over"),
    row(&["fit"], Image, BOX, "fits the image into a box; nothing is enlarged"),
    row(&["lb", "letterbox"], Image, BOX, "fits the image into a box, and fills the rest with black"),
    row(&["ulb", "unletterbox"], Image, FLAG, "cuts off a border of one colour, before anything else"),
    row(&["filter"], Partly(UNDONE), Word(FILTERS), "filter on colours"),
    row(&["brightness"], Image, Number(-255.0, 255.0), "is added to all levels"),
    row(&["contrast"], Image, Number(-100.0, 100.0), "contrast; 0 changes nothing"),
    row(&["colorize"], Ignored("levels of one channel are not changed"), Takes::any("red,green,blue"), "adds to the levels of each channel"),
    row(&["smooth"], Ignored("there is no such filter"), Takes::any("a number"), "smooths the image"),
    row(&["zoom"], Image, Number(0.1, 10.0), "factor for the lengths of w, h, resize, fit and lb"),
    row(&["quality"], Image, Number(1.0, 100.0), "quality; 89 in JPEG and 80 elsewhere by default"),
    row(&["strip"], Image, Word(&["all", "info", "color"]), "leaves out metadata; colours are always converted to sRGB where browsers need it"),
    row(&["allow_lossy"], Ignored("the format decides whether anything is lost"), FLAG, "lets PNG become lossy"),
    row(&["ssl"], Answer, FLAG, "fetches the source with https"),
]);

/// A length along a side of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Px(f64),
    Percent(f64),
}

/// Parses a length in px or, with `%`, in percent.
pub(super) fn side(text: &str) -> Option<Side> {
    let positive = |text: &str| {
        let number = text.parse::<f64>().ok()?;
        (number > 0.0 && number <= 1e6).then_some(number)
    };
    match text.strip_suffix('%') {
        Some(share) => positive(share).map(Side::Percent),
        None => positive(text.strip_suffix("px").unwrap_or(text)).map(Side::Px),
    }
}

/// Parses width and height in px.
pub(super) fn pair(text: &str) -> Option<(f64, f64)> {
    let (w, h) = text.split_once(',')?;
    let px = |text: &str| {
        let number = text.trim().parse::<u32>().ok()?;
        (number > 0).then_some(f64::from(number))
    };
    px(w).zip(px(h))
}

/// Parses left edge, top edge, width and height, in percent unless they end in `px`.
pub(super) fn crop(text: &str) -> Option<[Side; 4]> {
    let sides = text.split(',').map(|text| {
        let number = |text: &str| {
            let number = text.parse::<f64>().ok()?;
            (0.0..=1e6).contains(&number).then_some(number)
        };
        match text.trim().strip_suffix("px") {
            Some(px) => number(px).map(Side::Px),
            None => number(text.trim().trim_end_matches('%')).map(Side::Percent),
        }
    });
    sides.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// The arguments of a URL in their order. Each occurs once.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    entries: Vec<(&'static OptionRow, String)>,
    /// Names that are not in the table, for notes.
    pub(super) unknown: Vec<String>,
}

impl Arguments {
    /// Parses a query. Text with malformed escapes is not decoded.
    pub(super) fn read(query: &str) -> Self {
        let mut arguments = Self::default();
        for piece in query.split('&').filter(|piece| !piece.is_empty()) {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            let decode = |raw: &str| percent::decode(raw).unwrap_or_else(|_| raw.to_owned());
            let (name, value) = (decode(name), decode(value));
            match OPTIONS.named(&name) {
                Some(row) => {
                    arguments
                        .entries
                        .retain(|(entry, _)| entry.name() != row.name());
                    arguments.entries.push((row, value));
                }
                None if arguments.unknown.len() < MOST_NOTES => {
                    arguments.unknown.push(shorten(&name));
                }
                None => {}
            }
        }
        arguments
    }

    /// Whether any argument about the image has a valid value.
    pub(super) fn change_the_image(&self) -> bool {
        !self.canonical().is_empty()
    }

    /// Returns all arguments in their order, with their rows.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static OptionRow, &str)> {
        self.entries.iter().map(|(row, value)| (*row, &**value))
    }

    /// Returns an argument's value, if it is valid.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let mut all = self.all();
        all.find(|(row, value)| row.name() == name && row.takes.accepts(value))
            .map(|(_, value)| value)
    }

    /// Returns an argument's value as a number, if it is valid.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok()
    }

    /// Returns the valid arguments about the image as a query, in their order.
    pub(super) fn canonical(&self) -> String {
        let about = self.all().filter(|(row, value)| {
            matches!(row.about, Image | Partly(_)) && row.takes.accepts(value)
        });
        let pairs = about.map(|(row, value)| {
            format!(
                "{}={}",
                row.name(),
                percent::encode(value, ",").replace(';', "%3B")
            )
        });
        pairs.collect::<Vec<_>>().join("&")
    }
}
