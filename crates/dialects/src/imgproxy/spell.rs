//! Writes plain requests as URLs of imgproxy, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    let word = match request.how {
        How::Nothing => None,
        How::Fit => Some("fit"),
        How::Cover => Some("fill"),
        How::Exact => Some("force"),
    };
    let words = [
        word.map(|word| {
            format!(
                "rs:{word}:{}:{}:{}",
                request.w,
                request.h,
                u8::from(request.enlarge)
            )
        }),
        request.quality("q:"),
        Some(format!("plain/local:///{}", request.source)),
    ];
    let extension = request.short_format("@").unwrap_or_default();
    Some(format!(
        "/unsafe/{}{extension}",
        PlainRequest::join(words, "/")
    ))
}
