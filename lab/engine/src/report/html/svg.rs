//! A small SVG writer. Positions are in units of the view box, which the browser scales to the page.

use std::fmt::Write as _;

use super::page::escape;
use super::scale::Scale;

/// Width of a full-width figure, in units of the view box.
pub(super) const WIDTH: f64 = 720.0;
/// Left margin for the labels of a vertical axis, in units of the view box. It is wide enough for the larger type on
/// phones.
pub(super) const LEFT: f64 = 92.0;
/// Right margin for half a label, in units of the view box.
pub(super) const RIGHT: f64 = 26.0;
/// Bottom margin for the labels of a horizontal axis, in units of the view box.
pub(super) const FOOT: f64 = 34.0;

/// An SVG drawing that is being written.
pub(super) struct Svg {
    width: f64,
    height: f64,
    label: String,
    body: String,
}

/// Which end of a text, or its middle, lies at the position where the text is drawn.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// Creates an empty drawing. Screen readers read `label` aloud.
    pub(super) fn new(width: f64, height: f64, label: impl Into<String>) -> Self {
        Self {
            width,
            height,
            label: label.into(),
            body: String::new(),
        }
    }

    pub(super) fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            n(x),
            n(y),
            n(width.max(0.0)),
            n(height.max(0.0))
        );
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            n(from.0),
            n(from.1),
            n(to.0),
            n(to.1)
        );
    }

    /// Draws a line through points. Draws nothing if there are none.
    pub(super) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        self.path(class, &through(points));
    }

    /// Fills the area between an upper and a lower line over the same horizontal positions.
    pub(super) fn area(&mut self, class: &str, upper: &[(f64, f64)], lower: &[(f64, f64)]) {
        let mut path = through(upper.iter().chain(lower.iter().rev()));
        if !path.is_empty() {
            path.push('Z');
        }
        self.path(class, &path);
    }

    /// Draws points as strokes of length zero with round ends, which is the shortest markup for many points.
    pub(super) fn dots(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>) {
        let mut path = String::new();
        for (x, y) in points {
            let _ = write!(path, "M{} {}h0", n(x), n(y));
        }
        self.path(class, &path);
    }

    fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            n(x),
            n(y),
            escape(text)
        );
    }

    /// Draws horizontal grid lines with labels on the left.
    pub(super) fn rows(&mut self, scale: &Scale, count: usize, label: impl Fn(f64) -> String) {
        for tick in scale.ticks(count) {
            let y = scale.at(tick);
            self.line("grid", (LEFT, y), (self.width - RIGHT, y));
            self.text("", LEFT - 8.0, y + 5.0, Anchor::End, &label(tick));
        }
    }

    /// Draws vertical grid lines from `top` to `bottom` with labels below.
    pub(super) fn columns(
        &mut self,
        ticks: impl Iterator<Item = (f64, String)>,
        (top, bottom): (f64, f64),
    ) {
        for (x, label) in ticks {
            self.line("grid", (x, top), (x, bottom));
            self.text("", x, bottom + 24.0, Anchor::Middle, &label);
        }
    }

    /// Returns the complete SVG element.
    pub(super) fn finish(self) -> String {
        format!(
            "<svg class=\"figure\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            n(self.width),
            n(self.height),
            escape(&self.label),
            self.body
        )
    }
}

/// Returns the SVG path data of a line through points.
fn through<'a>(points: impl IntoIterator<Item = &'a (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let step = if path.is_empty() { "M" } else { "L" };
        let _ = write!(path, "{step}{} {}", n(*x), n(*y));
    }
    path
}

/// Formats a coordinate with at most one decimal, as a tenth of a unit is finer than any screen can show. Trailing
/// zeros are left out.
fn n(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
