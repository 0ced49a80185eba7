//! The slow, obvious executor of recipes.

use andon_pixels::Orientation;
use andon_recipe::{Crop, Exact, Length, Orient, Original, Recipe, Rotate, Step};

use crate::effects;
use crate::geometry::{self, Kernel};
use crate::image::Image;
use crate::wishes::Source;

/// Applies every step of a resolved recipe to an image, in order and by the step's definition. `opaque` tells that the
/// result's format stores no opacity.
pub(crate) fn execute(recipe: &Recipe, source: &Source, opaque: bool) -> Image {
    let mut image = source.image();
    // Images that may be transparent are resampled with the softer kernel, until they are composited over a background.
    let mut alpha = source.alpha();
    // Scaling is in linear light until something is painted.
    let mut light = recipe.output.linear;
    for step in &recipe.steps {
        light &= !matches!(step, Step::Canvas(_) | Step::Rotate(_) | Step::Effect(_));
        image = match step {
            Step::Original(Original) => image,
            Step::Orient(Orient) => geometry::turned(image, source.orientation()),
            Step::Turn(turn) => geometry::turned(image, Orientation::default().then(*turn)),
            Step::Flip(flip) => geometry::turned(image, Orientation::default().flipped(*flip)),
            Step::Crop(Crop::At { x, y, w, h }) => {
                let [x, y, w, h] = [x, y, w, h].map(px);
                Image::new(w, h, |at, row| image.at(at + x, row + y))
            }
            Step::Exact(Exact { w, h }) => {
                let soft = alpha || source.palette();
                match light {
                    false => scaled(&image, px(w), px(h), soft),
                    true => {
                        let light = geometry::curved(&image, geometry::to_light);
                        let small = scaled(&light, px(w), px(h), soft);
                        geometry::curved(&small, geometry::from_light)
                    }
                }
            }
            Step::Canvas(canvas) => {
                alpha = canvas.colour.a < 255;
                geometry::on_canvas(&image, canvas)
            }
            Step::Rotate(Rotate { degrees, colour }) => {
                alpha = colour.a < 255;
                geometry::rotated(&image, *degrees, *colour)
            }
            Step::Effect(effect) => effects::act(&image, effect),
            other => panic!("{other} is not resolved"),
        };
    }
    match recipe.output.background.colour() {
        Some(colour) if opaque => geometry::flattened(&image, colour),
        _ => image,
    }
}

/// Returns the whole pixels of a resolved length.
pub(crate) fn px(length: &Length) -> usize {
    match length {
        Length::Px(px) => *px as usize,
        Length::Percent(_) => panic!("{length} is not resolved"),
    }
}

fn scaled(image: &Image, width: usize, height: usize, soft: bool) -> Image {
    let grows = width * height > image.width * image.height;
    let kernel = if grows || soft {
        Kernel::Mitchell
    } else {
        Kernel::Lanczos3
    };
    geometry::resampled(image, width as u32, height as u32, kernel)
}
