//! The slow, obvious executor.

use andon_recipe::{Colour, Flatten, Recipe, Scaling};

use crate::effects;
use crate::geometry::{self, Kernel};
use crate::picture::Picture;
use crate::wishes::Source;

/// What a recipe makes of a picture: every step in its order.
pub(crate) fn execute(recipe: &Recipe, source: &Source) -> Picture {
    let upright = if recipe.orient {
        source.orientation()
    } else {
        andon_pixels::Orientation::default()
    };
    let mut picture = geometry::turned(source.picture(), upright.then(recipe.turn));
    let layout = recipe
        .layout(picture.width as u32, picture.height as u32)
        .expect("a layout");
    if layout.original {
        return source.picture();
    }
    if let Some(scaling) = layout.scaling {
        picture = scaled(&picture, scaling, source);
    }
    if let Some(canvas) = &layout.canvas {
        picture = geometry::on_canvas(&picture, canvas);
    }
    let ground = match recipe.flatten {
        Flatten::Over(colour) => Some(colour),
        Flatten::IfNeeded
            if recipe
                .output
                .format
                .as_ref()
                .is_some_and(|f| f.as_str() == "jpeg") =>
        {
            Some(Colour::WHITE)
        }
        _ => None,
    };
    if let Some(ground) = ground {
        picture = geometry::flattened(&picture, ground);
    }
    for effect in &recipe.effects {
        picture = effects::act(&picture, effect, &layout);
    }
    picture
}

fn scaled(picture: &Picture, scaling: Scaling, source: &Source) -> Picture {
    let Some(rect) = scaling.from else {
        return Picture::new(scaling.width as usize, scaling.height as usize, |_, _| {
            [0.0; 4]
        });
    };
    let grows = u64::from(scaling.width) * u64::from(scaling.height)
        > u64::from(rect.w) * u64::from(rect.h);
    let kernel = if grows || source.soft() {
        Kernel::Mitchell
    } else {
        Kernel::Lanczos3
    };
    let part = geometry::cropped(picture, rect);
    if (part.width, part.height) == (scaling.width as usize, scaling.height as usize) {
        return part;
    }
    geometry::resampled(&part, scaling.width, scaling.height, kernel)
}
