use std::path::PathBuf;

use andon_pixels::{Align, Anchor, Breaks, Cut, Text};
use andon_recipe::Colour;
use serde_json::Value;

use super::*;

mod placing;
mod shaping;
mod styles;

/// The folder of reduced fonts and expected glyphs.
fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fonts"))
}

/// Returns a text of 16 px in the middle of an image of 400 × 300 px.
fn text(text: &str) -> Text<'_> {
    Text {
        text,
        width: 400,
        height: 300,
        size: 16.0,
        colour: Colour {
            r: 0,
            g: 0,
            b: 0,
            a: 255,
        },
        font: "",
        gravity: (Anchor::Middle, Anchor::Middle),
        margin: (0.0, 0.0),
        area: (0.0, 0.0),
        align: Align::Centre,
        overflow: Overflow::Wrap,
        writing: Writing::Horizontal,
        breaks: Breaks::Words,
        cut: Cut::End,
        tracking: 0.0,
        leading: 0.0,
        outline: None,
        turn: 0.0,
        keeps_middle: false,
        tile: None,
    }
}

/// Loads the fonts in the files with these names in `folder()`.
fn fonts(names: &[&str]) -> Fonts {
    let read = |name: &&str| std::fs::read(folder().join(name)).expect("a font");
    let files: Vec<Vec<u8>> = names.iter().map(read).collect();
    Fonts::new(files, [""; 5])
}
