//! `mask:SHAPE:COLOUR`: a picture in the form of a shape.

use std::f64::consts::{PI, TAU};

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::outline::{Outlined, Point, arc};
use crate::error::Result;
use crate::stage::{Op, Stage, wrong};

/// Cuts a shape out of a picture.
pub(super) struct Mask;

const SHAPE: Arg = Arg::choice(
    "shape",
    &[
        "circle",
        "ellipse",
        "triangle",
        "triangle-180",
        "pentagon",
        "pentagon-180",
        "hexagon",
        "square",
        "star",
        "heart",
    ],
)
.help("ellipse: as large as the image; the others lie in the largest circle in its middle, a corner at the top (-180: at the bottom), the square upright");

const WORD: Word = Word {
    name: "mask",
    args: &[
        SHAPE,
        Arg::colour("colour")
            .default("00000000")
            .help("what shows around it"),
    ],
    help: "keeps a shape of the image",
    example: "mask:circle",
};

impl Op for Mask {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [shape, colour] = WORD.read(&effect.args)?;
            let shape = SHAPE.read_choice(shape.unwrap_or_default())?;
            let colour = colour.map_or(Ok(Colour::CLEAR), str::parse)?;
            Ok::<_, ParseError>((shape, colour))
        };
        let (shape, colour) = read().map_err(|error| wrong(effect, &error))?;
        Ok(Some(Box::new(Outlined {
            effect: effect.clone(),
            outline: Box::new(move |w, h| outline(shape, w, h)),
            colour,
        })))
    }
}

fn outline(shape: &str, w: f64, h: f64) -> Vec<Point> {
    let radius = w.min(h) / 2.0;
    let middle = (w / 2.0, h / 2.0);
    // Corners at equal angles, from the top on; every other one may lie on a smaller circle.
    let corners = |count: u32, first: f64, inner: f64| {
        let corner = |index: u32| {
            let radius = radius * if index.is_multiple_of(2) { 1.0 } else { inner };
            let angle = first - PI / 2.0 + TAU * f64::from(index) / f64::from(count);
            (
                middle.0 + radius * angle.cos(),
                middle.1 + radius * angle.sin(),
            )
        };
        (0..count).map(corner).collect()
    };
    match shape {
        "circle" => arc(middle, (radius, radius), 0.0, TAU),
        "ellipse" => arc(middle, middle, 0.0, TAU),
        "triangle" => corners(3, 0.0, 1.0),
        "triangle-180" => corners(3, PI, 1.0),
        "pentagon" => corners(5, 0.0, 1.0),
        "pentagon-180" => corners(5, PI, 1.0),
        "hexagon" => corners(6, 0.0, 1.0),
        "square" => corners(4, PI / 4.0, 1.0),
        // The inner corners lie where the sides of a pentagram cross.
        "star" => corners(10, 0.0, 0.381_966),
        _ => heart(middle, radius),
    }
}

/// A curve of sines, as wide as the circle.
fn heart((x, y): Point, radius: f64) -> Vec<Point> {
    let point = |step: u32| {
        let t = TAU * f64::from(step) / 720.0;
        let across = 16.0 * t.sin().powi(3);
        let up = 13.0 * t.cos() - 5.0 * (2.0 * t).cos() - 2.0 * (3.0 * t).cos() - (4.0 * t).cos();
        // From 17 below to 11.92 above.
        (x + radius * across / 16.0, y - radius * (up + 2.54) / 16.0)
    };
    (0..720).map(point).collect()
}
