//! Creates SVG documents for texts and plain colours.

use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use andon_pixels::{Drawings, Outline, Result, Text};
use andon_recipe::Colour;

use super::document::unsupported;
use super::{Svg, resolver};
use crate::fonts::{self, FontRequest, Fonts};
use crate::text::{self, Canvas, outline};

impl Drawings for Svg {
    fn text(&self, text: &Text<'_>) -> Result<Vec<u8>> {
        let draw = || document(text, &fonts::installed());
        // Font libraries may panic on unexpected fonts.
        let result = catch_unwind(AssertUnwindSafe(draw));
        result.map_err(|_| {
            unsupported(format!(
                "the text {:?} in the fonts that it needs",
                text.text
            ))
        })
    }

    fn solid(&self, colour: Colour) -> Vec<u8> {
        let (colour, opacity) = paint(colour);
        let drawing = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\">\
             <rect width=\"1\" height=\"1\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>"
        );
        (drawing + "</svg>").into_bytes()
    }

    fn undrawn_letters(&self, text: &str) -> Vec<char> {
        fonts::installed().missing(text)
    }

    fn unknown_families(&self, font: &str) -> Vec<String> {
        let Ok(request) = font.parse::<FontRequest>();
        fonts::installed().selection(&request).1
    }

    fn fonts(&self) -> String {
        fonts::installed().name().to_owned()
    }
}

/// Returns an SVG document that shows a text. The outlines of all glyphs form one path, so that no pixel is painted
/// twice where they overlap. Each coloured glyph is a separate `text` element.
fn document(text: &Text<'_>, fonts: &Fonts) -> Vec<u8> {
    let layout = text::lay_out(text, fonts);
    let size = layout.size;
    let mut outlines = String::new();
    let mut coloured = String::new();
    for glyph in &layout.glyphs {
        if !fonts.face(glyph.face).is_coloured {
            outline::append(&mut outlines, glyph, size, fonts);
        } else if let Some(text) = &glyph.coloured {
            let ((x, y), family) = (glyph.at, resolver::family(glyph.face));
            // Writing to a String cannot fail.
            let _ = write!(
                coloured,
                "<text x=\"{x:.3}\" y=\"{y:.3}\" font-family=\"{family}\" font-size=\"{size}\">{}</text>",
                Escaped(text)
            );
        }
    }
    let Canvas {
        width,
        height,
        turn,
    } = layout.canvas;
    let turn = turn.map_or(String::new(), |turn| format!(" transform=\"{turn}\""));
    let (colour, opacity) = paint(text.colour);
    let mut document = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\">\
         <g fill=\"{colour}\"{turn}>"
    );
    if !outlines.is_empty() {
        let line = text.outline.map_or(String::new(), stroke);
        let _ = write!(
            document,
            "<path fill-opacity=\"{opacity}\"{line} d=\"{outlines}\"/>"
        );
    }
    if !coloured.is_empty() {
        let _ = write!(document, "<g opacity=\"{opacity}\">{coloured}</g>");
    }
    (document + "</g></svg>").into_bytes()
}

/// Returns a colour and its opacity in the syntax of SVG.
fn paint(Colour { r, g, b, a }: Colour) -> (String, f64) {
    (format!("#{r:02x}{g:02x}{b:02x}"), f64::from(a) / 255.0)
}

/// Returns the SVG attributes that draw an outline around the letters of a path. The outline is painted before the
/// letters are filled, so that it does not cover them.
fn stroke(outline: Outline) -> String {
    let (colour, opacity) = paint(outline.colour);
    // Half of the stroke is inside the letters.
    let width = 2.0 * outline.width;
    format!(
        " stroke=\"{colour}\" stroke-opacity=\"{opacity}\" stroke-width=\"{width}\" \
         stroke-linejoin=\"round\" paint-order=\"stroke\""
    )
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
