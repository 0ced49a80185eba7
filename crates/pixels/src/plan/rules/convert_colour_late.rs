//! Bring colours to another space on the small picture, and only where they must be.

use andon_recipe::Recipe;

use super::{Example, Rule};
use crate::codec::{Codec, Info, Scales, Tags};
use crate::frame::{Model, Traits};
use crate::space::Space;

pub(crate) static RULE: Rule = Rule {
    name: "convert_colour_late",
    reason: "converting by a profile costs far more for each pixel than resampling, so it is done on the pixels that \
             are left; and not at all where the result can say what its colours mean",
    example: Example {
        source: "jpeg 4000x3000 cmyk icc",
        recipe: "fit:400x300,srgb",
        plan: "decode jpeg 1/4 cmyk | resize 400x300 lanczos3 | convert ycbcr444 srgb | encode jpeg",
    },
};

/// What is decoded. A recipe that strips profiles does so first: it wants the numbers as they are.
pub(crate) fn decoded(recipe: &Recipe, source: &dyn Codec, info: &Info, scales: Scales) -> Traits {
    let mut traits = source.decoded(info, scales);
    if recipe.strip {
        traits.space = Space::UNSPECIFIED;
    }
    traits
}

/// What the picture becomes before anything is painted (`leaves`, if its model changes), in the space that it shall
/// have by then.
pub(crate) fn with_space(
    leaves: Option<Traits>,
    have: Traits,
    recipe: &Recipe,
    target: &dyn Codec,
) -> Option<Traits> {
    let out_of_cmyk = have.model == Model::Cmyk && leaves.is_some();
    let untagged = target.tags() == Tags::None && keeps_tags(recipe);
    let space = if out_of_cmyk || (untagged && !have.space.is_srgb()) {
        Space::UNSPECIFIED
    } else {
        have.space
    };
    match leaves {
        None if space == have.space => None,
        to => Some(Traits {
            space,
            ..to.unwrap_or(have)
        }),
    }
}

/// Does the result say what its colours mean, if it can? A canvas is a new picture, and says nothing.
pub(crate) fn keeps_tags(recipe: &Recipe) -> bool {
    !recipe.strip && recipe.canvas.is_none()
}
