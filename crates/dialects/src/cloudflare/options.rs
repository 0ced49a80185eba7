//! The options of a target: one path segment, read strictly. The last value of each key counts.

use std::collections::BTreeMap;

use andon_recipe::Colour;

use crate::colours;
use crate::percent;
use crate::refusal::Refusal;

/// Values of the options, by their full names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options(BTreeMap<&'static str, String>);

const ALIASES: &[(&str, &str)] = &[
    ("w", "width"),
    ("h", "height"),
    ("g", "gravity"),
    ("q", "quality"),
    ("f", "format"),
    ("scq", "slow-connection-quality"),
    ("zoom", "face-zoom"),
];

/// Every option, and the check that its values must pass.
const CHECKS: &[(&str, Check)] = &[
    ("width", Check::Side),
    ("height", Check::Side),
    ("dpr", Check::Number(0.01, 10.0)),
    (
        "fit",
        Check::Word(&[
            "scale-down",
            "contain",
            "cover",
            "crop",
            "aspect-crop",
            "pad",
            "squeeze",
        ]),
    ),
    ("gravity", Check::Gravity),
    ("face-zoom", Check::Number(0.0, 1.0)),
    ("trim", Check::Trim),
    ("trim.width", Check::Number(1.0, MOST)),
    ("trim.height", Check::Number(1.0, MOST)),
    ("trim.left", Check::Number(0.0, MOST)),
    ("trim.top", Check::Number(0.0, MOST)),
    ("rotate", Check::Word(&["0", "90", "180", "270", "360"])),
    ("flip", Check::Word(&["h", "v", "hv", "vh"])),
    ("background", Check::Colour),
    ("border.color", Check::Colour),
    ("border.width", Check::Number(0.0, MOST)),
    ("blur", Check::Number(1.0, 250.0)),
    ("sharpen", Check::Number(0.0, 10.0)),
    ("brightness", Check::Number(0.0, 100.0)),
    ("contrast", Check::Number(0.0, 100.0)),
    ("gamma", Check::Number(0.0, 100.0)),
    ("saturation", Check::Number(0.0, 100.0)),
    ("quality", Check::Quality),
    ("slow-connection-quality", Check::Quality),
    (
        "format",
        Check::Word(&[
            "auto",
            "avif",
            "webp",
            "png",
            "jpeg",
            "jpg",
            "baseline-jpeg",
            "json",
        ]),
    ),
    ("upscale", Check::Word(&["interpolate", "generate"])),
    ("compression", Check::Word(&["fast"])),
    ("metadata", Check::Word(&["copyright", "keep", "none"])),
    ("anim", Check::Word(&["true", "false"])),
    ("onerror", Check::Word(&["redirect"])),
    ("segment", Check::Word(&["foreground"])),
];

/// The names of all options.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, _)| *name)
}

/// The longest side that a URL can ask for, in px.
const MOST: f64 = 12_000.0;

#[derive(Clone, Copy, Debug)]
enum Check {
    Side,
    Number(f64, f64),
    Word(&'static [&'static str]),
    Gravity,
    Trim,
    Colour,
    Quality,
}

impl Check {
    /// Returns `None` for a valid value, or else a description of the valid ones.
    fn wants(self, value: &str) -> Option<String> {
        let number = |least: f64, most: f64| {
            let number = value.parse::<f64>().ok();
            number.is_some_and(|number| (least..=most).contains(&number))
        };
        let (sound, wanted) = match self {
            Self::Side => {
                let whole = value.bytes().all(|byte| byte.is_ascii_digit());
                let sound = value == "auto" || (whole && number(1.0, MOST));
                (sound, format!("auto or a whole number from 1 to {MOST}"))
            }
            Self::Number(least, most) => (
                number(least, most),
                format!("a number from {least} to {most}"),
            ),
            Self::Word(words) => (
                words.contains(&value),
                format!("one of {}", words.join(", ")),
            ),
            Self::Gravity => {
                let word =
                    ["auto", "face", "left", "right", "top", "bottom", "center"].contains(&value);
                let wanted = "auto, face, left, right, top, bottom or two numbers from 0 to 1 such as 0.5x0.2";
                (word || point(value).is_some(), wanted.to_owned())
            }
            Self::Trim => {
                let sound = value == "border" || sides(value).is_some();
                (sound, "border or top;right;bottom;left in px".to_owned())
            }
            Self::Colour => (colours::css(value).is_some(), "a CSS colour".to_owned()),
            Self::Quality => {
                let word = QUALITIES.iter().any(|(word, _)| *word == value);
                (
                    word || number(1.0, 100.0),
                    "high, medium-high, medium-low, low or a number from 1 to 100".to_owned(),
                )
            }
        };
        (!sound).then_some(wanted)
    }
}

/// Words for qualities, and the numbers used for them here. Cloudflare does not document its own numbers.
const QUALITIES: &[(&str, u8)] = &[
    ("high", 90),
    ("medium-high", 80),
    ("medium-low", 70),
    ("low", 50),
];

/// Reads a point written as `XxY`, with both coordinates from 0 to 1.
fn point(value: &str) -> Option<(f64, f64)> {
    let (x, y) = value.split_once('x')?;
    let share = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|share| (0.0..=1.0).contains(share))
    };
    share(x).zip(share(y))
}

fn sides(value: &str) -> Option<[u32; 4]> {
    let sides: Vec<u32> = value
        .split(';')
        .map(|side| side.parse().ok())
        .collect::<Option<_>>()?;
    sides.try_into().ok()
}

impl Options {
    /// Reads the raw segment. It is split before it is percent-decoded.
    pub(super) fn read(segment: &str) -> Result<Self, Refusal> {
        let mut options = Self::default();
        for piece in segment.split(',').filter(|piece| !piece.is_empty()) {
            let wrong = |why: String| Refusal::new(piece, why);
            let (key, value) = piece
                .split_once('=')
                .ok_or_else(|| wrong("an option is key=value".to_owned()))?;
            let value = percent::decode(value)?;
            let alias = ALIASES.iter().find(|(alias, _)| *alias == key);
            let key = alias.map_or(key, |(_, key)| key);
            let (key, check) = CHECKS
                .iter()
                .find(|(known, _)| *known == key)
                .ok_or_else(|| {
                    let known: Vec<&str> = CHECKS.iter().map(|(known, _)| *known).collect();
                    wrong(andon_recipe::unknown("option", key, &known))
                })?;
            if let Some(wanted) = check.wants(&value) {
                return Err(wrong(format!("{key} must be {wanted}")));
            }
            options.0.insert(key, value);
        }
        match options.0.is_empty() {
            true => Err(Refusal::new(
                segment,
                "at least one option must be there, such as width=250",
            )),
            false => Ok(options),
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.text(key)?.parse().ok()
    }

    pub(super) fn colour(&self, key: &str) -> Option<Colour> {
        colours::css(self.text(key)?)
    }

    pub(super) fn point(&self) -> Option<(f64, f64)> {
        point(self.text("gravity")?)
    }

    /// Returns how much `trim` cuts off, in px: top, right, bottom, left.
    pub(super) fn sides(&self) -> Option<[u32; 4]> {
        sides(self.text("trim")?)
    }

    pub(super) fn quality(&self) -> Option<u8> {
        let text = self.text("quality")?;
        let word = QUALITIES.iter().find(|(word, _)| *word == text);
        word.map(|(_, quality)| *quality)
            .or_else(|| Some(text.parse::<f64>().ok()? as u8))
    }

    /// Replaces `quality` with `slow-connection-quality`, if that is given and the connection is slow.
    pub(super) fn settle(&mut self, is_slow: impl FnOnce() -> bool) {
        let slow = "slow-connection-quality";
        if self.0.contains_key(slow)
            && is_slow()
            && let Some(quality) = self.0.remove(slow)
        {
            self.0.insert("quality", quality);
        }
    }

    /// Returns the options as `key=value` pairs separated by commas, sorted and percent-encoded.
    pub(super) fn canonical(&self) -> String {
        let encoded = |value: &str| percent::encode(value, "").replace(',', "%2C");
        let pairs = self
            .0
            .iter()
            .map(|(key, value)| format!("{key}={}", encoded(value)));
        pairs.collect::<Vec<_>>().join(",")
    }
}
