//! Text on an image: `txt` and the parameters whose names begin with it.

use andon_recipe::{Colour, Effect, Step};

use super::options::MOST;
use super::overlays::says;
use super::query::{colour, share_or_px};
use crate::effects::number;
use crate::options::Values;

/// The box of a text, and how text that does not fit is treated.
struct Area {
    /// Width in px; 0: only line breaks in the text end a line.
    width: f64,
    /// Height in px; 0: the height of the text.
    height: f64,
    /// The engine's word for how text that does not fit is treated.
    overflow: &'static str,
    /// Whether the text stays on one line.
    is_one_line: bool,
}

/// Returns the step that writes `txt` in a corner, in the middle of a side, or in the centre of an image of this size
/// in px. `ratio` is the device pixel ratio.
pub(super) fn step(query: &Values, image: (u32, u32), ratio: f64) -> Option<Step> {
    let text = query.text("txt").filter(|text| !text.trim().is_empty())?;
    let size = (query.number("txt-size").unwrap_or(12.0) * ratio).clamp(1.0, MOST);
    let pad = query.number("txt-pad").unwrap_or(10.0) * ratio;
    let pad = pad.round().min(MOST);
    let ink = query.text("txt-color").and_then(colour).unwrap_or(BLACK);
    let area = Area::of(query, image, size, pad, ratio);
    let text = match &area {
        // Lines of Latin letters break only at spaces and hyphens.
        Some(area) if area.is_one_line => text.replace(' ', "\u{a0}").replace('-', "-\u{2060}"),
        _ => text.to_owned(),
    };
    let (gravity, margins) = place(query, pad, ratio);
    let mut args = vec![text, number(size), ink.to_string(), gravity, margins];
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
    args.extend(style(query, size, ratio));
    Effect::new(Effect::TEXT, args).ok().map(Step::Effect)
}

const BLACK: Colour = Colour {
    a: 255,
    ..Colour::CLEAR
};

/// Returns the arguments of the effect `text` that are written as `name=value`.
fn style(query: &Values, size: f64, ratio: f64) -> Vec<String> {
    let px = |name: &str, most: f64| {
        let px = query.number(name)? * ratio;
        Some(px.clamp(-most, most)).filter(|px| *px != 0.0)
    };
    let clip = query.text("txt-clip").unwrap_or_default();
    let clip_side = ["start", "middle"].into_iter().find(|it| says(clip, it));
    let line = query.text("txt-line-color").and_then(colour);
    let outline = px("txt-line", 100.0).map(|width| match line {
        Some(colour) => format!("outline={}x{colour}", number(width)),
        None => format!("outline={}", number(width)),
    });
    let named_px = |name: &str, px: Option<f64>| px.map(|px| format!("{name}={}", number(px)));
    // Angles outside of 0 to 360 degrees are clamped.
    let turn = query.text("txt-rotate").and_then(|text| text.parse().ok());
    let turn = turn.map(|degrees: f64| degrees.clamp(0.0, 360.0));
    let turn = turn.filter(|degrees| degrees % 360.0 > 0.0);
    let opacity = query.number("txt-alpha").filter(|alpha| *alpha < 100.0);
    let parts = [
        clip_side.map(|clip_side| format!("cut={clip_side}")),
        named_px("tracking", px("txt-track", 1000.0)),
        named_px("leading", px("txt-lead", 1000.0)),
        outline,
        shadow(query, size, ratio),
        turn.map(|degrees| format!("turn={}xmiddle", number(degrees))),
        opacity.map(|alpha| format!("opacity={}", number(alpha))),
    ];
    parts.into_iter().flatten().collect()
}

/// Returns the argument for the shadow of a text of this size in px. Without `txt-shad-blur` it is a halo, whose
/// opacity grows with the strength. With it, the shadow is opaque and falls to the lower right.
fn shadow(query: &Values, size: f64, ratio: f64) -> Option<String> {
    let strength = query.number("txt-shad").filter(|it| *it > 0.0)?;
    let blur = query.number("txt-shad-blur").filter(|it| it.fract() == 0.0);
    Some(match blur {
        Some(blur) => {
            let sigma = (blur * ratio).min(100.0);
            let px = (strength * ratio).round();
            format!("shadow={}+{px}x{px}", number(sigma))
        }
        None => {
            let sigma = (size / SOFT).clamp(1.0, 100.0);
            let opacity = Colour {
                a: (strength / STRONGEST * 255.0).round() as u8,
                ..BLACK
            };
            format!("shadow={}+0x0+{opacity}", number(sigma))
        }
    })
}

/// The size of a text, divided by the standard deviation of its halo's blur.
const SOFT: f64 = 12.0;

/// The maximum strength of a shadow.
const STRONGEST: f64 = 10.0;

impl Area {
    /// Returns the box that the parameters describe; `None` if only the sides of the image limit the text.
    fn of(query: &Values, image: (u32, u32), size: f64, pad: f64, ratio: f64) -> Option<Self> {
        let fit = query.text("txt-fit");
        let side = |name: &str, whole: u32| {
            let number = query.number(name).filter(|number| *number > 0.0)?;
            // A share of the image's side is in device pixels already.
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
        let clip = query.text("txt-clip");
        let overflow_word = match clip {
            Some(clip) if says(clip, "ellipsis") => "ellipsis",
            // If the text has more lines than fit, the last one ends in an ellipsis.
            None if fit.is_some() => "ellipsis",
            _ => "clip",
        };
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
                overflow: if height.is_some() {
                    overflow_word
                } else {
                    "wrap"
                },
                is_one_line: false,
            },
            None => Self {
                width,
                height: 0.0,
                overflow: overflow_word,
                is_one_line: false,
            },
        })
    }
}

/// Returns two arguments of the effect `text`: the side or corner of the image at which the text is placed (or
/// `centre`), and its distances from the sides in px, such as `10` or `10x20`.
fn place(query: &Values, pad: f64, ratio: f64) -> (String, String) {
    let align = query.text("txt-align").unwrap_or("bottom,right");
    let px = |name: &str| {
        let px = query.number(name)? * ratio;
        Some(px.round().clamp(-MOST, MOST))
    };
    let (x, y) = (px("txt-x"), px("txt-y"));
    let down = match (y, says(align, "top"), says(align, "bottom")) {
        (Some(_), ..) | (_, true, _) => "north",
        (_, _, true) => "south",
        _ => "",
    };
    let across = match (x, says(align, "left"), says(align, "right")) {
        (Some(_), ..) | (_, true, _) => "west",
        (_, _, true) => "east",
        _ => "",
    };
    let gravity = match format!("{down}{across}") {
        side if side.is_empty() => "centre".to_owned(),
        side => side,
    };
    let margins = match (x.unwrap_or(pad), y.unwrap_or(pad)) {
        (x, y) if x == y => number(x),
        (x, y) => format!("{}x{}", number(x), number(y)),
    };
    (gravity, margins)
}

/// Returns a font in the engine's syntax: families and style, separated by commas. imgix and the engine have the same
/// names for generic families.
fn font(text: &str) -> String {
    let words = text.split(',').map(str::trim);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(",")
}
