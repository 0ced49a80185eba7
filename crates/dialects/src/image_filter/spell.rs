//! Writes plain requests as URLs of nginx's image filter, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    if request.format.is_some() || request.enlarge {
        return None;
    }
    let [w, h] = request.sides("-");
    let word = match request.how {
        How::Fit => "resize",
        How::Cover => "crop",
        How::Nothing | How::Exact => return None,
    };
    let quality = request.quality(",q=").unwrap_or_default();
    Some(format!(
        "/image_filter({word},{w},{h}{quality})/{}",
        request.source
    ))
}
