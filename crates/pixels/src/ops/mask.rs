//! `mask:SHAPE:COLOUR`: cuts an image to a shape.

use std::f64::consts::{PI, TAU};

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::outline::{Outlined, Point, arc};
use crate::error::Result;
use crate::stage::{Op, Stage, wrong};

/// Cuts an image to a shape.
pub(super) struct Mask;

const SHAPE: Arg = Arg::choice("shape", Effect::MASKS).help(
    "each as large as the image allows, a corner at the top (-180: at the bottom); ellipse: in the form of the image",
);

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
    let middle = (w / 2.0, h / 2.0);
    // Returns `count` corners at equal angles, the first of them `first` radians clockwise from the top. Every other
    // corner lies on a circle of radius `inner`.
    let corners = |count: u32, first: f64, inner: f64| {
        let corner = |index: u32| {
            let radius = if index.is_multiple_of(2) { 1.0 } else { inner };
            let angle = first - PI / 2.0 + TAU * f64::from(index) / f64::from(count);
            (radius * angle.cos(), radius * angle.sin())
        };
        fitted((0..count).map(corner).collect(), w, h)
    };
    match shape {
        "circle" => arc(middle, (w.min(h) / 2.0, w.min(h) / 2.0), 0.0, TAU),
        "ellipse" => arc(middle, middle, 0.0, TAU),
        "triangle" => corners(3, 0.0, 1.0),
        "triangle-180" => corners(3, PI, 1.0),
        "pentagon" => corners(5, 0.0, 1.0),
        "pentagon-180" => corners(5, PI, 1.0),
        "hexagon" => corners(6, 0.0, 1.0),
        "square" => corners(4, 0.0, 1.0),
        // With this radius the inner corners lie where the sides of a pentagram cross.
        "star" => corners(10, 0.0, 0.381_966),
        _ => fitted(heart(), w, h),
    }
}

/// Scales a shape to the largest size at which its bounding box fits into an image, and centres it.
fn fitted(mut shape: Vec<Point>, w: f64, h: f64) -> Vec<Point> {
    let range = |side: fn(&Point) -> f64| {
        let sides = || shape.iter().map(side);
        (
            sides().fold(f64::MAX, f64::min),
            sides().fold(f64::MIN, f64::max),
        )
    };
    let (x, y) = (range(|point| point.0), range(|point| point.1));
    let scale = (w / (x.1 - x.0)).min(h / (y.1 - y.0));
    for point in &mut shape {
        point.0 = w / 2.0 + scale * (point.0 - f64::midpoint(x.0, x.1));
        point.1 = h / 2.0 + scale * (point.1 - f64::midpoint(y.0, y.1));
    }
    shape
}

/// Returns the outline of a heart, a curve composed of sines.
fn heart() -> Vec<Point> {
    let point = |step: u32| {
        let t = TAU * f64::from(step) / 720.0;
        let up = 13.0 * t.cos() - 5.0 * (2.0 * t).cos() - 2.0 * (3.0 * t).cos() - (4.0 * t).cos();
        (16.0 * t.sin().powi(3), -up)
    };
    (0..720).map(point).collect()
}
