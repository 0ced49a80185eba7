//! Parses the query as weserv does: split by hand, not decoded, with the first value of each key.

use andon_recipe::Colour;

use super::options::OPTIONS;
use crate::colours;
use crate::options::{About, OptionRow, Values};

/// The values of the query's keys that affect the image, as received.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Values);

/// A length: pixels, or a share of a side from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Coordinate {
    Px(i32),
    Share(f32),
}

/// The value that a key without `=` has. It has the same effect as a value that is not a number.
const NONE: &str = "-1";

/// Maximum absolute value of a number. A text with a larger one counts as not a number.
const MOST: f64 = 1e7;

impl Query {
    /// Parses a query, and calls `ignored` with every unknown key.
    pub(super) fn read(query: &str, mut ignored: impl FnMut(&str)) -> Self {
        let mut values = Self::default();
        for piece in query.split('&') {
            let (key, value) = piece.split_once('=').unwrap_or((piece, NONE));
            match OPTIONS.named(key) {
                Some(row) if row.about == About::Answer => {}
                Some(row) => values.add(row, value),
                None if key.is_empty() => {}
                None => ignored(key),
            }
        }
        values
    }

    /// Stores the value of a key. The items of a deprecated list (`sharp`, `mod`, `crop`) are stored under the keys
    /// that replace the list.
    fn add(&mut self, row: &'static OptionRow, value: &str) {
        let tokens: Vec<&str> = value.split(',').filter(|token| !token.is_empty()).collect();
        let keys = match row.name() {
            "sharp" if tokens.len() > 1 => &["sharpf", "sharpj", "sharp"][..],
            "mod" => &["mod", "sat", "hue"],
            "crop" if tokens.len() > 3 => &["cw", "ch", "cx", "cy"],
            "crop" => &[],
            name => {
                self.add_older(name, value);
                self.0.add(row, value.to_owned());
                return;
            }
        };
        for (key, token) in keys.iter().zip(tokens) {
            self.put(key, token);
        }
    }

    /// Stores the values of other keys that a deprecated value of `fit` or `a` implies.
    fn add_older(&mut self, key: &str, value: &str) {
        if key == "fit" && ["fit", "squaredown"].contains(&value) {
            self.put("we", "true");
        }
        if key == "a" && (value.starts_with("focal-") || value.starts_with("crop-")) {
            let percents = value.split('-').skip(1).filter(|token| !token.is_empty());
            for (key, percent) in ["fpx", "fpy"].into_iter().zip(percents.map(int)) {
                let valid = (0..=100).contains(&percent);
                self.put(
                    key,
                    if valid {
                        f64::from(percent) / 100.0
                    } else {
                        0.5
                    },
                );
            }
        }
    }

    /// Stores a value, unless the key has one already.
    fn put(&mut self, key: &str, value: impl ToString) {
        if let Some(row) = OPTIONS.named(key) {
            self.0.add(row, value.to_string());
        }
    }

    pub(super) fn values(&self) -> &Values {
        &self.0
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.text(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.has(key)
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        let text = self.text(key);
        text.is_some_and(|text| text != "false" && text != "0")
    }

    pub(super) fn int(&self, key: &str) -> Option<i32> {
        self.text(key).map(int)
    }

    /// Parses a comma-separated list of whole numbers.
    pub(super) fn ints(&self, key: &str) -> Vec<i32> {
        let list = self.text(key).unwrap_or_default().split(',');
        list.filter(|item| !item.is_empty()).map(int).collect()
    }

    /// Returns a number, if it is in the range of the key's row.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        let (takes, text) = self.0.get(key)?;
        Some(leading(text).unwrap_or(-1.0)).filter(|number| takes.has(*number))
    }

    /// Returns a whole number, if it is in the range of the key's row.
    pub(super) fn whole(&self, key: &str) -> Option<i32> {
        let (takes, text) = self.0.get(key)?;
        Some(int(text)).filter(|number| takes.has(f64::from(*number)))
    }

    /// Returns a length in px along a side; -1 for a value that is not a number.
    pub(super) fn px(&self, key: &str, side: u32) -> Option<i32> {
        let coordinate = coordinate(self.text(key)?);
        Some(match coordinate {
            Coordinate::Px(px) => px,
            // The service computes in single precision.
            Coordinate::Share(share) => (share * side as f32).round() as i32,
        })
    }

    pub(super) fn colour(&self, key: &str) -> Option<Colour> {
        self.text(key).map(colour)
    }
}

pub(super) fn coordinate(text: &str) -> Coordinate {
    let percent = text.strip_suffix('%').or_else(|| text.strip_suffix("%25"));
    match percent {
        Some(percent) => match leading(percent) {
            Some(percent) if (0.0..=100.0).contains(&percent) => {
                Coordinate::Share(percent as f32 / 100.0)
            }
            _ => Coordinate::Px(-1),
        },
        None => Coordinate::Px(int(text)),
    }
}

/// Parses the whole number that a text begins with; -1 if there is none.
fn int(text: &str) -> i32 {
    let digits = text.find(['.', 'e', 'E']).map_or(text, |end| &text[..end]);
    leading(digits).map_or(-1, |number| number as i32)
}

/// Parses the number at the beginning of a text: a sign, digits and a point.
fn leading(text: &str) -> Option<f64> {
    let text = text.trim_start_matches(|letter: char| letter.is_ascii_whitespace());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &unsigned[whole..];
    let fraction = match rest.strip_prefix('.') {
        Some(rest) => 1 + rest.bytes().take_while(u8::is_ascii_digit).count(),
        None => 0,
    };
    let sign = text.len() - unsigned.len();
    let number: f64 = text[..sign + whole + fraction].parse().ok()?;
    (number.abs() <= MOST).then_some(number)
}

/// Parses a colour: a name, or the hex digits RGB, ARGB, RRGGBB or AARRGGBB. Any other text is transparent.
pub(super) fn colour(text: &str) -> Colour {
    let text = text.strip_prefix("%23").unwrap_or(text);
    let digits = match text.len() {
        // The service pads seven digits with a leading `f`.
        7 => format!("f{text}"),
        _ => text.to_owned(),
    };
    let named_colour = Colour::named(text);
    named_colour
        .or_else(|| colours::argb(&digits))
        .unwrap_or(Colour::CLEAR)
}
