//! Decode no finer than the result needs.

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

/// How many decoded pixels per result pixel the resampler is left with at least, along each side.
///
/// Measured on sixteen photographs of 8 to 15 megapixels, against a full decode and Lanczos3 in floats:
/// mean PSNR in dB of the image before and after JPEG at q80 4:2:0, and the time of 1.5 as 1.
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
/// Below 1.25 the decoder's coarse sampling shows; beyond it nothing is gained that survives the encoder. Where 1.25 and 1.5 differ (8 and 15
/// megapixels to 1200 and 400 px, other photographs), 1.25 takes two thirds of the processor time and costs 0.01 and 0.3 dB after JPEG. 1.35
/// has most of that: photographs of 3:2 and 4:3 with 4, 8 and 15 megapixels leave 1.36 to 1.44 at the usual sizes.
pub(crate) const HEADROOM: f64 = 1.35;

/// Decides the scales at which the source is decoded.
fn act(draft: &mut Draft<'_>) -> bool {
    if !draft.frames.is_first() || draft.drawing.is_some() {
        // They are composed in full; and what is drawn has its size.
        return false;
    }
    let (source, info, stored) = (draft.source, draft.info, &draft.stored);
    let headroom = draft.formats.headroom;
    draft.scales = match draft.runs.measured {
        // A decoder shrinks what is stored.
        Scale::FULL if draft.light().is_some() => return false,
        Scale::FULL => scales(source, info, stored, draft.chroma, headroom),
        measured => {
            // Luma at the scale that was asked for, or the next that the codec offers.
            let mut offered = source.scales(info).iter().copied();
            let luma = offered.find(|scale| *scale >= measured);
            let luma = luma.unwrap_or(Scale::FULL);
            let chroma = chroma_scale(source, info, stored, draft.chroma, headroom, luma);
            Scales { luma, chroma }
        }
    };
    draft.scales != Scales::FULL
}

/// Returns the smallest decoding scales that leave at least `headroom` decoded samples per result sample, for luma and
/// for chroma. Each is measured against its own plane of the result, whose subsampling will be `chroma`.
pub(in crate::plan) fn scales(
    codec: &dyn Codec,
    info: &Info,
    stored: &Stored,
    chroma: Option<Subsampling>,
    headroom: f64,
) -> Scales {
    let Some(from) = stored.from else {
        // Nothing of it is seen: its pixels matter only as far as they must exist.
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

/// Returns the decoding scale of chroma for a given scale of luma; luma's own, where the codec cannot decode them at
/// different scales.
fn chroma_scale(
    codec: &dyn Codec,
    info: &Info,
    stored: &Stored,
    chroma: Option<Subsampling>,
    headroom: f64,
    luma: Scale,
) -> Scale {
    let (Model::YCbCr { sub, .. }, Some(wanted), Some(from)) = (info.model, chroma, stored.from)
    else {
        return luma;
    };
    if !codec.splits_chroma(info, luma) || !stored.shrinks() {
        return luma;
    }
    let have = (from.w / f64::from(sub.h), from.h / f64::from(sub.v));
    let need = (
        f64::from(stored.to.0) / f64::from(wanted.h),
        f64::from(stored.to.1) / f64::from(wanted.v),
    );
    codec
        .scales(info)
        .iter()
        .copied()
        .find(|scale| {
            fits_under(*scale, luma, sub)
                && have.0 * scale.factor() >= headroom * need.0
                && have.1 * scale.factor() >= headroom * need.1
        })
        .unwrap_or(luma)
}

/// Whether a frame can hold chroma decoded at one scale beside luma at another: frames hold chroma at full, a half or a
/// quarter of luma's resolution, and no less.
fn fits_under(chroma: Scale, luma: Scale, stored: Subsampling) -> bool {
    [1, 2, 4]
        .iter()
        .any(|ratio| luma.0 == chroma.0 * ratio && stored.h * ratio <= 4 && stored.v * ratio <= 4)
}
