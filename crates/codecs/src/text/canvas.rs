//! The surface on which the glyphs of a text are drawn, which is the image or a tile, and the rotation of the glyphs.

use andon_pixels::{Anchor, Text};

/// The rectangle that the lines of a text cover on the image before they are rotated, in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// The surface on which the glyphs of a text are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Canvas {
    /// Width in px.
    pub(crate) width: u32,
    /// Height in px.
    pub(crate) height: u32,
    /// Rotation and translation of the glyphs, or `None` if they stay where they are placed.
    pub(crate) turn: Option<Turn>,
}

/// A rotation about a point, followed by a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turn {
    /// Clockwise angle in degrees.
    pub(crate) degrees: f64,
    /// The centre of the rotation, in px.
    pub(crate) about: (f64, f64),
    /// Translation to the right and down, in px.
    pub(crate) by: (f64, f64),
}

impl Canvas {
    /// Returns the canvas for a text whose lines cover this block of its image.
    pub(super) fn of(text: &Text<'_>, block: &Block) -> Self {
        let image_size = (text.width, text.height);
        if let Some(room) = text.tile {
            let (width, height) = block.rotated_size(text.turn);
            let (width, height) = (width + room.across, height + room.down);
            return Self {
                // A tile larger than the image would be cut off.
                width: (width.round().max(1.0) as u32).min(image_size.0.max(1)),
                height: (height.round().max(1.0) as u32).min(image_size.1.max(1)),
                turn: Some(block.turn(text.turn, (width / 2.0, height / 2.0))),
            };
        }
        Self {
            width: image_size.0,
            height: image_size.1,
            turn: (text.turn % 360.0 != 0.0).then(|| {
                let (width, height) = block.rotated_size(text.turn);
                let across = middle(text.gravity.0, image_size.0, text.margin.0, width);
                let down = middle(text.gravity.1, image_size.1, text.margin.1, height);
                let to = match text.keeps_middle {
                    true => block.middle(),
                    false => (across, down),
                };
                block.turn(text.turn, to)
            }),
        }
    }
}

/// Returns the position of the middle of an object that is `length` px long, on a side of an image that is `side` px
/// long: where `gravity` and `margin` place the object.
fn middle(gravity: Anchor, side: u32, margin: f64, length: f64) -> f64 {
    match gravity {
        Anchor::Start => margin + length / 2.0,
        Anchor::Middle => f64::from(side) / 2.0,
        Anchor::End => f64::from(side) - margin - length / 2.0,
    }
}

impl Block {
    /// Returns width and height of the bounding box of the rotated block.
    fn rotated_size(&self, degrees: f64) -> (f64, f64) {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        (
            width * cos.abs() + height * sin.abs(),
            width * sin.abs() + height * cos.abs(),
        )
    }

    fn middle(&self) -> (f64, f64) {
        (
            f64::midpoint(self.left, self.right),
            f64::midpoint(self.top, self.bottom),
        )
    }

    /// Returns the rotation by `degrees` about the block's middle, followed by a translation that moves the middle to
    /// the point `to`.
    fn turn(&self, degrees: f64, to: (f64, f64)) -> Turn {
        let about = self.middle();
        Turn {
            degrees,
            about,
            by: (to.0 - about.0, to.1 - about.1),
        }
    }
}

/// Prints the rotation as the transform of an SVG element.
impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { degrees, about, by } = self;
        write!(
            f,
            "translate({:.3} {:.3}) rotate({degrees} {:.3} {:.3})",
            by.0, by.1, about.0, about.1
        )
    }
}
