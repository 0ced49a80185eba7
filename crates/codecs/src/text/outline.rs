//! The outlines of glyphs, as the data of an SVG path.

use std::fmt::Write;

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};

use super::Placed;
use crate::fonts::Fonts;

/// Appends the outline of a glyph to the data of a path. `size` is the font's size in px. A glyph without an outline,
/// such as a space, adds nothing.
pub(crate) fn append(data: &mut String, glyph: &Placed, size: f64, fonts: &Fonts) {
    let id = fonts.face(glyph.face).id;
    fonts.database().with_face_data(id, |bytes, index| {
        let font = FontRef::from_index(bytes, index).ok()?;
        let em = skrifa::metrics::Metrics::new(&font, Size::unscaled(), LocationRef::default());
        let outline = font.outline_glyphs().get(GlyphId::new(glyph.id))?;
        let mut pen = Pen {
            data,
            scale: size / f64::from(em.units_per_em.max(1)),
            glyph,
            at: (0, 0),
            start: (0, 0),
        };
        let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
        outline.draw(settings, &mut pen).ok()
    });
}

/// Number of steps per px to which the coordinates in a path are rounded. Coordinates are short and relative, because a
/// path has thousands of them.
const PARTS: f64 = 100.0;

/// Writes an outline. Coordinates are whole numbers of `1 / PARTS` px.
struct Pen<'a> {
    data: &'a mut String,
    /// Size in px of a font unit.
    scale: f64,
    glyph: &'a Placed,
    at: (i64, i64),
    /// Start of the current contour, to which the contour returns when it is closed.
    start: (i64, i64),
}

impl Pen<'_> {
    /// Converts a point of the glyph's outline, in font units with y upwards, to its position on the image, in units
    /// of `1 / PARTS` px.
    fn point(&self, x: f32, y: f32) -> (i64, i64) {
        let (x, y) = (f64::from(x) * self.scale, f64::from(y) * self.scale);
        let (left, top) = self.glyph.at;
        let (x, y) = match self.glyph.is_turned {
            true => (left + y, top + x),
            false => (left + x, top - y),
        };
        ((x * PARTS).round() as i64, (y * PARTS).round() as i64)
    }

    /// Writes a path command with points relative to the current point, and makes the last of `points` the current
    /// point.
    fn command(&mut self, name: char, points: &[(i64, i64)]) {
        self.data.push(name);
        for (index, (x, y)) in points.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            // Writing to a String cannot fail.
            let _ = write!(
                self.data,
                "{gap}{} {}",
                Part(x - self.at.0),
                Part(y - self.at.1)
            );
        }
        if let Some(last) = points.last() {
            self.at = *last;
        }
    }
}

impl OutlinePen for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let point = self.point(x, y);
        // The first point of a glyph is absolute, so that glyphs do not depend on each other.
        self.at = (0, 0);
        self.command('M', &[point]);
        self.start = point;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let point = self.point(x, y);
        self.command('l', &[point]);
    }

    fn quad_to(&mut self, cx0: f32, cy0: f32, x: f32, y: f32) {
        let points = [self.point(cx0, cy0), self.point(x, y)];
        self.command('q', &points);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let points = [self.point(cx0, cy0), self.point(cx1, cy1), self.point(x, y)];
        self.command('c', &points);
    }

    fn close(&mut self) {
        self.data.push('z');
        self.at = self.start;
    }
}

/// A length in units of `1 / PARTS` px, which is printed in px.
struct Part(i64);

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let px = self.0 as f64 / PARTS;
        write!(f, "{px}")
    }
}
