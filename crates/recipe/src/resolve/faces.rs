//! Faces found in an image, at their positions after the steps so far.

use crate::{Area, Effect, Facts, Measure, Step};

/// Left, top, right and bottom edge of each face, in px.
pub(crate) struct Faces(Vec<[f64; 4]>);

/// Width of the margin around a face that is also blurred, as a share of the face's longer side: hair, ears and chin
/// also identify a person.
const MARGIN: f64 = 0.25;

/// Standard deviation of the blur, as a share of the longer side of a face.
const SIGMA: f64 = 0.2;

impl Faces {
    /// Returns the measured faces; `None` if they were not measured.
    pub(super) fn of(facts: &Facts) -> Option<Self> {
        let areas = facts.measured.areas(Measure::Faces)?;
        let edges = |&Area { x, y, w, h }: &Area| {
            let [x, y, w, h] = [x, y, w, h].map(f64::from);
            [x, y, x + w, y + h]
        };
        Some(Self(areas.iter().map(edges).collect()))
    }

    /// Moves the faces with the image: `to` maps a point before a step to its position after the step. Each face
    /// becomes the bounding box of its moved corners.
    pub(super) fn carry(&mut self, to: impl Fn((f64, f64)) -> (f64, f64)) {
        for face in &mut self.0 {
            let [left, top, right, bottom] = *face;
            let corners = [(left, top), (right, top), (right, bottom), (left, bottom)].map(&to);
            let first = [corners[0].0, corners[0].1, corners[0].0, corners[0].1];
            *face = corners
                .into_iter()
                .fold(first, |all, (x, y)| together(all, [x, y, x, y]));
        }
    }

    /// Returns the centre of a group of faces that fits into a part of this size in px: the largest face and, from
    /// large to small, each further face that still fits with them. `None` if there is no face.
    pub(super) fn middle(&self, (w, h): (u32, u32)) -> Option<(f64, f64)> {
        let mut faces = self.0.clone();
        faces.sort_by(|one, other| area(other).total_cmp(&area(one)));
        let group = faces.into_iter().reduce(|group, face| {
            let both = together(group, face);
            let fits = both[2] - both[0] <= w.into() && both[3] - both[1] <= h.into();
            if fits { both } else { group }
        });
        group.map(|[left, top, right, bottom]| ((left + right) / 2.0, (top + bottom) / 2.0))
    }

    /// Returns the effects that blur the visible part of each face on an image of this size. Without `sigma`, the blur
    /// depends on the size of the face.
    pub(crate) fn blurred(&self, (width, height): (u32, u32), sigma: Option<f64>) -> Vec<Step> {
        let blur = |&[left, top, right, bottom]: &[f64; 4]| {
            let side = (right - left).max(bottom - top);
            let margin = side * MARGIN;
            // `as` clamps to the range of a u32.
            let within = |at: f64, side: u32| at.clamp(0.0, side.into()) as u32;
            let x = within((left - margin).floor(), width);
            let y = within((top - margin).floor(), height);
            let w = within((right + margin).ceil(), width) - x;
            let h = within((bottom + margin).ceil(), height) - y;
            let sigma = sigma.unwrap_or(((side * SIGMA * 10.0).round() / 10.0).clamp(0.1, 1000.0));
            (w > 0 && h > 0).then(|| {
                Step::Effect(Effect {
                    name: Effect::BLUR_AREA.to_owned(),
                    args: vec![
                        x.to_string(),
                        y.to_string(),
                        format!("{w}x{h}"),
                        sigma.to_string(),
                    ],
                })
            })
        };
        self.0.iter().filter_map(blur).collect()
    }
}

fn area([left, top, right, bottom]: &[f64; 4]) -> f64 {
    (right - left) * (bottom - top)
}

/// Returns the smallest rectangle that contains both rectangles.
fn together(one: [f64; 4], other: [f64; 4]) -> [f64; 4] {
    [
        one[0].min(other[0]),
        one[1].min(other[1]),
        one[2].max(other[2]),
        one[3].max(other[3]),
    ]
}
