//! Text layout: the glyphs of a text, their fonts and their positions.
//!
//! A text is split into paragraphs at its line ends, and a paragraph into runs of one direction, script and font
//! (`runs.rs`). Each run is shaped (`shape.rs`). Lines are broken where Unicode permits it and the width requires it
//! (`lines.rs`), and their glyphs are placed on the image (`place.rs`). The covered area is then rotated, or becomes a
//! tile (`canvas.rs`). Shaping is done by `harfrust`, a port of HarfBuzz. Directions follow the Unicode Bidirectional
//! Algorithm. Line breaks follow Unicode Standard Annex 14, with dictionaries or models for scripts without spaces
//! between words.

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

/// The layout of a text.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Size of the font in px.
    pub(crate) size: f64,
    pub(crate) glyphs: Vec<Placed>,
    /// The surface on which the glyphs are drawn.
    pub(crate) canvas: Canvas,
}

/// Height of a line as a multiple of the font's size. Lines are higher if a font's glyphs need more space.
const LINE: f64 = 1.2;

/// Height above the baseline that is reserved for letters of any font, in em.
const ASCENT: f64 = 0.93;
/// Height below the baseline that is reserved for letters of any font, in em.
const DESCENT: f64 = 0.24;

/// Minimum size in px when a text is reduced to fit into its box.
const SMALLEST: f64 = 1.0;

/// Determines the glyphs of a text and their positions.
pub(crate) fn lay_out(text: &Text<'_>, fonts: &Fonts) -> Layout {
    let Ok(request) = text.font.parse::<FontRequest>();
    let (selection, _) = fonts.selection(&request);
    let plain = plain(text.text);
    // Distances are in em, so that they scale with the letters.
    let (tracking, leading) = (text.tracking / text.size, text.leading / text.size);
    let paragraph = |line| Paragraph::new(line, fonts, &selection, (text.writing, tracking));
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
        // If a line is cut and the box has no height, the line is not broken.
        let length = if is_cut && across <= 0.0 { 0.0 } else { length };
        Lines::break_paragraphs(&paragraphs, length / size, leading, text.breaks)
    };
    let size = match text.overflow {
        Overflow::Shrink => shrink(text.size, |size| {
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
    let shape_lines = lines.shape_lines(&paragraphs, &ends, fonts);
    let (glyphs, block) = place::place(text, size, lines.pitch * size, &shape_lines);
    let canvas = Canvas::of(text, &block);
    Layout {
        size,
        glyphs,
        canvas,
    }
}

/// Returns a text with `\n` between its paragraphs and no other control characters.
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

/// Returns the largest size in px up to `size` at which the text fits, to within 1/64 px. If it fits at no size,
/// returns [`SMALLEST`], or `size` if that is smaller.
fn shrink(size: f64, fits: impl Fn(f64) -> bool) -> f64 {
    if fits(size) {
        return size;
    }
    let (mut small, mut large) = (SMALLEST.min(size), size);
    // Bisection, until the difference is invisible.
    while large - small > 1.0 / 64.0 {
        let middle = f64::midpoint(small, large);
        match fits(middle) {
            true => small = middle,
            false => large = middle,
        }
    }
    small
}
