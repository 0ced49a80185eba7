//! imagor's text on images: `label(text,x,y,size,color,alpha,font)` and `text(text,x,y,font,color,alpha,…)`.

use andon_recipe::{Colour, Effect, Step};

use super::args::Args;
use super::colours;
use super::flavour::Flavour;
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
}

/// Default size of the letters in px.
const SIZE: f64 = 20.0;

/// Maximum size of letters in px that the engine draws.
const LARGEST: f64 = 10_000.0;

/// The side of the image that a text is aligned to, or its middle, and the distance from that side in px; negative:
/// beyond the side.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Anchor {
    Start(i64),
    Middle,
    End(i64),
}

impl Text {
    /// Reads the filter `label`.
    pub(super) fn label(args: &Args<'_>) -> Option<Self> {
        let size = args.decimal(3).filter(|_| args.has(3));
        Self::new(args, args.text(0)?.into_owned(), size)
    }

    /// Reads the filter `text`, where the size of the letters is at the end of the font.
    pub(super) fn typeset(args: &Args<'_>) -> Option<Self> {
        let font = args.text(3).unwrap_or_default();
        let size = font.rsplit(['-', ' ']).next().unwrap_or_default();
        let size = size.parse::<f64>().ok().filter(|size| size.is_finite());
        Self::new(args, args.flavour.image_name(args.raw(0)?).ok()?, size)
    }

    fn new(args: &Args<'_>, text: String, size: Option<f64>) -> Option<Self> {
        let size = size.unwrap_or(SIZE);
        let colour = args.text(4).filter(|name| !name.is_empty());
        let colour = colour.map_or(Colour::BLACK, |name| colours::imagor(&name));
        let shown = (100.0 - args.decimal(5)?).clamp(0.0, 100.0) / 100.0;
        let shows = !text.trim().is_empty() && size >= 1.0;
        shows.then_some(Self {
            text,
            at: Place::both(args),
            size: size.min(LARGEST),
            colour: Colour {
                // 0 to 255.
                a: (f64::from(colour.a) * shown).round() as u8,
                ..colour
            },
        })
    }

    /// Returns what is ignored of the arguments of `label`.
    pub(super) fn label_ignores(args: &str) -> Vec<&'static str> {
        let args = Args::new(Flavour::Imagor, args, 0);
        let font = args.text(6).filter(|text| !text.is_empty());
        font.map(|_| "the font").into_iter().collect()
    }

    /// Returns what is ignored of the arguments of `text`.
    pub(super) fn typeset_ignores(args: &str) -> Vec<&'static str> {
        let args = Args::new(Flavour::Imagor, args, 0);
        let says = |at: usize| args.text(at).is_some_and(|text| !text.is_empty());
        let font = args.text(3).unwrap_or_default();
        let plain = |word: &str| word == "sans" || word.parse::<f64>().is_ok();
        let rows = [
            (
                !font.is_empty() && !font.split(['-', ' ']).all(plain),
                "the font",
            ),
            (says(6), "the blend mode"),
            (
                (7..args.count()).any(says),
                "the width, and how lines lie in it",
            ),
        ];
        rows.iter()
            .filter(|(on, _)| *on)
            .map(|(_, what)| *what)
            .collect()
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
        match (x, y) {
            (0, 0) => {}
            (x, y) if x == y => args.push(x.to_string()),
            (x, y) => args.push(format!("{x}x{y}")),
        }
        Effect::new("text", args).ok().map(Step::Effect)
    }
}

/// Returns where a text lies along a side of this length in px. Distances are limited to 10 000 px.
fn anchor(place: Place, side: u32) -> Anchor {
    let within = |px: i64| px.clamp(-10_000, 10_000);
    let px = |px: i64| match px {
        ..0 => Anchor::End(within(-px)),
        _ => Anchor::Start(within(px)),
    };
    match place {
        Place::Px(number) => px(number),
        // Cut, as Go does.
        Place::Percent(percent) => px((f64::from(side) * percent / 100.0) as i64),
        Place::Start(beyond) => Anchor::Start(within(beyond)),
        Place::Middle => Anchor::Middle,
        Place::End(beyond) => Anchor::End(within(-beyond)),
        Place::Spread | Place::Repeat => Anchor::Start(0),
    }
}
