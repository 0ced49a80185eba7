//! Text on an image: `txt` and the parameters that begin with it.

use andon_recipe::{Colour, Effect, Step};

use super::options::MOST;
use super::overlays::says;
use super::query::{colour, share_or_px};
use crate::effects::number;
use crate::options::Values;

/// The box of a text, and what happens to a text that does not fit.
struct Area {
    /// Width in px; 0: lines end only where the text says so.
    width: f64,
    /// Height in px; 0: as high as the text.
    height: f64,
    /// The engine's word for text that does not fit.
    overflow: &'static str,
    /// Whether the text stays on one line.
    is_one_line: bool,
}

/// Returns the step that writes `txt` in a corner, in the middle of a side, or in the centre of an image of this size in
/// px. `ratio` is the device pixel ratio.
pub(super) fn step(query: &Values, image: (u32, u32), ratio: f64) -> Option<Step> {
    let text = query.text("txt").filter(|text| !text.trim().is_empty())?;
    let size = (query.number("txt-size").unwrap_or(12.0) * ratio).clamp(1.0, MOST);
    let pad = query.number("txt-pad").unwrap_or(10.0) * ratio;
    let pad = pad.round().min(MOST);
    let black = Colour {
        a: 255,
        ..Colour::CLEAR
    };
    let ink = query.text("txt-color").and_then(colour).unwrap_or(black);
    let area = Area::of(query, image, size, pad, ratio);
    let text = match &area {
        // Nothing but a hyphen and a space ends a line of Latin letters.
        Some(area) if area.is_one_line => text.replace(' ', "\u{a0}").replace('-', "-\u{2060}"),
        _ => text.to_owned(),
    };
    let mut args = vec![
        text,
        number(size),
        ink.to_string(),
        gravity(query),
        number(pad),
    ];
    let font = font(query.text("txt-font").unwrap_or_default());
    match area {
        Some(area) if area.height > 0.0 => {
            args.push(format!("{}x{}", number(area.width), number(area.height)));
            args.push(area.overflow.to_owned());
        }
        Some(area) => {
            args.push(number(area.width));
            args.push(area.overflow.to_owned());
        }
        None if !font.is_empty() => args.push("0".to_owned()),
        None => {}
    }
    args.extend(Some(font).filter(|font| !font.is_empty()));
    Effect::new(Effect::TEXT, args).ok().map(Step::Effect)
}

/// Returns a note on what is left out.
pub(super) fn note(query: &Values) -> Option<String> {
    let clip = query
        .text("txt-clip")
        .filter(|_| query.text("txt").is_some())?;
    match (
        says(clip, "start") || says(clip, "middle"),
        says(clip, "ellipsis"),
    ) {
        (true, _) => Some("txt-clip: the text is cut off at its end, with an ellipsis".to_owned()),
        (false, false) => Some("txt-clip: the text is cut off with an ellipsis".to_owned()),
        (false, true) => None,
    }
}

impl Area {
    /// Returns the box that the parameters ask for; `None` if the text is cut off only at the sides of the image.
    fn of(query: &Values, image: (u32, u32), size: f64, pad: f64, ratio: f64) -> Option<Self> {
        let fit = query.text("txt-fit");
        let side = |name: &str, whole: u32| {
            let number = query.number(name).filter(|number| *number > 0.0)?;
            // A share needs no ratio.
            let px = match number {
                ..=1.0 => share_or_px(number, whole),
                px => px * ratio,
            };
            Some(px.round().clamp(1.0, MOST))
        };
        let within = |whole: u32| (f64::from(whole) - 2.0 * pad).clamp(1.0, MOST);
        let width = side("txt-width", image.0);
        if fit.is_none() && width.is_none() && query.text("txt-clip").is_none() {
            return None;
        }
        let height = side("txt-h", image.1).filter(|_| fit.is_some());
        let width = width.unwrap_or_else(|| within(image.0));
        Some(match fit {
            Some("max") => Self {
                width,
                height: height.unwrap_or_else(|| within(image.1).max(size)),
                overflow: "shrink",
                is_one_line: true,
            },
            Some("wrapmax") => Self {
                width,
                height: height.unwrap_or_else(|| within(image.1)),
                overflow: "shrink",
                is_one_line: false,
            },
            Some(_) => Self {
                width,
                height: height.unwrap_or_default(),
                overflow: if height.is_some() { "ellipsis" } else { "wrap" },
                is_one_line: false,
            },
            None => Self {
                width,
                height: 0.0,
                overflow: "ellipsis",
                is_one_line: false,
            },
        })
    }
}

fn gravity(query: &Values) -> String {
    let align = query.text("txt-align").unwrap_or("bottom,right");
    let down = match (says(align, "top"), says(align, "bottom")) {
        (true, _) => "north",
        (_, true) => "south",
        _ => "",
    };
    let across = match (says(align, "left"), says(align, "right")) {
        (true, _) => "west",
        (_, true) => "east",
        _ => "",
    };
    match format!("{down}{across}") {
        side if side.is_empty() => "centre".to_owned(),
        side => side,
    }
}

/// Returns a font as the engine reads it: families and style with commas. The names for kinds of fonts are the same.
fn font(text: &str) -> String {
    let words = text.split(',').map(str::trim);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(",")
}
