//! The formats that imgproxy's URLs may name.

use super::args::Wrong;

/// All formats: the names in URLs, the engine's name, the default quality (0: the format has none), the maximum side of
/// results in px (0: unlimited; larger results are scaled down), and whether results may be animated.
const ALL: [(&[&str], &str, u8, u32, bool); 12] = [
    (&["jpeg", "jpg"], "jpeg", 80, 0, false),
    (&["png"], "png", 0, 0, false),
    (&["webp"], "webp", 79, 16_383, true),
    (&["avif"], "avif", 63, 16_384, false),
    (&["jxl"], "jxl", 77, 0, false),
    (&["gif"], "gif", 0, 0, true),
    (&["tiff", "tif"], "tiff", 0, 0, false),
    (&["bmp"], "bmp", 0, 0, false),
    (&["ico"], "ico", 0, 256, false),
    (&["heic"], "heic", 0, 0, false),
    (&["svg"], "svg", 0, 0, false),
    (&["best"], "auto", 0, 0, false),
];

/// Returns the engine's name of the format that URLs call `name`.
///
/// # Errors
/// A name that is not that of a format.
pub(super) fn format(name: &str) -> Result<&'static str, Wrong> {
    let row = ALL.iter().find(|(names, ..)| names.contains(&name));
    row.map(|(_, format, ..)| *format)
        .ok_or_else(|| format!("`{name}` is no format"))
}

/// Returns the formats that have a quality, each with its default quality.
pub(super) fn qualities() -> impl Iterator<Item = (&'static str, u8)> {
    let all = ALL
        .iter()
        .map(|(_, format, quality, ..)| (*format, *quality));
    all.filter(|(_, quality)| *quality > 0)
}

/// Returns the maximum side in px of results in a format, to which larger results are scaled down; `None` if there is
/// none.
pub(super) fn longest(format: &str) -> Option<u32> {
    let row = ALL.iter().find(|(_, name, ..)| *name == format)?;
    Some(row.3).filter(|longest| *longest > 0)
}

/// Whether results in a format may be animated.
pub(super) fn moves(format: &str) -> bool {
    ALL.iter()
        .any(|(_, name, .., moves)| *name == format && *moves)
}
