//! Places the glyphs of lines on an image: gravity, margins, alignment, columns.

use andon_pixels::{Align, Anchor, Text, Writing};

use super::canvas::Block;
use super::lines::ShapedLine;
use super::runs::Set;
use super::{ASCENT, DESCENT};

/// A glyph on an image. Lengths are in px, with y downwards.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) face: usize,
    pub(crate) id: u32,
    /// Position on the image of the origin of the glyph's outline, in px.
    pub(crate) at: (f64, f64),
    /// Whether the glyph is rotated clockwise by 90°.
    pub(crate) is_turned: bool,
    /// The text of a glyph with its own colours, which is drawn as text; `None` for outlines.
    pub(crate) coloured: Option<String>,
}

/// Height of capitals, in em.
const CAPITALS: f64 = 0.73;

/// Places lines on the text's image, and returns the glyphs and the rectangle that they cover. `pitch` is the distance
/// between lines in px.
pub(super) fn place(
    text: &Text<'_>,
    size: f64,
    pitch: f64,
    lines: &[ShapedLine],
) -> (Vec<Placed>, Block) {
    match text.writing {
        Writing::Horizontal => horizontal(text, size, pitch, lines),
        Writing::Vertical => vertical(text, size, pitch, lines),
    }
}

fn horizontal(
    text: &Text<'_>,
    size: f64,
    pitch: f64,
    lines: &[ShapedLine],
) -> (Vec<Placed>, Block) {
    let [ascent, descent] = reaches(lines).map(|reach| reach * size);
    let down = pitch * lines.len().saturating_sub(1) as f64;
    let lengths = lines.iter().map(|line| size * line.length());
    let block = lengths.fold(0.0, f64::max);
    let (left, width) = span(
        text.gravity.0,
        text.width,
        text.margin.0,
        text.area.0,
        block,
    );
    let (top, height) = span(text.gravity.1, text.height, text.margin.1, text.area.1, 0.0);
    let mut baseline = match text.gravity.1 {
        Anchor::Start => top + ascent,
        Anchor::Middle => (2.0 * top + height - down + CAPITALS * size) / 2.0,
        Anchor::End => top + height - descent - down,
    };
    let (top, bottom) = (baseline - ascent, baseline + down + descent);
    let mut ends = Vec::new();
    let mut glyphs = Vec::new();
    for line in lines {
        let (start, wider) = line.align_line(text.align, width, size);
        let mut x = left + start;
        let begin = x;
        for (glyph, is_gap) in line.glyphs.iter().zip(&line.gaps) {
            glyphs.push(Placed {
                face: glyph.face,
                id: glyph.id,
                at: (x + size * glyph.offset.0, baseline - size * glyph.offset.1),
                is_turned: false,
                coloured: glyph.coloured.clone(),
            });
            x += size * glyph.advance + if *is_gap { wider } else { 0.0 };
        }
        ends.push((begin, x));
        baseline += pitch;
    }
    let (left, right) = hull(&ends, left);
    let block = Block {
        left,
        top,
        right,
        bottom,
    };
    (glyphs, block)
}

/// Returns the smallest beginning and the largest end of lines, each of which is given as its beginning and end.
/// Returns `none` for both if there are no lines.
fn hull(ends: &[(f64, f64)], none: f64) -> (f64, f64) {
    let both = ends.iter().copied().reduce(|(begin, end), other| {
        // With negative tracking, a line may end before its beginning.
        (begin.min(other.0), end.max(other.1))
    });
    both.map_or((none, none), |(begin, end)| {
        (begin.min(end), begin.max(end))
    })
}

/// Places the lines of a vertical text as columns, from right to left.
fn vertical(text: &Text<'_>, size: f64, pitch: f64, lines: &[ShapedLine]) -> (Vec<Placed>, Block) {
    let all = pitch * lines.len() as f64;
    let lengths = lines.iter().map(|line| size * line.length());
    let block = lengths.fold(0.0, f64::max);
    let (top, height) = span(
        text.gravity.1,
        text.height,
        text.margin.1,
        text.area.1,
        block,
    );
    let (left, width) = span(text.gravity.0, text.width, text.margin.0, text.area.0, all);
    let mut centre = match text.gravity.0 {
        Anchor::Start => left + all,
        Anchor::Middle => left + f64::midpoint(width, all),
        Anchor::End => left + width,
    } - pitch / 2.0;
    let right = centre + pitch / 2.0;
    let mut ends = Vec::new();
    let mut glyphs = Vec::new();
    for line in lines {
        let (start, wider) = line.align_line(text.align, height, size);
        let mut y = top + start;
        let begin = y;
        for (glyph, is_gap) in line.glyphs.iter().zip(&line.gaps) {
            let (right, up) = (size * glyph.offset.0, size * glyph.offset.1);
            let is_turned = glyph.set == Set::Turned;
            // The middle of a rotated letter is that of its font's ascent and descent.
            let (ascent, descent) = glyph.extent;
            let at = match is_turned {
                true => (centre - size * (ascent - descent) / 2.0 + up, y + right),
                false => (centre + right, y - up),
            };
            glyphs.push(Placed {
                face: glyph.face,
                id: glyph.id,
                at,
                is_turned,
                coloured: glyph.coloured.clone(),
            });
            y += size * glyph.advance + if *is_gap { wider } else { 0.0 };
        }
        ends.push((begin, y));
        centre -= pitch;
    }
    let (top, bottom) = hull(&ends, top);
    let block = Block {
        left: right - all,
        top,
        right,
        bottom,
    };
    (glyphs, block)
}

/// Returns the ascent of the first line and the descent of the last, in em.
fn reaches(lines: &[ShapedLine]) -> [f64; 2] {
    let extents = |line: &ShapedLine| {
        let least = (ASCENT, DESCENT);
        line.glyphs.iter().fold(least, |(up, down), glyph| {
            (up.max(glyph.extent.0), down.max(glyph.extent.1))
        })
    };
    let first = lines.first().map_or(ASCENT, |line| extents(line).0);
    let last = lines.last().map_or(DESCENT, |line| extents(line).1);
    [first, last]
}

/// Returns the beginning and length of a text along one side of an image. The length is `area`, that of the text's box,
/// or, if `area` is 0 because there is no box, that of the `lines`. All lengths are in px.
fn span(gravity: Anchor, side: u32, margin: f64, area: f64, lines: f64) -> (f64, f64) {
    let length = if area > 0.0 { area } else { lines };
    let side = f64::from(side);
    let start = match gravity {
        Anchor::Start => margin,
        Anchor::Middle => (side - length) / 2.0,
        Anchor::End => side - margin - length,
    };
    (start, length)
}

impl ShapedLine {
    /// Returns the line's length in em: the sum of its glyphs' advances.
    fn length(&self) -> f64 {
        self.glyphs.iter().map(|glyph| glyph.advance).sum()
    }

    /// Returns the offset in px of the line's beginning within `length` px, and the width in px that is added to each
    /// of its gaps to justify it.
    fn align_line(&self, align: Align, length: f64, size: f64) -> (f64, f64) {
        let left = length - size * self.length();
        let gaps = self.gaps.iter().filter(|is_gap| **is_gap).count();
        match (align, self.begins_right) {
            (Align::Justify, _) if !self.is_last && gaps > 0 && left > 0.0 => {
                (0.0, left / gaps as f64)
            }
            (Align::Centre, _) => (left / 2.0, 0.0),
            (Align::Right, _) | (Align::Start | Align::Justify, true) | (Align::End, false) => {
                (left, 0.0)
            }
            (Align::Left, _) | (Align::Start | Align::Justify, false) | (Align::End, true) => {
                (0.0, 0.0)
            }
        }
    }
}
