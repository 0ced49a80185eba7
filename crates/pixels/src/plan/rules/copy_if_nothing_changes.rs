//! Answer with the source's own bytes.

use andon_recipe::{Flatten, Layout, Original, Recipe, Turn};

use super::{Example, Rule};
use crate::codec::{Info, Scale};
use crate::frame::Model;

pub(crate) static RULE: Rule = Rule {
    name: "copy_if_nothing_changes",
    reason: "decoding and encoding again would cost time and quality and change nothing that was \
             asked for",
    example: Example {
        source: "jpeg 400x300 ycbcr420 q90",
        recipe: "fit:800x800",
        plan: "copy jpeg",
    },
};

/// Is every wish already true of the source? `acting_effects` counts effects that do something;
/// `same_format` tells whether the result's format is the source's; `measured` is the hint's scale.
pub(crate) fn holds(
    recipe: &Recipe,
    info: &Info,
    layout: &Layout,
    acting_effects: usize,
    same_format: bool,
    measured: Scale,
) -> bool {
    if recipe.original == Original::Always || layout.original {
        return true;
    }
    let turns = recipe.turn != Turn::R0 || (recipe.orient && !info.orientation.is_upright());
    let strips = recipe.strip && info.metadata;
    let flattens = info.alpha && matches!(recipe.flatten, Flatten::Over(_));
    let converts = recipe.srgb && info.model == Model::Cmyk;
    let output = &recipe.output;
    let rewrites = !same_format
        || output.quality.is_some()
        || output.chroma.is_some()
        || output.effort.is_some()
        || output.progressive != info.progressive;
    let reshapes = measured != Scale::FULL || layout.canvas.is_some() || scales(layout);
    !(turns || strips || flattens || converts || rewrites || reshapes || acting_effects > 0)
}

/// Does the layout's scaling change anything?
fn scales(layout: &Layout) -> bool {
    layout.scaling.is_some_and(|scaling| {
        let whole = scaling.from.is_some_and(|rect| {
            (rect.x, rect.y, rect.w, rect.h) == (0, 0, layout.source.0, layout.source.1)
        });
        !whole || (scaling.width, scaling.height) != layout.source
    })
}
