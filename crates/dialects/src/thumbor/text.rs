//! imagor's text on images: `label(text,x,y,size,color,alpha,font)` and `text(text,x,y,font,color,alpha,…)`.

use andon_recipe::{Colour, Effect, Step};

use super::args::Args;
use super::colours;
use super::flavour::Flavour;
use super::overlay::blend_mode;
use super::place::Place;
use crate::effects::number;

/// A text that is drawn on an image.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    text: String,
    at: (Place, Place),
    /// Size of the letters in px.
    size: f64,
    colour: Colour,
    /// Families and style, separated by commas, in the engine's syntax; empty: the server's default font.
    font: String,
    /// The engine's word for the blend mode of the colour.
    blend: &'static str,
    lines: Lines,
}

/// How a text is broken into lines.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lines {
    width: Width,
    /// The engine's word for the alignment of lines within the width; empty: it follows the position of the text.
    align: &'static str,
    /// Whether lines are broken between any two characters.
    by_character: bool,
    /// Additional distance between lines, in px.
    leading: f64,
}

/// The width at which lines of a text are broken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Width {
    /// Unlimited: only line breaks in the text end a line.
    #[default]
    Any,
    /// Lines are broken at this width in px.
    Px(f64),
    /// Lines are broken at this share of the image's width.
    Share(f64),
    /// Lines are broken at the image's width minus this many px.
    Full(f64),
}

/// Default size of the letters in px.
const SIZE: f64 = 20.0;

/// Points per inch. At this many pixels per inch, one point is one pixel.
const POINTS: f64 = 72.0;

/// Maximum size of letters in px that the engine draws.
const LARGEST: f64 = 10_000.0;

/// The side of the image that a text is aligned to, or its middle, and the distance from that side in px. A negative
/// distance is beyond the side.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Anchor {
    Start(i64),
    Middle,
    End(i64),
}

impl Text {
    /// Parses the filter `label`.
    pub(super) fn label(args: &Args<'_>) -> Option<Self> {
        let size = args.decimal(3).filter(|_| args.has(3));
        let font = Font::read(&args.text(6).unwrap_or_default());
        Self::new(args, args.text(0)?.into_owned(), size, font)
    }

    /// Parses the filter `text`, where the size of the letters is at the end of the font, in points.
    pub(super) fn typeset(args: &Args<'_>) -> Option<Self> {
        let font = Font::read(&args.text(3).unwrap_or_default());
        let dpi = args.decimal(12).filter(|dpi| *dpi >= 1.0);
        let px = dpi.map_or(1.0, |dpi| dpi / POINTS);
        let size = font.size.unwrap_or(SIZE) * px;
        let text = args.flavour.image_name(args.raw(0)?).ok()?;
        let text = Self::new(args, text, Some(size), font)?;
        let says = |at: usize| args.text(at).unwrap_or_default();
        let justifies = ["true", "1"].contains(&&*says(9));
        let align = match &*says(8) {
            _ if justifies => "justify",
            "centre" | "center" => "middle",
            "high" | "right" => "end",
            _ => "start",
        };
        let width = match &*says(10) {
            "none" => Width::Any,
            _ => Width::read(&says(7)),
        };
        // A single line without a width has no alignment of its own.
        let is_one = width == Width::Any && !text.text.contains('\n');
        let align = if is_one { "" } else { align };
        // The argument is in points, as the size is.
        let leading = args.decimal(11).filter(|_| args.has(11)).unwrap_or(0.0) * px;
        Some(Self {
            blend: blend_mode(&says(6)),
            lines: Lines {
                width,
                align,
                by_character: says(10) == "char",
                leading: leading.clamp(-MOST_LEADING, MOST_LEADING),
            },
            ..text
        })
    }

    fn new(args: &Args<'_>, text: String, size: Option<f64>, font: Font) -> Option<Self> {
        let size = size.unwrap_or(SIZE);
        let colour = args.text(4).filter(|name| !name.is_empty());
        let colour = colour.map_or(Colour::BLACK, |name| colours::imagor(&name));
        let opacity = (100.0 - args.decimal(5)?).clamp(0.0, 100.0) / 100.0;
        let is_visible = !text.trim().is_empty() && size >= 1.0;
        is_visible.then_some(Self {
            text,
            at: Place::both(args),
            size: size.min(LARGEST),
            colour: Colour {
                // The product is from 0 to 255.
                a: (f64::from(colour.a) * opacity).round() as u8,
                ..colour
            },
            font: font.words,
            blend: "normal",
            lines: Lines::default(),
        })
    }

    /// Returns which arguments of the filter `text` are ignored.
    pub(super) fn typeset_ignores(args: &str) -> Vec<&'static str> {
        let args = Args::new(Flavour::Imagor, args, 0);
        let mode = args.text(6).unwrap_or_default();
        let is_mask = MASKS.contains(&blend_mode(&mode));
        is_mask.then_some("the blend mode").into_iter().collect()
    }

    /// Returns the step that draws the text on an image of this size in px.
    pub(super) fn step(&self, (width, height): (u32, u32)) -> Option<Step> {
        let (x, y) = (anchor(self.at.0, width), anchor(self.at.1, height));
        let word = |anchor: Anchor, start: &'static str, end: &'static str| match anchor {
            Anchor::Start(px) => (start, px),
            Anchor::Middle => ("", 0),
            Anchor::End(px) => (end, px),
        };
        let ((across, x), (down, y)) = (word(x, "west", "east"), word(y, "north", "south"));
        let gravity = match (down, across) {
            ("", "") => "centre".to_owned(),
            (down, across) => format!("{down}{across}"),
        };
        let mut args = vec![
            self.text.clone(),
            number(self.size),
            self.colour.to_string(),
            gravity,
        ];
        let area = self.lines.width.px(width);
        let has_more = area > 0.0 || !self.lines.align.is_empty() || !self.font.is_empty();
        match (x, y) {
            (0, 0) if !has_more => {}
            (x, y) if x == y => args.push(x.to_string()),
            (x, y) => args.push(format!("{x}x{y}")),
        }
        if has_more {
            args.push(number(area));
            let more = [self.lines.align, &self.font].into_iter();
            args.extend(more.filter(|it| !it.is_empty()).map(str::to_owned));
        }
        args.extend(self.style());
        Effect::new("text", args).ok().map(Step::Effect)
    }

    /// Returns the arguments of the effect `text` that are written as `name=value`.
    fn style(&self) -> impl Iterator<Item = String> {
        let breaks = self
            .lines
            .by_character
            .then(|| "break=characters".to_owned());
        let leading = Some(self.lines.leading).filter(|px| *px != 0.0);
        let leading = leading.map(|px| format!("leading={}", number(px)));
        let is_blended = self.blend != "normal" && !MASKS.contains(&self.blend);
        let blend = is_blended.then(|| format!("blend={}", self.blend));
        [breaks, leading, blend].into_iter().flatten()
    }
}

/// Blend modes that text does not support.
const MASKS: [&str; 2] = ["mask", "mask-out"];

/// Maximum additional distance between lines, in px.
const MOST_LEADING: f64 = 1000.0;

/// A font in Pango's syntax, `sans bold 24`. In imagor, hyphens stand for the spaces.
struct Font {
    /// Families and style, separated by commas.
    words: String,
    /// Size of the letters in points; `None` if the font does not end in a number.
    size: Option<f64>,
}

/// Pango's words for the weight of a font, each with the engine's. Only `bold` is the same.
const WEIGHTS: &[(&str, &str)] = &[
    ("thin", "100"),
    ("ultralight", "200"),
    ("extralight", "200"),
    ("light", "300"),
    ("regular", "400"),
    ("normal", "400"),
    ("medium", "500"),
    ("semibold", "600"),
    ("demibold", "600"),
    ("bold", "bold"),
    ("ultrabold", "800"),
    ("extrabold", "800"),
    ("heavy", "900"),
    ("black", "900"),
];

impl Font {
    fn read(text: &str) -> Self {
        let mut words: Vec<&str> = text.split(['-', ' ']).filter(|it| !it.is_empty()).collect();
        let size = words
            .last()
            .and_then(|word| word.trim_end_matches("px").parse().ok());
        let size = size.filter(|size: &f64| size.is_finite());
        if size.is_some() {
            words.pop();
        }
        let mut style = Vec::new();
        // Style words are at the end. Elsewhere, the same words are part of a family's name.
        while let Some(word) = words.last() {
            let word = word.to_ascii_lowercase();
            let weight = WEIGHTS.iter().find(|(entry, _)| *entry == word);
            match (weight, &*word) {
                (Some((_, weight)), _) => style.push(*weight),
                (None, "italic" | "oblique") => style.push("italic"),
                _ => break,
            }
            words.pop();
        }
        let family = match &*words.join(" ") {
            "sans" | "Sans" => "sans-serif".to_owned(),
            "mono" | "Mono" | "Monospace" => "monospace".to_owned(),
            "Serif" => "serif".to_owned(),
            family => family.replace(',', " "),
        };
        style.reverse();
        let all = [family.as_str()].into_iter().chain(style);
        let all: Vec<&str> = all.filter(|word| !word.is_empty()).collect();
        // Plain sans-serif is the server's default font.
        let words = match all.as_slice() {
            ["sans-serif"] => String::new(),
            all => all.join(","),
        };
        Self { words, size }
    }
}

impl Width {
    fn read(text: &str) -> Self {
        let number = |text: &str| {
            let number = text.parse::<f64>().ok();
            number.filter(|number| number.is_finite() && *number > 0.0)
        };
        let full = text.strip_prefix("full").or_else(|| text.strip_prefix('f'));
        match (full, text.strip_suffix('p')) {
            (Some(less), _) => Self::Full(number(less.trim_start_matches('-')).unwrap_or_default()),
            (None, Some(percent)) => {
                number(percent).map_or(Self::Any, |it| Self::Share(it / 100.0))
            }
            (None, None) => match number(text) {
                Some(share) if text.contains('.') && share <= 1.0 => Self::Share(share),
                Some(px) => Self::Px(px.trunc()),
                None => Self::Any,
            },
        }
    }

    /// Returns the width in px for an image of the width `whole`; 0: only line breaks in the text end a line.
    fn px(self, whole: u32) -> f64 {
        let px = match self {
            Self::Any => 0.0,
            Self::Px(px) => px,
            Self::Share(share) => (f64::from(whole) * share).round().max(1.0),
            Self::Full(less) => (f64::from(whole) - less).max(1.0),
        };
        px.min(LARGEST)
    }
}

/// Returns the position of a text along a side of this length in px. Distances are limited to 10 000 px.
fn anchor(place: Place, side: u32) -> Anchor {
    let within = |px: i64| px.clamp(-10_000, 10_000);
    let px = |px: i64| match px {
        ..0 => Anchor::End(within(-px)),
        _ => Anchor::Start(within(px)),
    };
    match place {
        Place::Px(number) => px(number),
        // The product is truncated, as in Go.
        Place::Percent(percent) => px((f64::from(side) * percent / 100.0) as i64),
        Place::Start(beyond) => Anchor::Start(within(beyond)),
        Place::Middle => Anchor::Middle,
        Place::End(beyond) => Anchor::End(within(-beyond)),
        Place::Spread | Place::Repeat => Anchor::Start(0),
    }
}
