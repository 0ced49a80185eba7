//! Drawing with few words. Positions are in units of the view box; the browser scales it to the page.

use std::fmt::Write as _;

use super::page::escape;
use super::scale::Scale;

/// The width of every full figure.
pub(super) const WIDTH: f64 = 720.0;
/// Room for the labels of a vertical axis; enough for a phone's larger letters.
pub(super) const LEFT: f64 = 92.0;
/// Room at the right for half a label.
pub(super) const RIGHT: f64 = 26.0;
/// Room for the labels of a horizontal axis.
pub(super) const FOOT: f64 = 34.0;

/// A drawing.
pub(super) struct Svg {
    width: f64,
    height: f64,
    label: String,
    body: String,
}

/// Where a text is anchored.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty drawing; `label` is read to those who cannot see it.
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

    /// A line through points; nothing without any.
    pub(super) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        self.path(class, &through(points));
    }

    /// The area between an upper and a lower line over the same places.
    pub(super) fn area(&mut self, class: &str, upper: &[(f64, f64)], lower: &[(f64, f64)]) {
        let mut path = through(upper.iter().chain(lower.iter().rev()));
        if !path.is_empty() {
            path.push('Z');
        }
        self.path(class, &path);
    }

    /// Points without a line: strokes of no length with round ends, the shortest way to write many.
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

    /// Horizontal grid lines with labels at the left.
    pub(super) fn rows(&mut self, scale: &Scale, count: usize, label: impl Fn(f64) -> String) {
        for tick in scale.ticks(count) {
            let y = scale.at(tick);
            self.line("grid", (LEFT, y), (self.width - RIGHT, y));
            self.text("", LEFT - 8.0, y + 5.0, Anchor::End, &label(tick));
        }
    }

    /// Vertical grid lines from `top` to `bottom` with labels below.
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

    /// The finished element.
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

/// The path of a line through points.
fn through<'a>(points: impl IntoIterator<Item = &'a (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let step = if path.is_empty() { "M" } else { "L" };
        let _ = write!(path, "{step}{} {}", n(*x), n(*y));
    }
    path
}

/// A tenth of a unit is finer than any screen; without digits that say nothing.
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
