//! Quarter turns and mirrorings, and their combinations.

use crate::{Flip, Step, Turn};

/// A combination of mirroring and turning: the image is first mirrored left to right, then turned clockwise. EXIF
/// describes in these terms how to turn a stored image upright.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orientation {
    /// Whether the image is mirrored left to right, before it is turned.
    pub mirror: bool,
    /// Clockwise quarter turns after mirroring, 0 to 3.
    pub quarters: u8,
}

impl Orientation {
    /// Creates an orientation from its EXIF value. Anything but 1–8 is upright.
    #[must_use]
    pub fn from_exif(value: u16) -> Self {
        let (mirror, quarters) = match value {
            2 => (true, 0),
            3 => (false, 2),
            4 => (true, 2),
            5 => (true, 3),
            6 => (false, 1),
            7 => (true, 1),
            8 => (false, 3),
            _ => (false, 0),
        };
        Self { mirror, quarters }
    }

    /// Returns the EXIF value of this orientation, 1 to 8.
    #[must_use]
    pub fn exif(self) -> u16 {
        let same = |number: &u16| Self::from_exif(*number) == self;
        (1..=8).find(same).unwrap_or(1)
    }

    /// Returns this orientation followed by a turn.
    #[must_use]
    pub fn then(self, turn: Turn) -> Self {
        let more = match turn {
            Turn::R90 => 1,
            Turn::R180 => 2,
            Turn::R270 => 3,
        };
        Self {
            mirror: self.mirror,
            quarters: (self.quarters + more) % 4,
        }
    }

    /// Returns this orientation followed by a mirroring.
    #[must_use]
    pub fn flipped(self, flip: Flip) -> Self {
        // A mirroring after a turn equals a mirroring before the opposite turn.
        let mirrored = Self {
            mirror: !self.mirror,
            quarters: (4 - self.quarters) % 4,
        };
        match flip {
            Flip::Horizontal => mirrored,
            Flip::Vertical => mirrored.then(Turn::R180),
            Flip::Both => self.then(Turn::R180),
        }
    }

    /// Returns this orientation followed by another.
    #[must_use]
    pub fn followed_by(self, other: Self) -> Self {
        let mirrored = match other.mirror {
            true => self.flipped(Flip::Horizontal),
            false => self,
        };
        Self {
            mirror: mirrored.mirror,
            quarters: (mirrored.quarters + other.quarters) % 4,
        }
    }

    /// Returns the shortest list of steps that have the same effect.
    pub fn steps(self) -> impl Iterator<Item = Step> {
        let flip = match (self.mirror, self.quarters) {
            (false, _) => None,
            (true, 2) => Some(Flip::Vertical),
            (true, _) => Some(Flip::Horizontal),
        };
        let turn = match (self.mirror, self.quarters) {
            (true, 2) | (_, 0) => None,
            (_, 1) => Some(Turn::R90),
            (_, 2) => Some(Turn::R180),
            _ => Some(Turn::R270),
        };
        let turn = turn.map(Step::Turn);
        flip.map(Step::Flip).into_iter().chain(turn)
    }

    /// Whether this orientation changes nothing.
    #[must_use]
    pub fn is_upright(self) -> bool {
        self == Self::default()
    }

    /// Returns the size that a stored image of `width` × `height` has in this orientation.
    #[must_use]
    pub fn size(self, width: u32, height: u32) -> (u32, u32) {
        if self.quarters % 2 == 1 {
            (height, width)
        } else {
            (width, height)
        }
    }

    /// Returns where a point of a stored image of this size lies after the image is oriented.
    #[must_use]
    pub fn point(self, (x, y): (f64, f64), (width, height): (f64, f64)) -> (f64, f64) {
        let (mut point, mut size) = ((x, y), (width, height));
        if self.mirror {
            point.0 = size.0 - point.0;
        }
        for _ in 0..self.quarters {
            // A clockwise quarter turn moves (x, y) to (height - y, x).
            point = (size.1 - point.1, point.0);
            size = (size.1, size.0);
        }
        point
    }

    /// Returns where a part of a stored image of this size lies after the image is oriented: left, top, right and
    /// bottom edge.
    #[must_use]
    pub fn part(self, [left, top, right, bottom]: [f64; 4], size: (f64, f64)) -> [f64; 4] {
        let (one, other) = (
            self.point((left, top), size),
            self.point((right, bottom), size),
        );
        [
            one.0.min(other.0),
            one.1.min(other.1),
            one.0.max(other.0),
            one.1.max(other.1),
        ]
    }

    /// Returns which corner of a stored image becomes the upper left one: whether it is a right corner, and whether it
    /// is a bottom corner.
    #[must_use]
    pub fn first_corner(self) -> (bool, bool) {
        let corners = [(false, false), (true, false), (false, true), (true, true)];
        let is_first = |&(right, bottom): &(bool, bool)| {
            let corner = (f64::from(u8::from(right)), f64::from(u8::from(bottom)));
            self.point(corner, (1.0, 1.0)) == (0.0, 0.0)
        };
        corners.into_iter().find(is_first).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Orientation> {
        (1..=8).map(Orientation::from_exif)
    }

    #[test]
    fn one_after_the_other_moves_points_as_both_do() {
        let size = (30.0, 20.0);
        for first in all() {
            for second in all() {
                let between = first.size(30, 20);
                let between = (f64::from(between.0), f64::from(between.1));
                let both = first.followed_by(second);
                assert_eq!(
                    both.point((3.0, 5.0), size),
                    second.point(first.point((3.0, 5.0), size), between),
                    "{first:?} {second:?}"
                );
            }
        }
    }

    #[test]
    fn its_steps_bring_it_about() {
        for orientation in all() {
            let mut made = Orientation::default();
            for step in orientation.steps() {
                made = match step {
                    Step::Turn(turn) => made.then(turn),
                    Step::Flip(flip) => made.flipped(flip),
                    other => panic!("{other}"),
                };
            }
            assert_eq!(made, orientation);
        }
    }
}
