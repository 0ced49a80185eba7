//! Colours as filters write them.

use andon_recipe::Colour;

use crate::colours::{channels, named, rgba};

/// `red`, `f00`, `ff0000`, `ff000080`, with or without `#`.
pub(super) fn read(text: &str) -> Option<Colour> {
    let text = text.trim_start_matches('#');
    let hex = || match text.len() {
        3 | 6 | 8 => rgba(&channels(text)?),
        _ => None,
    };
    named(text).or_else(hex)
}
