//! Writes plain requests as URLs of small_light, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    let da = match request.how {
        How::Nothing | How::Fit => "",
        How::Cover => "da=s",
        How::Exact => "da=n",
    };
    let cover = request.how == How::Cover;
    let words = [
        PlainRequest::side("dw=", request.w),
        PlainRequest::side("dh=", request.h),
        (!da.is_empty()).then(|| da.to_owned()),
        request.enlarge.then(|| "ds=s".to_owned()),
        PlainRequest::side("cw=", if cover { request.w } else { 0 }),
        PlainRequest::side("ch=", if cover { request.h } else { 0 }),
        request.quality("q="),
        request.format("of="),
    ];
    Some(format!(
        "/small_light({})/{}",
        PlainRequest::join(words, ","),
        request.source
    ))
}
