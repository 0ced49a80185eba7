//! The parameters of a query, decoded. Of each key the first value counts.

use std::collections::BTreeMap;

use andon_recipe::Colour;

use crate::colours;
use crate::percent;
use crate::refusal::Refusal;
use crate::signature::base64;

/// Values of the known parameters, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query(BTreeMap<&'static str, String>);

/// The parameters that this dialect reads.
const KEYS: &[&str] = &[
    "ar",
    "auto",
    "bg",
    "blend",
    "blend-align",
    "blend-alpha",
    "blend-fit",
    "blend-h",
    "blend-mode",
    "blend-pad",
    "blend-w",
    "blend-x",
    "blend-y",
    "blur",
    "border",
    "border-radius",
    "bri",
    "chromasub",
    "colors",
    "con",
    "corner-radius",
    "crop",
    "cs",
    "dl",
    "dpr",
    "duotone",
    "duotone-alpha",
    "exp",
    "expires",
    "fill",
    "fill-color",
    "fit",
    "flip",
    "fm",
    "fp-x",
    "fp-y",
    "fp-z",
    "frame",
    "gam",
    "h",
    "hue",
    "invert",
    "jpg-progressive",
    "lossless",
    "mark",
    "mark-align",
    "mark-alpha",
    "mark-fit",
    "mark-h",
    "mark-pad",
    "mark-scale",
    "mark-tile",
    "mark-w",
    "mark-x",
    "mark-y",
    "mask",
    "mask-bg",
    "max-h",
    "max-w",
    "min-h",
    "min-w",
    "monochrome",
    "orient",
    "pad",
    "pad-bottom",
    "pad-left",
    "pad-right",
    "pad-top",
    "page",
    "palette",
    "prefix",
    "px",
    "q",
    "rect",
    "rot",
    "sat",
    "sepia",
    "sharp",
    "trim",
    "trim-color",
    "trim-tol",
    "txt",
    "txt-align",
    "txt-color",
    "txt-pad",
    "txt-size",
    "usm",
    "usmrad",
    "vib",
    "w",
];

/// Parameters that the service knows, but that are not supported here.
const NOT_DONE: &[&str] = &[
    "bg-remove",
    "blend-color",
    "blend-crop",
    "blend-size",
    "border-bottom",
    "border-left",
    "border-radius-inner",
    "border-right",
    "border-top",
    "ch",
    "colorquant",
    "dpi",
    "faceindex",
    "facepad",
    "faces",
    "fp-debug",
    "grid-colors",
    "grid-size",
    "high",
    "htn",
    "iptc",
    "mark-base",
    "mark-rot",
    "nr",
    "nrs",
    "pdf-annotation",
    "shad",
    "transparency",
    "trim-md",
    "trim-pad",
    "trim-sd",
    "txt-clip",
    "txt-fit",
    "txt-font",
    "txt-lead",
    "txt-lig",
    "txt-line",
    "txt-line-color",
    "txt-shad",
    "txt-track",
    "txt-width",
    "upscale",
];

/// Returns the names of all parameters.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().chain(NOT_DONE).copied()
}

/// Other names of parameters. Those of one letter are left out except for `f`, because pages append such things as
/// `?t=1` to the names of files.
const ALIASES: &[(&str, &str)] = &[
    ("blendalign", "blend-align"),
    ("ba", "blend-align"),
    ("blendalpha", "blend-alpha"),
    ("balph", "blend-alpha"),
    ("blendcolor", "blend-color"),
    ("blend-clr", "blend-color"),
    ("blendclr", "blend-color"),
    ("blendcrop", "blend-crop"),
    ("bc", "blend-crop"),
    ("blendfit", "blend-fit"),
    ("bf", "blend-fit"),
    ("blendh", "blend-h"),
    ("bh", "blend-h"),
    ("blendmode", "blend-mode"),
    ("bm", "blend-mode"),
    ("blendpad", "blend-pad"),
    ("bp", "blend-pad"),
    ("blendsize", "blend-size"),
    ("bs", "blend-size"),
    ("blendw", "blend-w"),
    ("bw", "blend-w"),
    ("blendx", "blend-x"),
    ("bx", "blend-x"),
    ("blendy", "blend-y"),
    ("by", "blend-y"),
    ("fillcolor", "fill-color"),
    ("f", "fit"),
    ("height", "h"),
    ("inv", "invert"),
    ("ma", "mark-align"),
    ("markalign", "mark-align"),
    ("markalpha", "mark-alpha"),
    ("malph", "mark-alpha"),
    ("mb", "mark-base"),
    ("markbase", "mark-base"),
    ("mf", "mark-fit"),
    ("markfit", "mark-fit"),
    ("mh", "mark-h"),
    ("markh", "mark-h"),
    ("mp", "mark-pad"),
    ("markpad", "mark-pad"),
    ("ms", "mark-scale"),
    ("markscale", "mark-scale"),
    ("mtile", "mark-tile"),
    ("marktile", "mark-tile"),
    ("mw", "mark-w"),
    ("markw", "mark-w"),
    ("mx", "mark-x"),
    ("markx", "mark-x"),
    ("my", "mark-y"),
    ("marky", "mark-y"),
    ("maskbg", "mask-bg"),
    ("max-height", "max-h"),
    ("max-width", "max-w"),
    ("min-height", "min-h"),
    ("min-width", "min-w"),
    ("mono", "monochrome"),
    ("or", "orient"),
    ("annotation", "pdf-annotation"),
    ("trimcolor", "trim-color"),
    ("trimmd", "trim-md"),
    ("trimpad", "trim-pad"),
    ("trimsd", "trim-sd"),
    ("trimtol", "trim-tol"),
    ("txtalign", "txt-align"),
    ("ta", "txt-align"),
    ("txtclip", "txt-clip"),
    ("tcl", "txt-clip"),
    ("txtcolor", "txt-color"),
    ("txt-clr", "txt-color"),
    ("txtclr", "txt-color"),
    ("tc", "txt-color"),
    ("txtfit", "txt-fit"),
    ("tf", "txt-font"),
    ("txtfont", "txt-font"),
    ("txtlead", "txt-lead"),
    ("txtlig", "txt-lig"),
    ("txtlinecolor", "txt-line-color"),
    ("txt-line-clr", "txt-line-color"),
    ("txtlineclr", "txt-line-color"),
    ("txtline", "txt-line"),
    ("tl", "txt-line"),
    ("txtpad", "txt-pad"),
    ("tp", "txt-pad"),
    ("txtshad", "txt-shad"),
    ("tsh", "txt-shad"),
    ("tsz", "txt-size"),
    ("txtsize", "txt-size"),
    ("txttrack", "txt-track"),
    ("tt", "txt-track"),
    ("txtwidth", "txt-width"),
    ("width", "w"),
];

impl Query {
    /// Reads a query, and notes the parameters that are unknown or not supported. Returns `None` if the query has no
    /// parameter of this dialect.
    pub(super) fn read(query: &str, notes: &mut Vec<String>) -> Result<Option<Self>, Refusal> {
        let mut read = Self::default();
        let mut unknown = Vec::new();
        let mut is_own = false;
        for piece in query.split('&').filter(|piece| !piece.is_empty()) {
            let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
            let decoded = percent::decode(&value.replace('+', " "))?;
            let (key, value) = match key
                .strip_suffix("64")
                .and_then(|key| Some((key, base64::read(&decoded)?)))
            {
                Some((key, bytes)) => (key, String::from_utf8_lossy(&bytes).into_owned()),
                None => (key, decoded),
            };
            let alias = ALIASES.iter().find(|(alias, _)| *alias == key);
            let key = alias.map_or(key, |(_, key)| key);
            match KEYS.iter().find(|known| **known == key) {
                Some(key) => {
                    is_own = true;
                    read.0.entry(key).or_insert(value);
                }
                None if key == "s" || key == "ixlib" || key == "ixid" => is_own = true,
                None => {
                    let is_known = NOT_DONE.contains(&key);
                    is_own |= is_known;
                    let why = if is_known {
                        "it is not supported"
                    } else {
                        "there is no such parameter"
                    };
                    unknown.push(format!(
                        "{}: {why}; it is ignored",
                        crate::refusal::shorten(key)
                    ));
                }
            }
        }
        unknown.truncate(MOST_NOTES);
        notes.extend(unknown);
        Ok(is_own.then_some(read))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Whether the value of `key`, a list of words separated by commas, contains `word`.
    pub(super) fn lists(&self, key: &str, word: &str) -> bool {
        self.text(key)
            .is_some_and(|list| list.split(',').any(|item| item == word))
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.text(key)? {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }

    /// Returns a number that is within the range. Others are ignored.
    pub(super) fn number(&self, key: &str, least: f64, most: f64) -> Option<f64> {
        let number = self.text(key)?.parse::<f64>().ok()?;
        (least..=most).contains(&number).then_some(number)
    }

    /// Reads a colour written as RGB, ARGB, RRGGBB, AARRGGBB or a CSS name.
    pub(super) fn colour(&self, key: &str) -> Option<Colour> {
        colour(self.text(key)?)
    }

    /// Returns the query as `key=value` pairs separated by `&`, sorted and percent-encoded.
    pub(super) fn canonical(&self) -> String {
        let encoded = |value: &str| {
            let encoded = percent::encode(value, "/");
            encoded
                .replace('&', "%26")
                .replace('+', "%2B")
                .replace(';', "%3B")
        };
        let pairs = self
            .0
            .iter()
            .map(|(key, value)| format!("{key}={}", encoded(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

const MOST_NOTES: usize = 8;

pub(super) fn colour(text: &str) -> Option<Colour> {
    let channels = colours::channels(text.strip_prefix('#').unwrap_or(text));
    let hex = channels.and_then(|channels| match channels[..] {
        [a, r, g, b] => Some(Colour { r, g, b, a }),
        ref opaque => colours::rgba(opaque),
    });
    hex.or_else(|| colours::named(text))
}
