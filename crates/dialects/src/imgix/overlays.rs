//! Overlays on an image: another image or a colour (`blend`), another image (`mark`), and text (`txt`).

use andon_recipe::{Colour, Effect, Step};

use super::query::{self, Query};
use crate::effects::{Overlay, number};
use crate::request::relative;

/// A group of parameters about another image: the prefix of their names, and their defaults.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    align: &'static str,
    pad: f64,
    mode: &'static str,
}

const BLEND: Kind = Kind {
    name: "blend",
    align: "top,left",
    pad: 0.0,
    mode: "overlay",
};

const MARK: Kind = Kind {
    name: "mark",
    align: "bottom,right",
    pad: 5.0,
    mode: "normal",
};

/// Blend modes of `blend-mode`, and the engine's names for them.
const MODES: [(&str, &str); 12] = [
    ("normal", "normal"),
    ("burn", "color-burn"),
    ("darken", "darken"),
    ("difference", "difference"),
    ("dodge", "color-dodge"),
    ("exclusion", "exclusion"),
    ("hardlight", "hard-light"),
    ("lighten", "lighten"),
    ("multiply", "multiply"),
    ("overlay", "overlay"),
    ("screen", "screen"),
    ("softlight", "soft-light"),
];

/// The largest width or height of an overlay image, in px.
const MOST: f64 = 8192.0;

/// An overlay image, and the parameters that its own URL has.
struct File {
    /// Path of the image below the origins, with a leading slash.
    name: String,
    own: Query,
}

/// Parameters that the URL of an overlay image may have.
const OWN: [&str; 3] = ["w", "h", "fit"];

/// Reads the overlay image that a parameter's value names.
fn file(text: &str) -> Result<File, &'static str> {
    let (path, asked) = text.split_once('?').unwrap_or((text, ""));
    if path.contains(":/") || path.starts_with("//") {
        return Err("images of other servers are not fetched");
    }
    let path = relative(path);
    if path.starts_with('~') {
        return Err("images are not made of text");
    }
    if path.is_empty() || path.contains('\0') {
        return Err("it names no file");
    }
    let mut ignored = Vec::new();
    let own = Query::read(asked, &mut ignored).ok().flatten();
    let own = own.unwrap_or_default();
    match ignored.is_empty() && own.keys().all(|key| OWN.contains(&key)) {
        true => Ok(File {
            name: format!("/{path}"),
            own,
        }),
        false => Err("nothing but `w`, `h` and `fit` is done to it"),
    }
}

/// Returns the names of the image files that a query lays over an image.
pub(super) fn files(query: &Query) -> Vec<String> {
    let shown = [BLEND, MARK]
        .into_iter()
        .filter(|kind| mode(query, *kind).is_some());
    let named = shown.filter_map(|kind| {
        let text = query.text(kind.name)?;
        (kind.name == "mark" || query::colour(text).is_none()).then(|| file(text).ok())?
    });
    named.map(|file| file.name).collect()
}

/// Notes on parameters of overlays that have no effect here.
pub(super) fn notes(query: &Query) -> Vec<String> {
    let mut notes = Vec::new();
    for kind in [BLEND, MARK] {
        let Some(text) = query.text(kind.name) else {
            continue;
        };
        let name = kind.name;
        let colour = query::colour(text).filter(|_| name == "blend");
        let key = |key: &str| query.text(&format!("{name}-{key}"));
        match (mode(query, kind), colour) {
            (None, _) => notes.push("blend-mode: there is none of this name here".to_owned()),
            (Some("normal"), Some(_)) => {}
            (Some(_), Some(_)) => {
                notes.push("blend: colours are laid over with `blend-mode=normal` only".to_owned());
            }
            (_, None) => notes.extend(file(text).err().map(|why| format!("{name}: {why}"))),
        }
        if let Some(fit @ ("fill" | "max")) = key("fit") {
            notes.push(format!("{name}-fit: `{fit}` is as `clip`"));
        }
    }
    notes
}

fn mode(query: &Query, kind: Kind) -> Option<&'static str> {
    let said = query.text("blend-mode").filter(|_| kind.name == "blend");
    let known = MODES.iter().find(|(name, _)| said == Some(*name));
    said.map_or(Some(kind.mode), |_| known.map(|(_, mode)| *mode))
}

/// Returns the steps for all overlays on an image of this size, in px. `ratio` is the device pixel ratio: px of the
/// result per px in the URL.
pub(super) fn steps(query: &Query, size: (u32, u32), ratio: f64) -> Vec<Step> {
    let colour = tinge(query);
    let pictures = [BLEND, MARK].map(|kind| laid(query, kind, size, ratio));
    let [blend, mark] = pictures;
    [colour, blend, mark, words(query, ratio)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the step that lays the colour of `blend` over the whole image, if `blend` is a colour and its mode is
/// `normal`.
fn tinge(query: &Query) -> Option<Step> {
    let colour = query::colour(query.text("blend")?)?;
    let normal = mode(query, BLEND) == Some("normal");
    let shown = query.number("blend-alpha", 0.0, 100.0).unwrap_or(100.0);
    let shown = shown * f64::from(colour.a) / 255.0;
    let opaque = Colour { a: 255, ..colour };
    let args = vec![number(shown), opaque.to_string()];
    let step = || Effect::new("colorize", args).ok().map(Step::Effect);
    normal.then(step)?
}

fn laid(query: &Query, kind: Kind, (width, height): (u32, u32), ratio: f64) -> Option<Step> {
    let text = query.text(kind.name)?;
    if kind.name == "blend" && query::colour(text).is_some() {
        return None;
    }
    let file = file(text).ok()?;
    let key = |key: &str| format!("{}-{key}", kind.name);
    let number = |name: &str, least, most| query.number(&key(name), least, most);
    // Up to 1 it is a share of the image's.
    let side = |name: &str, whole: u32| {
        let side = number(name, 0.0, MOST).filter(|side| *side > 0.0)?;
        Some(match side {
            ..=1.0 => side * f64::from(whole),
            px => px * ratio,
        })
    };
    let own = |name: &str| file.own.number(name, 1.0, MOST);
    let scaled = number("scale", 1.0, 100.0).map(|share| f64::from(width) * share / 100.0);
    let asked = match (side("w", width), side("h", height)) {
        (None, None) => (scaled, None),
        both => both,
    };
    let (asked, fit) = match asked {
        (None, None) => ((own("w"), own("h")), file.own.text("fit")),
        both => (both, query.text(&key("fit"))),
    };
    let px = |side: Option<f64>| side.map_or(0, |side| side.round().clamp(1.0, MOST) as u32);
    let size = (px(asked.0), px(asked.1));
    let shape = match fit {
        _ if size.0 == 0 || size.1 == 0 => "exact",
        Some("crop") => "cover",
        Some("scale") => "exact",
        _ => "inside",
    };
    let pad = (number("pad", 0.0, MOST).unwrap_or(kind.pad) * ratio).round() as i64;
    let align = key("align");
    let words = query.text(&align).unwrap_or(kind.align);
    let says = |word: &str| words.split(',').any(|said| said == word);
    let place = |start: &str, end: &str, at: Option<f64>| match at {
        Some(px) => ((px * ratio).round() as i64).to_string(),
        None if says(start) => pad.to_string(),
        None if says(end) && pad > 0 => format!("100p{:+}", -pad),
        None if says(end) => "100p".to_owned(),
        None => "50p".to_owned(),
    };
    let at = |name: &str| number(name, -MOST, MOST);
    let tiled = query.text(&key("tile")) == Some("grid");
    let at = match tiled {
        true => ("repeat".to_owned(), "repeat".to_owned()),
        false => (
            place("left", "right", at("x")),
            place("top", "bottom", at("y")),
        ),
    };
    Overlay {
        file: file.name,
        at,
        opacity: number("alpha", 0.0, 100.0).unwrap_or(100.0),
        size,
        mode: mode(query, kind)?,
        shape,
        recipe: Vec::new(),
    }
    .step()
}

/// Returns the step that writes `txt` in a corner, in the middle of a side, or in the centre.
fn words(query: &Query, ratio: f64) -> Option<Step> {
    let text = query.text("txt").filter(|text| !text.trim().is_empty())?;
    let size = query.number("txt-size", 1.0, MOST).unwrap_or(12.0) * ratio;
    let pad = query.number("txt-pad", 0.0, MOST).unwrap_or(10.0) * ratio;
    let align = query.text("txt-align").unwrap_or("bottom,right");
    let says = |word: &str| align.split(',').any(|said| said == word);
    let down = match (says("top"), says("bottom")) {
        (true, _) => "north",
        (_, true) => "south",
        _ => "",
    };
    let across = match (says("left"), says("right")) {
        (true, _) => "west",
        (_, true) => "east",
        _ => "",
    };
    let gravity = match format!("{down}{across}") {
        side if side.is_empty() => "centre".to_owned(),
        side => side,
    };
    let colour = query.colour("txt-color").unwrap_or(Colour {
        r: 0,
        g: 0,
        b: 0,
        a: 255,
    });
    let args = vec![
        text.to_owned(),
        number(size.clamp(1.0, MOST)),
        colour.to_string(),
        gravity,
        number(pad.round().min(MOST)),
    ];
    Effect::new("text", args).ok().map(Step::Effect)
}
