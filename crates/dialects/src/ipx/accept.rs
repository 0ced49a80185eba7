//! How ipx selects the format for `f_auto` from the header `Accept`.

use crate::accept;

/// The formats for still images, in order of preference.
const STILL: &[&str] = &["avif", "webp", "jpeg", "png", "tiff", "heif", "gif"];
/// The formats for animations, in order of preference.
const MOVING: &[&str] = &["webp", "gif"];

/// Returns the preferred one of the formats with the highest weight in the header. A range such as `image/*` names no
/// format, and `*` stands for the most preferred one.
pub(super) fn choose(header: Option<&str>, moves: bool) -> &'static str {
    let (formats, default) = match moves {
        true => (MOVING, "gif"),
        false => (STILL, "jpeg"),
    };
    let mut best: Option<(f64, usize)> = None;
    for range in accept::ranges(header.unwrap_or_default()) {
        let Some(place) = place(formats, range.name) else {
            continue;
        };
        let weight = range.weight.unwrap_or(0.0);
        let is_better =
            best.is_none_or(|(most, first)| weight > most || (weight == most && place < first));
        if weight > 0.0 && is_better {
            best = Some((weight, place));
        }
    }
    best.map_or(default, |(_, place)| formats[place])
}

fn place(formats: &[&str], name: &str) -> Option<usize> {
    match name.strip_prefix("image/") {
        None => (name == "*").then_some(0),
        Some(format) => formats.iter().position(|entry| *entry == format),
    }
}
