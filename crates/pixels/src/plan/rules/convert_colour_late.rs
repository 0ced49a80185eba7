//! Convert colours to another space on the small image, and only where necessary.

use andon_recipe::Profile;

use super::{Example, Rule};
use crate::codec::Tags;
use crate::frame::{Model, Traits};
use crate::plan::draft::{Draft, Tag};
use crate::space::Space;

pub(crate) static RULE: Rule = Rule {
    name: "convert_colour_late",
    reason: "converting by a profile costs far more for each pixel than resampling, so it is done on the pixels that \
             are left; and not at all where the result can say what its colours mean",
    example: Example {
        source: "jpeg 4000x3000 cmyk icc",
        recipe: "fit:400x300",
        plan: "decode jpeg 1/4 cmyk | resize 400x300 lanczos3 | convert ycbcr444 srgb | encode jpeg",
    },
    act,
};

/// Returns the space to convert the result to; `None` keeps the source's own. CMYK becomes Display P3 only if the
/// recipe asks for it: some inks lie outside all screens' colours, and the others do not justify a wider space than
/// sRGB.
fn space(profile: Profile, model: Model, have: Space, tags: Tags) -> Option<Space> {
    let wide = || (tags != Tags::None).then_some(Space::DISPLAY_P3);
    let codes = matches!(tags, Tags::IccOrCodePoints | Tags::IccAndCodePoints);
    let wider = match profile {
        Profile::Drop | Profile::Ignore => return None,
        Profile::Keep if tags != Tags::None && model != Model::Cmyk => return None,
        Profile::Unsaid if have.is_hdr() && codes => return None,
        Profile::Unsaid if have.is_wide() && model != Model::Cmyk => wide(),
        Profile::P3 => wide(),
        Profile::Keep | Profile::Srgb | Profile::Unsaid => None,
    };
    Some(wider.unwrap_or(Space::UNSPECIFIED))
}

/// Whether the source file already has the colour space that the recipe asks for, and declares it as requested.
pub(crate) fn keeps_file(draft: &Draft<'_>) -> bool {
    let (info, profile) = (draft.info, draft.profile());
    let print = info.model == Model::Cmyk;
    match profile {
        Profile::Keep => true,
        Profile::Drop => info.space == Space::UNSPECIFIED,
        Profile::Ignore => info.space == Space::UNSPECIFIED && !print,
        Profile::Unsaid | Profile::Srgb | Profile::P3 => {
            let space = space(profile, info.model, info.space, draft.tags());
            !print && space.is_none_or(|space| space.is_as(info.space))
        }
    }
}

/// Plans the colour conversion, which precedes all painting, and decides how the result declares its colour space.
fn act(draft: &mut Draft<'_>) -> bool {
    let (have, profile) = (draft.full, draft.profile());
    let stays_print = have.model == Model::Cmyk && draft.conversion.is_none();
    let space = match space(profile, have.model, have.space, draft.tags()) {
        _ if stays_print && profile == Profile::Keep => None,
        space => space,
    };
    draft.tag = match space {
        None if matches!(profile, Profile::Drop | Profile::Ignore) => Tag::None,
        None => Tag::Own,
        Some(space) if space.is_srgb() => Tag::None,
        Some(space) => Tag::Space(space),
    };
    let Some(space) = space.filter(|space| !space.is_as(have.space)) else {
        return false;
    };
    let to = draft.conversion.unwrap_or(Traits {
        alpha: have.alpha,
        ..draft.encoder_traits
    });
    draft.conversion = Some(Traits { space, ..to });
    true
}
