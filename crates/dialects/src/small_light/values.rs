//! Typed values, parsed as by ngx_small_light's C functions, which read a number from the longest valid beginning of a
//! text.

use andon_recipe::{Colour, Length};

use super::Compat;
use crate::colours::{channels_by, rgba};

/// A coordinate or length in the value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Coord {
    /// The option has no value.
    Unset,
    /// A value within the range of lengths of a recipe.
    Given(Length),
    /// The largest length of a recipe, in place of a larger value.
    Clamped(Length),
    /// A value that is neither pixels nor percent, for which ngx_small_light reads uninitialized memory.
    Undefined,
}

impl Coord {
    /// Parses digits and dots. At the end of the text they are pixels. If a `p` follows, whatever is after it, they are
    /// percent: `300px` is 300 %.
    pub(super) fn read(text: &str) -> Self {
        if text.is_empty() {
            return Self::Unset;
        }
        let digits = text
            .find(|char: char| !char.is_ascii_digit() && char != '.')
            .unwrap_or(text.len());
        let number = float(&text[..digits]);
        let (length, most) = match text[digits..].chars().next() {
            None => (Length::px(number), Length::Px(Length::MAX_PX)),
            Some('p') => (
                Length::percent(number),
                Length::Percent(Length::MAX_PERCENT),
            ),
            Some(_) => return Self::Undefined,
        };
        length.map_or(Self::Clamped(most), Self::Given)
    }
}

/// Parses a decimal number like C's `atof`: blanks, sign, digits, exponent; 0 if there is no number. Hexadecimal
/// numbers and `inf`, which `atof` also takes, are not parsed.
pub(super) fn float(text: &str) -> f64 {
    prefix(text).0
}

/// Parses the number that a text begins with, and returns it with the rest of the text.
pub(super) fn prefix(text: &str) -> (f64, &str) {
    let number = text.trim_start_matches(|char: char| char.is_ascii_whitespace());
    let bytes = number.as_bytes();
    let digits = |from: usize| {
        let run = bytes.iter().skip(from).take_while(|b| b.is_ascii_digit());
        from + run.count()
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(sign);
    let mut end = whole;
    let mut count = whole - sign;
    if bytes.get(whole) == Some(&b'.') {
        end = digits(whole + 1);
        count += end - whole - 1;
    }
    if count == 0 {
        return (0.0, text);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    // All characters before `end` are ASCII, so that `end` is a character boundary.
    (number[..end].parse().unwrap_or_default(), &number[end..])
}

/// Parses a whole number like C's `atoi`, but saturates where `atoi` is undefined.
pub(super) fn int(text: &str) -> i32 {
    let number = text.trim_start_matches(|char: char| char.is_ascii_whitespace());
    let (negative, digits) = match number.as_bytes() {
        [b'-', ..] => (true, &number[1..]),
        [b'+', ..] => (false, &number[1..]),
        _ => (false, number),
    };
    let magnitude = digits
        .bytes()
        .map_while(|byte| char::from(byte).to_digit(10))
        .fold(0i32, |sum, digit| {
            sum.saturating_mul(10).saturating_add(digit as i32)
        });
    if negative { -magnitude } else { magnitude }
}

/// Parses a colour of 3, 4, 6 or 8 hex digits, or a CSS name; `None` for texts that ngx_small_light misreads. In strict
/// mode these include names, and in short forms each digit is a channel's whole value: `fff` is nearly black.
pub(super) fn colour(text: &str, compat: Compat) -> Option<Colour> {
    let digits = |short| rgba(&channels_by(short, text)?);
    match compat {
        Compat::Sane => digits(17).or_else(|| Colour::named(text)),
        Compat::Strict => digits(1),
    }
}

/// The strength of an effect, `RADIUSxSIGMA+AMOUNT+THRESHOLD`; missing numbers are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Geometry {
    /// Radius in px; 0: derived from sigma.
    pub(super) radius: f64,
    /// Standard deviation in px.
    pub(super) sigma: f64,
    /// Factor by which the difference to the blurred image is added.
    pub(super) amount: f64,
    /// Fraction of the full range below which differences are left unchanged.
    pub(super) threshold: f64,
}

impl Geometry {
    pub(super) fn read(text: &str) -> Self {
        let (radius, rest) = prefix(text);
        let (sigma, rest) = match rest.strip_prefix(['x', 'X']) {
            Some(rest) => prefix(rest),
            None => (0.0, rest),
        };
        let has_sign = |rest: &str| rest.starts_with(['+', '-']);
        let (amount, rest) = if has_sign(rest) {
            prefix(rest)
        } else {
            (0.0, "")
        };
        let (threshold, _) = if has_sign(rest) {
            prefix(rest)
        } else {
            (0.0, "")
        };
        Self {
            radius: radius.max(0.0),
            sigma: sigma.max(0.0),
            amount,
            threshold: threshold.max(0.0),
        }
    }

    /// Rounds to thousandths, a difference that is invisible, so that strengths that look alike become equal.
    pub(super) fn rounded(self) -> Self {
        let round = |value: f64| (value * 1e3).round() / 1e3;
        Self {
            radius: round(self.radius),
            sigma: round(self.sigma),
            amount: round(self.amount),
            threshold: round(self.threshold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, Compat, Coord, Geometry, Length, colour, float, int};

    #[test]
    fn coordinates_are_pixels_or_percent() {
        let px = |px| Coord::Given(Length::Px(px));
        let percent = |percent| Coord::Given(Length::Percent(percent));
        for (text, coord) in [
            ("", Coord::Unset),
            ("100", px(100.0)),
            ("12.5", px(12.5)),
            (".5", px(0.5)),
            ("1.2.3", px(1.2)),
            ("50p", percent(50.0)),
            ("300px", percent(300.0)),
            ("p", percent(0.0)),
            ("-5", Coord::Undefined),
            ("1e3", Coord::Undefined),
            ("abc", Coord::Undefined),
            ("50%", Coord::Undefined),
            (" 5", Coord::Undefined),
            ("é", Coord::Undefined),
            ("2000000", Coord::Clamped(Length::Px(Length::MAX_PX))),
        ] {
            assert_eq!(Coord::read(text), coord, "{text}");
        }
        let endless = "9".repeat(60_000);
        assert!(matches!(Coord::read(&endless), Coord::Clamped(_)));
    }

    #[test]
    fn a_number_is_as_much_of_one_as_the_text_begins_with() {
        for (text, number) in [
            ("300p", 300.0),
            ("-1.5x", -1.5),
            ("+7", 7.0),
            ("1e2z", 100.0),
            ("1e", 1.0),
            ("1e+", 1.0),
            (".", 0.0),
            ("5.", 5.0),
            ("inf", 0.0),
            ("x9", 0.0),
            (" 4", 4.0),
        ] {
            assert_eq!(float(text), number, "{text}");
        }
        assert_eq!(int("-12.9"), -12);
        assert_eq!(int("+90deg"), 90);
        assert_eq!(int("99999999999"), i32::MAX);
        assert_eq!(int("x"), 0);
    }

    #[test]
    fn short_colours_are_shorthand_unless_strict() {
        let rgba = |r, g, b, a| Some(Colour { r, g, b, a });
        assert_eq!(colour("f80", Compat::Sane), rgba(255, 136, 0, 255));
        assert_eq!(colour("f80", Compat::Strict), rgba(15, 8, 0, 255));
        assert_eq!(colour("f808", Compat::Sane), rgba(255, 136, 0, 136));
        assert_eq!(colour("f808", Compat::Strict), rgba(15, 8, 0, 8));
        assert_eq!(colour("FF8800", Compat::Strict), rgba(255, 136, 0, 255));
        assert_eq!(colour("ff880080", Compat::Sane), rgba(255, 136, 0, 128));
        assert_eq!(colour("red", Compat::Sane), rgba(255, 0, 0, 255));
        assert_eq!(colour("red", Compat::Strict), None);
        for garbage in ["", "ff", "fffff", "ggg", "fffffffff"] {
            assert_eq!(colour(garbage, Compat::Sane), None, "{garbage}");
        }
    }

    #[test]
    fn a_geometry_without_a_sigma_has_none() {
        let geometry = Geometry::read("5");
        assert_eq!((geometry.radius, geometry.sigma), (5.0, 0.0));
        assert_eq!(
            Geometry::read("1.5x2+0.7-0.1z"),
            Geometry {
                radius: 1.5,
                sigma: 2.0,
                amount: 0.7,
                threshold: 0.0
            }
        );
        assert_eq!(Geometry::read("0X1-2").amount, -2.0);
        assert_eq!(Geometry::read("x3").sigma, 3.0);
        assert_eq!(Geometry::read("junk"), Geometry::default());
    }
}
