//! Writes plain requests as URLs of the IIIF Image API, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    if request.quality.is_some() {
        return None;
    }
    let [w, h] = request.sides("");
    let size = match (request.how, request.w > 0 && request.h > 0) {
        (How::Nothing, _) => "max".to_owned(),
        (How::Fit, true) => format!("!{w},{h}"),
        (How::Fit, false) | (How::Exact, _) => format!("{w},{h}"),
        (How::Cover, _) => return None,
    };
    let enlarge = if request.enlarge { "^" } else { "" };
    let extension = request.short_format("").unwrap_or("jpg".to_owned());
    let source = request.source.replace('/', "%2F");
    Some(format!(
        "/iiif/3/{source}/full/{enlarge}{size}/0/default.{extension}"
    ))
}
