//! Writes plain requests as URLs of imgix, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    let fit = match (request.how, request.enlarge) {
        (How::Nothing, _) | (How::Fit, true) => "",
        (How::Fit, false) => "fit=max",
        (How::Cover, _) => "fit=crop",
        (How::Exact, _) => "fit=scale",
    };
    let words = [
        PlainRequest::side("w=", request.w),
        PlainRequest::side("h=", request.h),
        (!fit.is_empty()).then(|| fit.to_owned()),
        request.quality("q="),
        request.short_format("fm="),
    ];
    Some(format!(
        "/{}?{}",
        request.source,
        PlainRequest::join(words, "&")
    ))
}
