//! Keep luma and chroma separate from the decoder to the encoder.

use super::{Example, Rule};
use crate::codec::Orientation;
use crate::frame::{Model, Subsampling, Traits};
use crate::plan::draft::{Draft, turned_sub};
use crate::space::Matrix;

pub(crate) static RULE: Rule = Rule {
    name: "stay_in_planes",
    reason: "JPEG and WebP store luma and thinned chroma; resampling those planes straight to the \
             subsampling that is written saves two colour conversions and half of the samples",
    example: Example {
        source: "jpeg 1600x1200 ycbcr444 q95",
        recipe: "fit:400x300,chroma:420",
        plan: "decode jpeg 1/2 chroma 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg q95",
    },
    act,
};

/// Returns the subsampling that resampling should produce, before any turn, so that chroma is resampled once and not
/// subsampled in between: that of the encoder, or `Subsampling::NONE` if the encoder needs RGB. The green, blue and red
/// planes of the identity matrix are not chroma, because each holds a part of luma, so they are not subsampled. `None`:
/// the model of the image is not YCbCr.
fn chroma(have: Traits, encoder_traits: Traits, orientation: Orientation) -> Option<Subsampling> {
    let Model::YCbCr { matrix, .. } = have.model else {
        return None;
    };
    Some(match encoder_traits.model {
        Model::YCbCr { sub, .. } if matrix != Matrix::Identity => turned_sub(sub, orientation),
        _ => Subsampling::NONE,
    })
}

/// Decides the subsampling that resampling produces. Returns whether the image stays in luma and chroma planes of the
/// same matrix from decoder to encoder.
fn act(draft: &mut Draft<'_>) -> bool {
    if draft.light().is_some() {
        // Scaling in linear light requires RGB.
        return false;
    }
    draft.chroma = chroma(draft.full, draft.encoder_traits, draft.orientation());
    let matrix = |model| match model {
        Model::YCbCr { matrix, .. } => Some(matrix),
        _ => None,
    };
    let have = matrix(draft.full.model);
    have.is_some() && have == matrix(draft.encoder_traits.model)
}
