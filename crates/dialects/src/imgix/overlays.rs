//! Overlays on an image: another image or a colour (`blend`), another image (`mark`), and text (`txt`); and images that
//! mask it (`mask`).

use andon_recipe::{Colour, Effect, Rotate, Step};

use super::options::MOST;
use super::query::{self, colour, share_or_px};
use super::text;
use crate::effects::{Overlay, number};
use crate::options::Values;
use crate::refusal::Refusal;
use crate::request::{Source, relative};

/// A group of parameters for an overlay image: the prefix of their names, and their defaults.
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

/// Values of `blend-mode`, each with the engine's name of the blend mode.
const MODES: [(&str, &str); 16] = [
    ("normal", "normal"),
    ("burn", "color-burn"),
    ("color", "color"),
    ("darken", "darken"),
    ("difference", "difference"),
    ("dodge", "color-dodge"),
    ("exclusion", "exclusion"),
    ("hardlight", "hard-light"),
    ("hue", "hue"),
    ("lighten", "lighten"),
    ("luminosity", "luminosity"),
    ("multiply", "multiply"),
    ("overlay", "overlay"),
    ("saturation", "saturation"),
    ("screen", "screen"),
    ("softlight", "soft-light"),
];

/// An overlay image, and the parameters in the query of its own path.
struct File {
    /// The name of the overlay image: a path below the origins that begins with `/`, or a URL.
    name: String,
    parameters: Values,
}

/// Parameters that the path of an overlay image may have. The query of a URL is left in the URL.
const OWN: [&str; 3] = ["w", "h", "fit"];

/// Parses the name of an overlay image: a path, possibly with parameters, or a URL.
///
/// # Errors
/// What is wrong with the name.
fn file(text: &str) -> Result<File, &'static str> {
    if let Some(url) = Source::url(text) {
        return Ok(File {
            name: url.overlay_name(),
            parameters: Values::default(),
        });
    }
    let (path, query_text) = text.split_once('?').unwrap_or((text, ""));
    if path.contains("://") || path.starts_with("//") {
        return Err(
            "an image is named by a path, or by a URL that begins with `http://` or `https://`",
        );
    }
    let path = relative(path);
    if path.starts_with('~') {
        return Err("images are not made of text; `txt` writes one on the image");
    }
    if path.is_empty() || path.contains('\0') {
        return Err("it names no file");
    }
    let mut ignored = Vec::new();
    let parameters = query::read(query_text, &mut ignored)
        .ok()
        .flatten()
        .unwrap_or_default();
    match ignored.is_empty() && parameters.names().all(|name| OWN.contains(&name)) {
        true => Ok(File {
            name: format!("/{path}"),
            parameters,
        }),
        false => Err("of an overlay's own parameters, only `w`, `h` and `fit` are supported"),
    }
}

/// Returns the value of `mask`, unless it is the name of a shape.
pub(super) fn mask_image(query: &Values) -> Option<&str> {
    query.text("mask").filter(|text| !SHAPES.contains(text))
}

/// Shapes that `mask` cuts out of an image.
const SHAPES: [&str; 2] = ["ellipse", "corners"];

/// Parses the name of a mask image.
///
/// # Errors
/// What is wrong with the name.
fn mask_file(text: &str) -> Result<File, &'static str> {
    let file = file(text)?;
    match file.parameters.is_empty() {
        true => Ok(file),
        false => Err("a mask fills the image, so that its own parameters would have no effect"),
    }
}

/// Returns the names of the image files that a query lays over an image or masks it with.
pub(super) fn files(query: &Values) -> Vec<String> {
    let kinds = [BLEND, MARK]
        .into_iter()
        .filter(|kind| mode(query, *kind).is_some());
    let overlays = kinds.filter_map(|kind| {
        let text = query.text(kind.name)?;
        (kind.name == "mark" || colour(text).is_none()).then(|| file(text).ok())?
    });
    let mask = mask_image(query).and_then(|text| mask_file(text).ok());
    mask.into_iter()
        .chain(overlays)
        .map(|file| file.name)
        .collect()
}

/// Refuses overlays that cannot be drawn, so that no image is sent without them.
pub(super) fn check(query: &Values) -> Result<(), Refusal> {
    if let Some(text) = mask_image(query) {
        mask_file(text).map_err(|why| Refusal::new(text, format!("mask: {why}")))?;
    }
    for kind in [BLEND, MARK] {
        let Some(text) = query.text(kind.name) else {
            continue;
        };
        if mode(query, kind).is_none() {
            let mode_name = query.text("blend-mode").unwrap_or_default();
            let modes: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
            let why = format!(
                "{mode_name} is none of the blend modes here: {}",
                modes.join(", ")
            );
            return Err(Refusal::new("blend-mode", why));
        }
        if kind.name == "mark" || colour(text).is_none() {
            file(text).map_err(|why| Refusal::new(text, format!("{}: {why}", kind.name)))?;
        }
    }
    Ok(())
}

/// Returns notes on parameters of overlays that act differently here.
pub(super) fn notes(query: &Values) -> Vec<String> {
    let mut notes = Vec::new();
    for kind in [BLEND, MARK] {
        let name = kind.name;
        if let Some(fit @ ("fill" | "max")) = query.text(&kind.key("fit")) {
            notes.push(format!("{name}-fit: `{fit}` is as `clip`"));
        }
    }
    notes
}

fn mode(query: &Values, kind: Kind) -> Option<&'static str> {
    let mode_name = query.text("blend-mode").filter(|_| kind.name == "blend");
    let row = MODES.iter().find(|(name, _)| mode_name == Some(*name));
    mode_name.map_or(Some(kind.mode), |_| row.map(|(_, mode)| *mode))
}

/// Returns the steps for all overlays on an image of this size, in px. `ratio` is the device pixel ratio: px of the
/// result per px in the URL.
pub(super) fn steps(query: &Values, size: (u32, u32), ratio: f64) -> Vec<Step> {
    let [blend, mark] = [BLEND, MARK].map(|kind| overlay_step(query, kind, size, ratio));
    let steps = [
        tinge(query, size),
        blend,
        mark,
        text::step(query, size, ratio),
    ];
    steps.into_iter().flatten().collect()
}

/// Returns the step that multiplies the opacity of an image of this size, in px, by the brightness and opacity of its
/// mask image; `None` without a mask image. `colour_outside`, if given, replaces what the mask hides.
pub(super) fn mask(
    query: &Values,
    size: (u32, u32),
    colour_outside: Option<Colour>,
) -> Option<Step> {
    Overlay {
        file: mask_file(mask_image(query)?).ok()?.name,
        at: ("0".to_owned(), "0".to_owned()),
        opacity: 100.0,
        size,
        mode: "mask-luminance",
        shape: "exact",
        recipe: Vec::new(),
        colour_outside,
    }
    .step()
}

/// Returns the step that lays the colour of `blend` over the whole image; `None` if `blend` is not a colour.
fn tinge(query: &Values, size: (u32, u32)) -> Option<Step> {
    let tint = colour(query.text("blend")?)?;
    let mode = mode(query, BLEND)?;
    let opacity = query.number("blend-alpha").unwrap_or(100.0);
    let opacity = opacity * f64::from(tint.a) / 255.0;
    let opaque = Colour { a: 255, ..tint };
    if mode == "normal" {
        let args = vec![number(opacity), opaque.to_string()];
        return Effect::new("colorize", args).ok().map(Step::Effect);
    }
    Overlay {
        file: format!("{}{opaque}", Effect::COLOUR),
        at: ("0".to_owned(), "0".to_owned()),
        opacity,
        size,
        mode,
        shape: "exact",
        recipe: Vec::new(),
        colour_outside: None,
    }
    .step()
}

fn overlay_step(
    query: &Values,
    kind: Kind,
    (width, height): (u32, u32),
    ratio: f64,
) -> Option<Step> {
    let text = query.text(kind.name)?;
    if kind.name == "blend" && colour(text).is_some() {
        return None;
    }
    let file = file(text).ok()?;
    let number = |name: &str| query.number(&kind.key(name));
    let side = |name: &str, whole: u32| {
        let side = number(name).filter(|side| *side > 0.0)?;
        let unit = if side <= 1.0 { 1.0 } else { ratio };
        Some(share_or_px(side, whole) * unit)
    };
    let scaled_width = number("scale").map(|share| f64::from(width) * share / 100.0);
    let (sides, fit) = match (side("w", width), side("h", height), scaled_width) {
        (None, None, None) => file.own_box(),
        (None, None, scaled_width) => ((scaled_width, None), query.text(&kind.key("fit"))),
        (w, h, _) => ((w, h), query.text(&kind.key("fit"))),
    };
    let px = |side: Option<f64>| side.map_or(0, |side| side.round().clamp(1.0, MOST) as u32);
    let size = (px(sides.0), px(sides.1));
    let shape = match fit {
        _ if size.0 == 0 || size.1 == 0 => "exact",
        Some("crop") => "cover",
        Some("scale") => "exact",
        _ => "inside",
    };
    let overlay = Overlay {
        at: kind.place(query, ratio),
        opacity: number("alpha").unwrap_or(100.0),
        size,
        mode: mode(query, kind)?,
        shape,
        recipe: Vec::new(),
        colour_outside: None,
        file: file.name,
    };
    // The parameter counts counterclockwise.
    let turn = number("rot").filter(|degrees| *degrees != 0.0);
    let turn = turn.map(|degrees| {
        Step::Rotate(Rotate {
            degrees: -degrees,
            colour: Colour::CLEAR,
        })
    });
    overlay.with_steps(turn.into_iter().collect()).step()
}

impl File {
    /// Returns width and height in px, and `fit`, as given in the query of the overlay's own path.
    fn own_box(&self) -> ((Option<f64>, Option<f64>), Option<&str>) {
        let side = |name| self.parameters.number(name).filter(|side| *side >= 1.0);
        ((side("w"), side("h")), self.parameters.text("fit"))
    }
}

impl Kind {
    /// Returns the full name of a parameter of the group, such as `mark-alpha`.
    fn key(self, name: &str) -> String {
        format!("{}-{name}", self.name)
    }

    /// Returns the position of the overlay's left edge and of its top edge, in the syntax of [`Overlay::at`].
    fn place(self, query: &Values, ratio: f64) -> (String, String) {
        if query.text(&self.key("tile")) == Some("grid") {
            return ("repeat".to_owned(), "repeat".to_owned());
        }
        let px = |px: f64| (px * ratio).round() as i64;
        let pad = px(query.number(&self.key("pad")).unwrap_or(self.pad));
        let align = self.key("align");
        let words = query.text(&align).unwrap_or(self.align);
        let place = |name: &str, [start, end]: [&str; 2]| match query.number(&self.key(name)) {
            Some(at) => px(at).to_string(),
            None if says(words, start) => pad.to_string(),
            None if says(words, end) && pad > 0 => format!("100p{:+}", -pad),
            None if says(words, end) => "100p".to_owned(),
            None => "50p".to_owned(),
        };
        (place("x", ["left", "right"]), place("y", ["top", "bottom"]))
    }
}

/// Whether a comma-separated list of words contains `word`.
pub(super) fn says(words: &str, word: &str) -> bool {
    words.split(',').any(|item| item == word)
}
