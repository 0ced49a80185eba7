//! Leave out stages that change nothing, and copy pixels where resampling would only copy them.

use super::{Example, Rule};
use crate::codec::{Info, Scales};
use crate::frame::{Model, Subsampling};
use crate::plan::draft::{Draft, First};
use crate::plan::view::Stored;
use crate::resize::Crop;

pub(crate) static RULE: Rule = Rule {
    name: "skip_identity",
    reason: "an image that already has its size is not resampled, for whole pixels can be taken as \
             they are, which is both faster and exact",
    example: Example {
        source: "png 400x300 rgb",
        recipe: "crop:10:20:100x100,as:jpeg",
        plan: "decode png rgb | crop 10,20 100x100 | convert ycbcr444 | encode jpeg",
    },
    act,
};

/// Decides how the decoded image is brought to the part and size that are shown. Returns whether the geometry of the
/// recipe amounts to copying pixels.
fn act(draft: &mut Draft<'_>) -> bool {
    if draft.drawing.is_some() {
        return false;
    }
    draft.first = cheaper(draft.info, &draft.stored, draft.scales, draft.chroma)
        .unwrap_or_else(|| draft.resample());
    let geometry =
        draft.runs.first.is_scaled || draft.stored.to != (draft.info.width, draft.info.height);
    geometry && matches!(draft.first, First::Nothing | First::Crop(_))
}

/// Returns a replacement that is cheaper than resampling the image decoded at `scales`, if there is one: no change
/// at all, or cropping whole pixels. `chroma` is the subsampling that the result must have.
fn cheaper(
    info: &Info,
    stored: &Stored,
    scales: Scales,
    chroma: Option<Subsampling>,
) -> Option<First> {
    let from = stored.from?;
    let whole = (from.x, from.y) == (0.0, 0.0)
        && (from.w, from.h) == (f64::from(info.width), f64::from(info.height));
    if whole && stored.to == info.scaled(scales.luma) {
        return Some(First::Nothing);
    }
    let factor = scales.luma.factor();
    let (x, y) = (from.x * factor, from.y * factor);
    let as_large =
        (from.w * factor, from.h * factor) == (f64::from(stored.to.0), f64::from(stored.to.1));
    // If chroma has to change, one resampling crops and subsamples in a single pass.
    let same_chroma = match info.model {
        Model::YCbCr { sub, .. } => chroma == Some(scales.subsampling(sub)),
        _ => true,
    };
    let copies = as_large && x.fract() == 0.0 && y.fract() == 0.0 && same_chroma;
    copies.then_some(First::Crop(Crop {
        x: x as u32,
        y: y as u32,
        width: stored.to.0,
        height: stored.to.1,
    }))
}
