//! Lays text out: which glyphs of which fonts stand where.
//!
//! A text is cut into paragraphs at its line ends, and a paragraph into runs of one direction, script and font
//! (`runs.rs`). Each run is shaped (`shape.rs`), lines are broken where Unicode allows it and the width demands it
//! (`lines.rs`), their glyphs are placed on the image (`place.rs`), and what they cover is turned, or becomes a tile
//! (`canvas.rs`). Shaping is that of `harfrust`, a port of HarfBuzz; directions are those of the Unicode Bidirectional
//! Algorithm, and breaks those of Unicode Standard Annex 14, with dictionaries or models for the scripts that do not
//! mark words.

mod canvas;
mod lines;
pub(crate) mod outline;
mod place;
mod runs;
mod shape;

#[cfg(test)]
mod tests;

use andon_pixels::{Overflow, Text, Writing};

use crate::fonts::{FontRequest, Fonts};
use lines::{Cutting, Lines};
use runs::Paragraph;

pub(crate) use canvas::Canvas;
pub(crate) use place::Placed;

/// A text that is laid out.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Size of the font in px.
    pub(crate) size: f64,
    pub(crate) glyphs: Vec<Placed>,
    /// What the glyphs are drawn on.
    pub(crate) canvas: Canvas,
}

/// Height of a line as a multiple of the font's size, unless its glyphs reach farther.
const LINE: f64 = 1.2;

/// Heights above the baseline, and below it, that are kept free for letters of any font, in em.
const ASCENT: f64 = 0.93;
const DESCENT: f64 = 0.24;

/// Smallest size in px to which text is reduced to fit into its box.
const SMALLEST: f64 = 1.0;

/// Lays a text out.
pub(crate) fn lay_out(text: &Text<'_>, fonts: &Fonts) -> Layout {
    let Ok(request) = text.font.parse::<FontRequest>();
    let (wanted, _) = fonts.wanted(&request);
    let plain = plain(text.text);
    // Distances are in em, so that they become smaller with the letters.
    let (tracking, leading) = (text.tracking / text.size, text.leading / text.size);
    let paragraph = |line| Paragraph::new(line, fonts, &wanted, (text.writing, tracking));
    let paragraphs: Vec<Paragraph<'_>> = plain.split('\n').map(paragraph).collect();
    let (length, across) = match text.writing {
        Writing::Horizontal => text.area,
        Writing::Vertical => (text.area.1, text.area.0),
    };
    let cutting = Cutting {
        place: text.cut,
        ellipsis: text.overflow == Overflow::Ellipsis,
    };
    let is_cut = matches!(text.overflow, Overflow::Ellipsis | Overflow::Clip);
    let lines = |size: f64| {
        // A line of a box that has no height is cut instead of broken.
        let length = if is_cut && across <= 0.0 { 0.0 } else { length };
        Lines::broken(&paragraphs, length / size, leading, text.breaks)
    };
    let size = match text.overflow {
        Overflow::Shrink => shrunk(text.size, |size| {
            let lines = lines(size);
            lines.fits(length / size, across / size)
        }),
        _ => text.size,
    };
    let mut lines = lines(size);
    let cut: Vec<(usize, String)>;
    let mut ends = Vec::new();
    if is_cut {
        cut = lines.cut(&paragraphs, (length / size, across / size), cutting);
        ends.extend(cut.iter().map(|(line, text)| (*line, paragraph(text))));
        lines.replace(&ends);
    }
    let shaped = lines.shaped(&paragraphs, &ends, fonts);
    let (glyphs, block) = place::place(text, size, lines.pitch * size, &shaped);
    let canvas = Canvas::of(text, &block);
    Layout {
        size,
        glyphs,
        canvas,
    }
}

/// Returns a text with `\n` between its paragraphs and no other controls.
fn plain(text: &str) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut plain = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        plain.push(match letter {
            '\n' | '\u{2028}' | '\u{2029}' | '\u{85}' => '\n',
            letter if letter.is_control() => ' ',
            letter => letter,
        });
    }
    plain
}

/// Returns the largest size of at most `size` at which the text fits.
fn shrunk(size: f64, fits: impl Fn(f64) -> bool) -> f64 {
    if fits(size) {
        return size;
    }
    let (mut small, mut large) = (SMALLEST.min(size), size);
    // Each halves the interval, and 1/64 px is less than anyone sees.
    while large - small > 1.0 / 64.0 {
        let middle = f64::midpoint(small, large);
        match fits(middle) {
            true => small = middle,
            false => large = middle,
        }
    }
    small
}
