//! Differences between the responses to two requests for the same image.

use crate::request::Fallback;
use crate::{AnswerStyle, ImageRequest};

/// Describes what the response to `expected` has and the response to `actual` lacks, and the reverse.
pub(super) fn differences(expected: &ImageRequest, actual: &ImageRequest) -> Vec<String> {
    let (expected, actual) = (properties(&expected.style), properties(&actual.style));
    let missing = expected.iter().filter(|it| !actual.contains(it));
    let more = actual.iter().filter(|it| !expected.contains(it));
    let missing = missing.map(|it| format!("without {it}"));
    missing.chain(more.map(|it| format!("with {it}"))).collect()
}

/// Describes the properties of a response that clients or origins notice.
fn properties(style: &AnswerStyle) -> Vec<String> {
    let mut properties: Vec<String> = Vec::new();
    // Headers with links contain URLs of the dialect itself, and so always differ.
    let headers = style.headers.iter().filter(|(name, _)| *name != "link");
    properties.extend(headers.map(|(name, value)| format!("the header `{name}: {value}`")));
    let numbers = [
        (style.most_bytes, "a limit on the bytes of the source"),
        (style.expires, "its expiry"),
        (style.max_age, "a lifetime for clients"),
    ];
    let numbers = numbers.into_iter();
    properties.extend(numbers.filter_map(|(number, what)| Some(format!("{what} ({})", number?))));
    properties.extend(style.checksum.as_ref().map(|it| format!("the digest {it}")));
    properties.extend(style.fallback.as_ref().map(|fallback| match fallback {
        Fallback::Image(source) => {
            format!("the image {} in place of a missing one", source.literal())
        }
        Fallback::Redirect(to) => format!("a redirect to {to} if the image is missing"),
    }));
    if style.type_by_name {
        properties.push("the media type of the source's name".to_owned());
    }
    properties
}
