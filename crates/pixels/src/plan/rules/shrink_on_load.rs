//! Decode no more pixels than the result needs.

use super::{Example, Rule};
use crate::codec::{Codec, Info, Scale, Scales};
use crate::frame::{Model, Subsampling};
use crate::plan::draft::Draft;
use crate::plan::view::Stored;

pub(crate) static RULE: Rule = Rule {
    name: "shrink_on_load",
    reason: "a JPEG decodes at 1/2, 1/4 or 1/8 for a fraction of the work; enough pixels are kept for \
             the resampler to decide the sharpness, and thinner chroma is decoded smaller still",
    example: Example {
        source: "jpeg 4000x3000 ycbcr420 q90",
        recipe: "fit:400x300",
        plan: "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | encode jpeg q90",
    },
    act,
};

/// The minimum number of decoded pixels per result pixel, along each side, that the resampler is left with.
///
/// Measured on sixteen photos of 8 to 15 megapixels, against a full decode and Lanczos3 in floats: mean PSNR in dB of
/// the image before and after JPEG at q80 4:2:0, and the time relative to that with 1.5. Columns are values of this
/// number, rows are the longest side of the result in px.
///
/// | longest side | 1.0 | 1.25 | 1.5 | 2.0 | 3.0 | full decode |
/// |---|---|---|---|---|---|---|
/// | 150, before | 51.49 | 51.49 | 51.49 | 51.49 | 51.49 | 53.51 |
/// | 150, after | 32.12 | 32.12 | 32.12 | 32.12 | 32.12 | 32.15 |
/// | 150, time | 1 | 1 | 1 | 1 | 1 | 14 |
/// | 400, before | 42.27 | 51.84 | 51.84 | 52.13 | 53.79 | 54.08 |
/// | 400, after | 33.84 | 34.29 | 34.29 | 34.29 | 34.31 | 34.31 |
/// | 400, time | 0.3 | 1 | 1 | 1.1 | 1.7 | 4 |
/// | 1200, before | 52.28 | 52.28 | 52.65 | 54.68 | 54.76 | 54.76 |
/// | 1200, after | 36.63 | 36.63 | 36.63 | 36.65 | 36.65 | 36.65 |
/// | 1200, time | 0.9 | 1 | 1 | 1.8 | 2 | 1.9 |
///
/// Below 1.25 the decoder's coarse sampling is visible. Above it, there is no gain that survives the encoder. Where
/// 1.25 and 1.5 differ (8 and 15 megapixels to 1200 and 400 px, other photos), 1.25 takes two thirds of the processor
/// time and costs 0.01 and 0.3 dB after JPEG. 1.35 has most of that saving: for photos of 3:2 and 4:3 with 4, 8 and 15
/// megapixels, the available scales leave 1.36 to 1.44 at the usual sizes.
pub(crate) const HEADROOM: f64 = 1.35;

/// Decides the scales at which the source is decoded.
fn act(draft: &mut Draft<'_>) -> bool {
    if !draft.frames.is_first() || draft.drawing.is_some() {
        // Animations are composed at full size, and a drawing already has its size.
        return false;
    }
    let (source, info, stored) = (draft.source, draft.info, &draft.stored);
    let headroom = draft.formats.headroom;
    draft.scales = match draft.runs.measured {
        // A decoder shrinks in stored values, not in linear light.
        Scale::FULL if draft.light().is_some() => return false,
        Scale::FULL => scales(source, info, stored, draft.chroma, headroom),
        measured => {
            // Decode luma at the scale in the recipe, or the next larger one that the codec offers.
            let mut candidates = source.scales(info).iter().copied();
            let luma = candidates.find(|scale| *scale >= measured);
            let luma = luma.unwrap_or(Scale::FULL);
            let chroma = chroma_scale(source, info, stored, draft.chroma, headroom, luma);
            Scales { luma, chroma }
        }
    };
    draft.scales != Scales::FULL
}

/// Returns the smallest decoding scales that leave at least `headroom` decoded samples per result sample, for luma and
/// for chroma. Each scale is compared with its own plane of the result, whose subsampling will be `chroma`.
pub(in crate::plan) fn scales(
    codec: &dyn Codec,
    info: &Info,
    stored: &Stored,
    chroma: Option<Subsampling>,
    headroom: f64,
) -> Scales {
    let Some(from) = stored.from else {
        // No part of it is visible, so decode it as small as possible.
        return Scales::both(codec.scales(info).first().copied().unwrap_or(Scale::FULL));
    };
    let to = (f64::from(stored.to.0), f64::from(stored.to.1));
    let luma = codec
        .scales(info)
        .iter()
        .copied()
        .find(|scale| {
            from.w * scale.factor() >= headroom * to.0 && from.h * scale.factor() >= headroom * to.1
        })
        .or(codec.scales(info).last().copied())
        .unwrap_or(Scale::FULL);
    Scales {
        luma,
        chroma: chroma_scale(codec, info, stored, chroma, headroom, luma),
    }
}

/// Returns the decoding scale of chroma for a given scale of luma: luma's own, if the codec cannot decode them at
/// different scales.
fn chroma_scale(
    codec: &dyn Codec,
    info: &Info,
    stored: &Stored,
    chroma: Option<Subsampling>,
    headroom: f64,
    luma: Scale,
) -> Scale {
    let (Model::YCbCr { sub, .. }, Some(result_sub), Some(from)) =
        (info.model, chroma, stored.from)
    else {
        return luma;
    };
    if !codec.splits_chroma(info, luma) || !stored.shrinks() {
        return luma;
    }
    let have = (from.w / f64::from(sub.h), from.h / f64::from(sub.v));
    let target = (
        f64::from(stored.to.0) / f64::from(result_sub.h),
        f64::from(stored.to.1) / f64::from(result_sub.v),
    );
    codec
        .scales(info)
        .iter()
        .copied()
        .find(|scale| {
            fits_under(*scale, luma, sub)
                && have.0 * scale.factor() >= headroom * target.0
                && have.1 * scale.factor() >= headroom * target.1
        })
        .unwrap_or(luma)
}

/// Whether a frame can hold chroma decoded at one scale with luma decoded at another: chroma must have full, half or a
/// quarter of luma's resolution.
fn fits_under(chroma: Scale, luma: Scale, stored: Subsampling) -> bool {
    [1, 2, 4]
        .iter()
        .any(|ratio| luma.0 == chroma.0 * ratio && stored.h * ratio <= 4 && stored.v * ratio <= 4)
}
