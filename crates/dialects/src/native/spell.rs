//! Writes plain requests as URLs of Andon's own URLs, with the usual prefix.

use crate::plain::{How, PlainRequest};

/// Returns the URL for a plain request; `None` if the dialect cannot express it.
pub(super) fn spell(request: &PlainRequest<'_>) -> Option<String> {
    let [w, h] = request.sides("");
    let word = match request.how {
        How::Nothing => None,
        How::Fit => Some("fit"),
        How::Cover => Some("cover"),
        How::Exact => Some("exact"),
    };
    let enlarge = if request.enlarge && request.how != How::Exact {
        ":enlarge"
    } else {
        ""
    };
    let words = [
        word.map(|word| format!("{word}:{w}x{h}{enlarge}")),
        request.format("as:"),
        request.quality("q:"),
    ];
    let recipe = PlainRequest::join(words, ",");
    let recipe = if recipe.is_empty() { "same" } else { &recipe };
    Some(format!("/r/{recipe}/{}", request.source))
}
