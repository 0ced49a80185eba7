//! Differences between the responses to two requests for the same image.

use crate::request::Fallback;
use crate::{AnswerStyle, ImageRequest};

/// Describes what the response to `wanted` has and the response to `is` lacks, and the reverse.
pub(super) fn differences(wanted: &ImageRequest, is: &ImageRequest) -> Vec<String> {
    let (wanted, is) = (told(&wanted.style), told(&is.style));
    let missing = wanted.iter().filter(|it| !is.contains(it));
    let more = is.iter().filter(|it| !wanted.contains(it));
    let missing = missing.map(|it| format!("without {it}"));
    missing.chain(more.map(|it| format!("with {it}"))).collect()
}

/// Describes the properties of a response that clients or origins notice.
fn told(style: &AnswerStyle) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    // Headers with links contain URLs of the dialect itself, and so always differ.
    let headers = style.headers.iter().filter(|(name, _)| *name != "link");
    told.extend(headers.map(|(name, value)| format!("the header `{name}: {value}`")));
    let numbers = [
        (style.most_bytes, "a limit on the bytes of the source"),
        (style.expires, "its expiry"),
        (style.max_age, "a lifetime for clients"),
    ];
    let numbers = numbers.into_iter();
    told.extend(numbers.filter_map(|(number, what)| Some(format!("{what} ({})", number?))));
    told.extend(style.checksum.as_ref().map(|it| format!("the digest {it}")));
    told.extend(style.fallback.as_ref().map(|fallback| match fallback {
        Fallback::Image(source) => {
            format!("the image {} in place of a missing one", source.literal())
        }
        Fallback::Redirect(to) => format!("a redirect to {to} if the image is missing"),
    }));
    if style.type_by_name {
        told.push("the media type of the source's name".to_owned());
    }
    told
}
