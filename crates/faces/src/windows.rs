//! Square parts of an image that may show a face.

use crate::Face;

/// A square part of an image, with its score. It may lie partly outside the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) side: i64,
    pub(crate) score: f32,
}

/// Maximum length of a list of windows: only those with the highest scores are kept. Photos of crowds have a few
/// hundred. The limit bounds the time that an image can take.
pub(crate) const MOST: usize = 1024;

impl Window {
    /// Whether the window lies at least partly inside an image of this size and has more than one pixel.
    pub(crate) fn shows(&self, (width, height): (usize, usize)) -> bool {
        let overlaps = |start: i64, whole: usize| start + self.side > 0 && start < whole as i64;
        self.side > 1 && overlaps(self.x, width) && overlaps(self.y, height)
    }

    /// Returns the intersection of two windows as a share of their union.
    fn overlap(&self, other: &Self) -> f64 {
        let along = |one: i64, other: i64, (a, b): (i64, i64)| {
            ((one + a).min(other + b) - one.max(other)).max(0)
        };
        let sides = (self.side, other.side);
        let intersection = along(self.x, other.x, sides) * along(self.y, other.y, sides);
        let both = self.side * self.side + other.side * other.side - intersection;
        intersection as f64 / both.max(1) as f64
    }

    pub(crate) fn face(&self) -> Option<Face> {
        Some(Face {
            x: i32::try_from(self.x).ok()?,
            y: i32::try_from(self.y).ok()?,
            side: u32::try_from(self.side).ok()?,
            score: self.score,
        })
    }
}

/// Merges windows whose intersection is more than `same` of their union (0 to 1). Returns the best window of each
/// group, with the sum of the group's scores.
pub(crate) fn strongest(mut windows: Vec<Window>, same: f64) -> Vec<Window> {
    windows.sort_by(|one, other| other.score.total_cmp(&one.score));
    windows.truncate(MOST);
    let mut winners = Vec::new();
    while let Some((&best, rest)) = windows.split_first() {
        let (group, others): (Vec<Window>, Vec<Window>) =
            rest.iter().partition(|window| best.overlap(window) > same);
        let score = group
            .iter()
            .fold(best.score, |sum, window| sum + window.score);
        winners.push(Window { score, ..best });
        windows = others;
    }
    winners
}
