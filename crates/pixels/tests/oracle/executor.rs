//! The slow, obvious executor of recipes.

use andon_pixels::Orientation;
use andon_recipe::{Crop, Exact, Length, Orient, Original, Recipe, Rotate, Step};

use crate::effects;
use crate::geometry::{self, Kernel};
use crate::picture::Picture;
use crate::wishes::Source;

/// Applies every step of a resolved recipe to an image, in order and by the step's definition. `opaque` tells that the
/// result's format stores no opacity.
pub(crate) fn execute(recipe: &Recipe, source: &Source, opaque: bool) -> Picture {
    let mut picture = source.picture();
    // Images that may be transparent are resampled with the softer kernel, until they are composited over a background.
    let mut alpha = source.alpha();
    // Scaling is in linear light until something is painted.
    let mut light = recipe.output.linear;
    for step in &recipe.steps {
        light &= !matches!(step, Step::Canvas(_) | Step::Rotate(_) | Step::Effect(_));
        picture = match step {
            Step::Original(Original) => picture,
            Step::Orient(Orient) => geometry::turned(picture, source.orientation()),
            Step::Turn(turn) => geometry::turned(picture, Orientation::default().then(*turn)),
            Step::Flip(flip) => geometry::turned(picture, Orientation::default().flipped(*flip)),
            Step::Crop(Crop::At { x, y, w, h }) => {
                let [x, y, w, h] = [x, y, w, h].map(px);
                Picture::new(w, h, |at, row| picture.at(at + x, row + y))
            }
            Step::Exact(Exact { w, h }) => {
                let soft = alpha || source.palette();
                match light {
                    false => scaled(&picture, px(w), px(h), soft),
                    true => {
                        let light = geometry::curved(&picture, geometry::to_light);
                        let small = scaled(&light, px(w), px(h), soft);
                        geometry::curved(&small, geometry::from_light)
                    }
                }
            }
            Step::Canvas(canvas) => {
                alpha = canvas.colour.a < 255;
                geometry::on_canvas(&picture, canvas)
            }
            Step::Rotate(Rotate { degrees, colour }) => {
                alpha = colour.a < 255;
                geometry::rotated(&picture, *degrees, *colour)
            }
            Step::Effect(effect) => effects::act(&picture, effect),
            other => panic!("{other} is not resolved"),
        };
    }
    match recipe.output.background.colour() {
        Some(colour) if opaque => geometry::flattened(&picture, colour),
        _ => picture,
    }
}

/// Returns the whole pixels of a resolved length.
pub(crate) fn px(length: &Length) -> usize {
    match length {
        Length::Px(px) => *px as usize,
        Length::Percent(_) => panic!("{length} is not resolved"),
    }
}

fn scaled(picture: &Picture, width: usize, height: usize, soft: bool) -> Picture {
    let grows = width * height > picture.width * picture.height;
    let kernel = if grows || soft {
        Kernel::Mitchell
    } else {
        Kernel::Lanczos3
    };
    geometry::resampled(picture, width as u32, height as u32, kernel)
}
