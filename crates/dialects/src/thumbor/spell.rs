//! Writes plain requests as URLs of thumbor and imagor, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    let filters = [
        request.quality.map(|quality| format!("quality({quality})")),
        request.format.map(|format| format!("format({format})")),
        (request.how == How::Exact).then(|| "stretch()".to_owned()),
        (request.how != How::Fit && !request.enlarge).then(|| "no_upscale()".to_owned()),
        (request.how == How::Fit && request.enlarge).then(|| "upscale()".to_owned()),
    ];
    let filters = PlainRequest::join(filters, ":");
    let words = [
        (request.how == How::Fit && request.w > 0 && request.h > 0).then(|| "fit-in".to_owned()),
        (request.how != How::Nothing).then(|| format!("{}x{}", request.w, request.h)),
        (!filters.is_empty()).then(|| format!("filters:{filters}")),
        Some(request.source.clone()),
    ];
    Some(format!("/unsafe/{}", PlainRequest::join(words, "/")))
}
