//! Makes SVG documents of text and plain colours.

use std::fmt::{self, Write};

use andon_pixels::{Anchor, Drawings, Text};
use andon_recipe::Colour;

use super::{Svg, fonts};

impl Drawings for Svg {
    fn text(&self, text: &Text<'_>) -> Vec<u8> {
        let Text {
            width,
            height,
            size,
            colour: Colour { r, g, b, a },
            ..
        } = text;
        let opacity = f64::from(*a) / 255.0;
        let anchor = match text.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let mut document = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\
             <g font-size=\"{size}\" fill=\"#{r:02x}{g:02x}{b:02x}\" fill-opacity=\"{opacity}\" text-anchor=\"{anchor}\">"
        );
        for ((x, y), line) in &text.lines {
            // Writing to a text never fails.
            let _ = write!(
                document,
                "<text x=\"{x}\" y=\"{y}\">{}</text>",
                Escaped(line)
            );
        }
        (document + "</g></svg>").into_bytes()
    }

    fn solid(&self, Colour { r, g, b, a }: Colour) -> Vec<u8> {
        let opacity = f64::from(a) / 255.0;
        let drawing = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\">\
             <rect width=\"1\" height=\"1\" fill=\"#{r:02x}{g:02x}{b:02x}\" fill-opacity=\"{opacity}\"/>"
        );
        (drawing + "</svg>").into_bytes()
    }

    fn undrawn_letters(&self, text: &str) -> Vec<char> {
        fonts::missing(text)
    }
}

/// Text escaped for use between XML tags: markup characters become entities, and characters that XML forbids are
/// dropped or become spaces.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => Ok(()),
            letter if letter.is_control() => f.write_char(' '),
            letter => f.write_char(letter),
        })
    }
}
