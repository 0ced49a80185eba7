//! Writes plain requests as URLs of weserv, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    let fit = match request.how {
        How::Nothing | How::Fit => "",
        How::Cover => "fit=cover",
        How::Exact => "fit=fill",
    };
    let words = [
        Some(format!("url=/{}", request.source)),
        PlainRequest::side("w=", request.w),
        PlainRequest::side("h=", request.h),
        (!fit.is_empty()).then(|| fit.to_owned()),
        (!request.enlarge).then(|| "we".to_owned()),
        request.quality("q="),
        request.short_format("output="),
    ];
    Some(format!("/?{}", PlainRequest::join(words, "&")))
}
