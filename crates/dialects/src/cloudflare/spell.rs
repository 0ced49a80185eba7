//! Writes plain requests as URLs of Cloudflare, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    let fit = match (request.how, request.enlarge) {
        (How::Nothing, _) => return None,
        (How::Fit, false) => "scale-down",
        (How::Fit, true) => "contain",
        (How::Cover, true) => "cover",
        (How::Cover, false) => "crop",
        (How::Exact, _) => "squeeze",
    };
    let words = [
        PlainRequest::side("width=", request.w),
        PlainRequest::side("height=", request.h),
        Some(format!("fit={fit}")),
        request.quality("quality="),
        request.format("format="),
    ];
    Some(format!(
        "/cdn-cgi/image/{}/{}",
        PlainRequest::join(words, ","),
        request.source
    ))
}
