//! Colours in CSS syntax.

use andon_recipe::Colour;

/// Parses 3, 4, 6 or 8 hexadecimal digits into the channels, in the order of the digits. In the short forms each digit
/// is doubled.
pub(crate) fn channels(digits: &str) -> Option<Vec<u8>> {
    channels_by(17, digits)
}

/// Parses 3, 4, 6 or 8 hexadecimal digits into the channels, in the order of the digits. In the short forms each digit
/// is multiplied by `short`.
pub(crate) fn channels_by(short: u8, digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = digits
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    match digits.len() {
        3 | 4 => Some(digits.iter().map(|digit| digit * short).collect()),
        6 | 8 => Some(
            digits
                .chunks_exact(2)
                .map(|pair| pair[0] << 4 | pair[1])
                .collect(),
        ),
        _ => None,
    }
}

/// Parses a CSS colour: a name, `#` and hexadecimal digits with the alpha last, or `rgb(…)` or `rgba(…)` with commas or
/// spaces.
pub(crate) fn css(text: &str) -> Option<Colour> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("transparent") {
        return Some(Colour::CLEAR);
    }
    if let Some(digits) = text.strip_prefix('#') {
        return rgba(&channels(digits)?);
    }
    let function = ["rgba(", "rgb("]
        .iter()
        .find_map(|name| text.strip_prefix(name));
    let Some(parts) = function.and_then(|rest| rest.strip_suffix(')')) else {
        return Colour::named(text);
    };
    let parts: Vec<&str> = parts
        .split([',', ' ', '/'])
        .filter(|part| !part.is_empty())
        .collect();
    let number = |text: &str, whole: f64| match text.strip_suffix('%') {
        Some(percent) => percent
            .parse::<f64>()
            .ok()
            .map(|percent| percent / 100.0 * 255.0),
        None => text.parse::<f64>().ok().map(|number| number * whole),
    };
    let level =
        |text: &str, whole| number(text, whole).map(|level| level.round().clamp(0.0, 255.0) as u8);
    let (colours, alpha) = parts.split_at_checked(3)?;
    let mut channels: Vec<u8> = colours
        .iter()
        .map(|text| level(text, 1.0))
        .collect::<Option<_>>()?;
    match alpha {
        [] => {}
        [alpha] => channels.push(level(alpha, 255.0)?),
        _ => return None,
    }
    rgba(&channels)
}

/// Makes a colour of the channels red, green, blue and, optionally, alpha.
pub(crate) fn rgba(channels: &[u8]) -> Option<Colour> {
    match *channels {
        [r, g, b] => Some(Colour { r, g, b, a: 255 }),
        [r, g, b, a] => Some(Colour { r, g, b, a }),
        _ => None,
    }
}

/// Parses a colour of 3, 4, 6 or 8 hexadecimal digits, with the alpha first.
pub(crate) fn argb(digits: &str) -> Option<Colour> {
    match channels(digits)?[..] {
        [a, r, g, b] => Some(Colour { r, g, b, a }),
        ref opaque => rgba(opaque),
    }
}

#[cfg(test)]
mod tests {
    use super::css;

    #[test]
    fn colours_are_read_as_css_reads_them() {
        for (text, right) in [
            ("#f00", "#ff0000ff"),
            ("#f008", "#ff000088"),
            ("rgb(240,40,145)", "#f02891"),
            ("rgba(240, 40, 145, 0.5)", "#f0289180"),
            ("rgb(100% 0% 0% / 50%)", "#ff000080"),
            ("transparent", "#0000"),
            ("RebeccaPurple", "#663399"),
        ] {
            assert_eq!(css(text), css(right), "{text}");
            assert!(css(text).is_some(), "{text}");
        }
        for wrong in [
            "",
            "#",
            "#12345",
            "rgb(1,2)",
            "rgb(1,2,3,4,5)",
            "redd",
            "#é00",
            "rgb(é)",
        ] {
            assert_eq!(css(wrong), None, "{wrong}");
        }
    }
}
