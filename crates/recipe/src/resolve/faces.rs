//! The faces that were found, wherever the steps so far brought them.

use crate::rules::Facts;
use crate::step::{Effect, Step};
use crate::{Area, Measure};

/// Left, top, right and bottom of each, in px.
pub(super) struct Faces(Vec<[f64; 4]>);

/// How much of a face's side is blurred around it: hair, ears and chin tell a person, too.
const MARGIN: f64 = 0.25;

/// The blur, as a share of the longer side of a face.
const SIGMA: f64 = 0.2;

impl Faces {
    /// `None`: they were not looked for.
    pub(super) fn of(facts: &Facts) -> Option<Self> {
        let areas = facts.measured.areas(Measure::Faces)?;
        let edges = |&Area { x, y, w, h }: &Area| {
            let [x, y, w, h] = [x, y, w, h].map(f64::from);
            [x, y, x + w, y + h]
        };
        Some(Self(areas.iter().map(edges).collect()))
    }

    /// Brings them where a step moves them: turned by any angle, to what holds them.
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

    /// The middle of those that fit into a part of this size together, the largest first; `None` without a face.
    pub(super) fn middle(&self, (w, h): (u32, u32)) -> Option<(f64, f64)> {
        let mut faces = self.0.clone();
        faces.sort_by(|one, other| area(other).total_cmp(&area(one)));
        let kept = faces.into_iter().reduce(|kept, face| {
            let both = together(kept, face);
            let fits = both[2] - both[0] <= w.into() && both[3] - both[1] <= h.into();
            if fits { both } else { kept }
        });
        kept.map(|[left, top, right, bottom]| ((left + right) / 2.0, (top + bottom) / 2.0))
    }

    /// The effects that blur what is seen of them on an image of this size.
    pub(super) fn blurred(&self, (width, height): (u32, u32), sigma: Option<f64>) -> Vec<Step> {
        let blur = |&[left, top, right, bottom]: &[f64; 4]| {
            let side = (right - left).max(bottom - top);
            let margin = side * MARGIN;
            // `as` saturates.
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

/// The smallest rectangle that holds both.
fn together(one: [f64; 4], other: [f64; 4]) -> [f64; 4] {
    [
        one[0].min(other[0]),
        one[1].min(other[1]),
        one[2].max(other[2]),
        one[3].max(other[3]),
    ]
}
