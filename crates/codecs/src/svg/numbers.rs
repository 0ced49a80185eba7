//! Numbers with which a renderer cannot compute: they overflow 32-bit integers, become infinities that cause a panic,
//! or make curves that cannot be divided into fine enough pieces.

use andon_pixels::Result;
use svgtypes::{Length, LengthUnit, ViewBox};

use super::document::unsupported;

/// Maximum coordinate, radius or filter parameter.
const LARGEST: f64 = 1e9;

/// Maximum stroke width in px. The sides of curves with a wider stroke would be divided into too many pieces.
const WIDEST: f64 = 5e5;

/// Maximum font size in px.
const HIGHEST: f32 = 1e6;

/// Font size in px that is assumed for widths and heights in units of the font size.
const USUAL: f32 = 1000.0;

/// Attributes of elements and filters that contain numbers, sorted by name.
const NUMBERS: &[&str] = &[
    "amplitude",
    "azimuth",
    "baseFrequency",
    "baseline-shift",
    "bias",
    "cx",
    "cy",
    "d",
    "diffuseConstant",
    "divisor",
    "dx",
    "dy",
    "elevation",
    "exponent",
    "fr",
    "fx",
    "fy",
    "gradientTransform",
    "height",
    "intercept",
    "k1",
    "k2",
    "k3",
    "k4",
    "kernelMatrix",
    "kerning",
    "letter-spacing",
    "limitingConeAngle",
    "markerHeight",
    "markerWidth",
    "numOctaves",
    "offset",
    "order",
    "patternTransform",
    "points",
    "pointsAtX",
    "pointsAtY",
    "pointsAtZ",
    "r",
    "radius",
    "refX",
    "refY",
    "rotate",
    "rx",
    "ry",
    "scale",
    "seed",
    "slope",
    "specularConstant",
    "specularExponent",
    "startOffset",
    "stdDeviation",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-miterlimit",
    "stroke-width",
    "surfaceScale",
    "tableValues",
    "targetX",
    "targetY",
    "textLength",
    "transform",
    "values",
    "viewBox",
    "width",
    "word-spacing",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
    "z",
];

/// Checks the numbers of an attribute or declaration.
///
/// # Errors
/// `Unsupported` if one is larger than `LARGEST`.
pub(super) fn check(name: &str, value: &str) -> Result<()> {
    if NUMBERS.binary_search(&name).is_err() || value.len() < 4 {
        return Ok(());
    }
    match largest(value) {
        number if number <= LARGEST => Ok(()),
        number => Err(unsupported(format!(
            "{name} with the number {number:e}; 1e9 is the limit"
        ))),
    }
}

/// Returns the largest of those numbers in a text that have an exponent or more than nine digits before the point.
/// Returns 0 if there are none.
fn largest(text: &str) -> f64 {
    let bytes = text.as_bytes();
    let (mut largest, mut at) = (0.0_f64, 0);
    while at < bytes.len() {
        let start = at;
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        at = digits(at);
        let whole = at - start;
        let mut long = whole > 9;
        if bytes.get(at) == Some(&b'.') {
            let end = digits(at + 1);
            if whole > 0 || end > at + 1 {
                at = end;
            }
        }
        if at > start && matches!(bytes.get(at), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let end = digits(at + 1 + signed);
            if end > at + 1 + signed {
                at = end;
                long = true;
            }
        }
        if long {
            let number = text[start..at].parse().unwrap_or(f64::INFINITY);
            largest = largest.max(number);
        }
        at = at.max(start + 1);
    }
    largest
}

/// Returns an element's font size in px, given that of its parent. Relative units multiply with every level of nesting.
///
/// # Errors
/// `Unsupported` if it is larger than [`HIGHEST`].
pub(super) fn font_size(value: &str, parent: f32) -> Result<f32> {
    let size = match value.parse::<Length>() {
        Ok(length) => pixels(length, parent) as f32,
        Err(_) => {
            let steps = match value {
                "xx-small" => -3,
                "x-small" => -2,
                "small" | "smaller" => -1,
                "large" | "larger" => 1,
                "x-large" => 2,
                "xx-large" => 3,
                _ => 0,
            };
            parent * 1.2_f32.powi(steps)
        }
    };
    match size <= HIGHEST {
        true => Ok(size),
        false => Err(unsupported(format!(
            "letters of {size:e} px; 1e6 are the limit"
        ))),
    }
}

/// Returns a stroke width or radius in px, or 0 if `value` is not a length. `font` is the font size in px, and `side`
/// an upper bound, in px, on the length that percentages refer to.
///
/// # Errors
/// `Unsupported` if it is too large.
pub(super) fn check_length(name: &str, value: &str, font: f32, side: f64) -> Result<f64> {
    let Ok(length) = value.parse::<Length>() else {
        return Ok(0.0);
    };
    let pixels = match length.unit {
        LengthUnit::Percent => side * length.number / 100.0,
        _ => pixels(length, font),
    };
    let most = if name == "stroke-width" {
        WIDEST
    } else {
        LARGEST
    };
    match pixels <= most {
        true => Ok(pixels),
        false => Err(unsupported(format!(
            "{name} of {pixels:e} px; {most:e} are the limit"
        ))),
    }
}

/// Names of the attributes and style properties whose values [`check_length`] checks.
pub(super) const LENGTHS: [&str; 4] = ["r", "rx", "ry", "stroke-width"];

/// An upper bound on the lengths that percentages refer to, in px: the sides of view boxes and of elements inside them.
#[derive(Clone, Copy)]
pub(super) struct Side {
    largest: f64,
    /// Upper bound on the factor by which percentages enlarge the sides of nested elements relative to the outermost
    /// one: the product of all percentages above 100 % in `width` and `height`.
    grown: f64,
    /// Upper bound on the ratio of a pattern's tile to the shape that the pattern fills. It is the maximum over all
    /// patterns, not their product, because the content of a tile is not enlarged with the tile.
    tile: f64,
}

/// Upper bound of `Side::grown`. The renderer computes with 32-bit floats, whose maximum is 3.4e38.
const GROWN: f64 = 1e30;

impl Side {
    pub(super) const LEAST: Self = Self {
        largest: 300.0,
        grown: 1.0,
        tile: 1.0,
    };

    /// Updates the bounds for an attribute of an element named `element`.
    pub(super) fn widen(&mut self, element: &str, name: &str, value: &str) {
        match name {
            "viewBox" => {
                let view = value.parse::<ViewBox>();
                let side = view.map_or(0.0, |view| view.w.max(view.h));
                self.largest = self.largest.max(side);
            }
            "width" | "height" => match value.parse::<Length>() {
                Ok(length) if length.unit == LengthUnit::Percent => {
                    let more = (length.number / 100.0).max(1.0);
                    match element {
                        // Percentages inside these elements are based on their own sides.
                        "svg" | "symbol" | "use" => self.grown = (self.grown * more).min(GROWN),
                        "pattern" => self.tile = self.tile.max(more),
                        _ => {}
                    }
                }
                Ok(length) => self.largest = self.largest.max(pixels(length, USUAL)),
                Err(_) => {}
            },
            _ => {}
        }
    }

    pub(super) fn length(self) -> f64 {
        self.largest * self.grown * self.tile * 1.5
    }
}

/// Converts a length to px, at 96 px per inch. Percentages refer to the font size.
pub(super) fn pixels(length: Length, font: f32) -> f64 {
    let font = f64::from(font);
    length.number
        * match length.unit {
            LengthUnit::None | LengthUnit::Px => 1.0,
            LengthUnit::Em => font,
            LengthUnit::Ex => font / 2.0,
            LengthUnit::In => 96.0,
            LengthUnit::Cm => 96.0 / 2.54,
            LengthUnit::Mm => 96.0 / 25.4,
            LengthUnit::Pt => 96.0 / 72.0,
            LengthUnit::Pc => 16.0,
            LengthUnit::Percent => font / 100.0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_numbers_are_found() {
        for (text, number) in [
            ("M1 2e3.5-4", 2000.0),
            ("12345678901 3", 12_345_678_901.0),
            ("0.12345678901234", 0.0),
            ("1e300em", 1e300),
            ("a-2.5E+20,e3", 2.5e20),
            ("..1e5.", 1e4),
            ("1e999", f64::INFINITY),
            ("3e 4em", 0.0),
        ] {
            assert_eq!(largest(text), number, "{text}");
        }
        assert!(check("d", "M0 0L1e30 3").is_err());
        assert!(check("id", "1e30").is_ok());
    }

    #[test]
    fn names_are_sorted() {
        assert!(NUMBERS.is_sorted());
    }
}
