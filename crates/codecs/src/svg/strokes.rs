//! The time for stroking curves. Their sides are divided into pieces, whose number grows with the square root of the
//! curve's length. Very long curves are divided into the maximum number of pieces, because rounding errors prevent any
//! piece from being fine enough.

use resvg::usvg::roxmltree::Node;
use svgtypes::{Length, PathParser, PathSegment};

/// Returns the time in ns for stroking a curve of this length in px, without the time for its points.
pub(super) fn curve(length: f64) -> f64 {
    let piece_cost = if length > LONG { 60.0 * length } else { 0.0 };
    2500.0 * length.sqrt() + piece_cost
}

/// Length in px from which a curve is divided into the maximum number of pieces.
const LONG: f64 = 5e5;

/// Returns the time for stroking the curves of a shape at this scale, in ns.
pub(super) fn shape(node: Node<'_, '_>, scale: f64) -> f64 {
    let length = |name| {
        let length = node
            .attribute(name)
            .and_then(|value| value.parse::<Length>().ok());
        length.map_or(0.0, |length| length.number.abs())
    };
    match node.tag_name().name() {
        "path" => path(node.attribute("d").unwrap_or_default(), scale),
        "circle" | "ellipse" | "rect" => {
            let radius = length("r").max(length("rx")).max(length("ry"));
            4.0 * curve(2.0 * radius * scale)
        }
        _ => 0.0,
    }
}

fn path(outline: &str, scale: f64) -> f64 {
    let mut total = 0.0;
    let (mut x, mut y) = (0.0, 0.0);
    for segment in PathParser::from(outline).map_while(Result::ok) {
        // Distances of its points from its beginning.
        let (from_x, from_y) = match is_relative(&segment) {
            true => (0.0, 0.0),
            false => (x, y),
        };
        let distance = |x: f64, y: f64| (x - from_x).hypot(y - from_y);
        let (to_x, to_y, length) = match segment {
            PathSegment::MoveTo { x, y, .. } | PathSegment::LineTo { x, y, .. } => (x, y, None),
            PathSegment::HorizontalLineTo { x, .. } => (x, from_y, None),
            PathSegment::VerticalLineTo { y, .. } => (from_x, y, None),
            PathSegment::CurveTo {
                x1,
                y1,
                x2,
                y2,
                x,
                y,
                ..
            } => {
                let legs = [
                    (x1 - from_x, y1 - from_y),
                    (x2 - x1, y2 - y1),
                    (x - x2, y - y2),
                ];
                let length = distance(x1, y1) + distance(x2, y2) + distance(x, y);
                if goes_on(legs) && length * scale < SHORT {
                    total -= EASE * curve(length * scale);
                }
                (x, y, Some(length))
            }
            PathSegment::SmoothCurveTo { x2, y2, x, y, .. } => {
                (x, y, Some(2.0 * distance(x2, y2) + distance(x, y)))
            }
            PathSegment::Quadratic { x1, y1, x, y, .. } => {
                (x, y, Some(distance(x1, y1) + distance(x, y)))
            }
            PathSegment::SmoothQuadratic { x, y, .. } => (x, y, Some(2.0 * distance(x, y))),
            PathSegment::EllipticalArc { rx, ry, x, y, .. } => {
                (x, y, Some(4.0 * (rx.abs() + ry.abs()) + distance(x, y)))
            }
            PathSegment::ClosePath { .. } => continue,
        };
        if let Some(length) = length {
            total += curve(length * scale);
        }
        match is_relative(&segment) {
            true => (x, y) = (x + to_x, y + to_y),
            false => (x, y) = (to_x, to_y),
        }
    }
    total
}

/// Whether no two sides of a curve's control polygon point in opposing directions. Such a curve has no sharp turn that
/// takes many pieces.
fn goes_on(legs: [(f64, f64); 3]) -> bool {
    let [a, b, c] = legs;
    let same_direction = |(x, y): (f64, f64), other: (f64, f64)| x * other.0 + y * other.1 >= 0.0;
    same_direction(a, b) && same_direction(b, c) && same_direction(a, c)
}

/// Length in px below which a smooth curve takes less time than a sharp one.
const SHORT: f64 = 1000.0;

/// Fraction of the time for stroking a sharp curve that a short, smooth curve saves.
const EASE: f64 = 0.6;

fn is_relative(segment: &PathSegment) -> bool {
    match segment {
        PathSegment::MoveTo { abs, .. }
        | PathSegment::LineTo { abs, .. }
        | PathSegment::HorizontalLineTo { abs, .. }
        | PathSegment::VerticalLineTo { abs, .. }
        | PathSegment::CurveTo { abs, .. }
        | PathSegment::SmoothCurveTo { abs, .. }
        | PathSegment::Quadratic { abs, .. }
        | PathSegment::SmoothQuadratic { abs, .. }
        | PathSegment::EllipticalArc { abs, .. }
        | PathSegment::ClosePath { abs } => !abs,
    }
}
