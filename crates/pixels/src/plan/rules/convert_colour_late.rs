//! Bring colours to another space on the small picture, and only where they must be.

use andon_recipe::Strip;

use super::{Example, Rule};
use crate::codec::{Codec, Info, Scales, Tags};
use crate::frame::{Model, Traits};
use crate::plan::draft::Draft;
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
    act,
};

/// What is decoded. A recipe that strips profiles first wants the numbers as they are.
pub(crate) fn decoded(
    strip: Option<Strip>,
    source: &dyn Codec,
    info: &Info,
    scales: Scales,
) -> Traits {
    let mut traits = source.decoded(info, scales);
    if strip == Some(Strip::First) {
        traits.space = Space::UNSPECIFIED;
    }
    traits
}

/// Converts before anything is painted: out of CMYK by its profile, and to sRGB where the result could not say
/// otherwise.
fn act(draft: &mut Draft<'_>) -> bool {
    let have = draft.full;
    let out_of_cmyk = have.model == Model::Cmyk && draft.leaves.is_some();
    let untagged = draft.target.tags() == Tags::None && draft.strip().is_none();
    if have.space.is_srgb() || !(out_of_cmyk || untagged) {
        return false;
    }
    let to = draft.leaves.unwrap_or(Traits {
        alpha: have.alpha,
        ..draft.needed
    });
    draft.leaves = Some(Traits {
        space: Space::UNSPECIFIED,
        ..to
    });
    true
}
