//! Overlay images of filters: `watermark`, and imagor's `image`.

use andon_recipe::{Effect, Step};

use super::filters::{Lenient, Typed, unescaped};
use super::nested::Nested;
use super::path;
use super::{Flavour, colours, image_name};
use crate::effects::{self, from_edge};
use crate::request::relative;

/// An image that is laid over another one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Overlay {
    /// The path of a file below the origins, beginning with `/`; or a colour.
    file: String,
    at: (Place, Place),
    /// Opacity in percent.
    opacity: f64,
    size: Size,
    mode: &'static str,
    /// Whether shares of a side are rounded to whole px. Otherwise they are truncated.
    rounds: bool,
    /// The operations in the overlay's own path, if it is a thumbor URL that does more than scale.
    nested: Option<Box<Nested>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// Pixels from the left or top edge; negative: from the opposite edge.
    Px(i64),
    /// Percent of the image's side, from the left or top edge; negative: from the opposite edge.
    Percent(f64),
    /// Pixels from the left or top edge.
    Start(i64),
    Middle,
    /// At the right or bottom edge, and this many pixels beyond it.
    End(i64),
    /// As many copies as there is room for, evenly spread.
    Spread,
    /// Copies side by side.
    Repeat,
}

/// The size that an overlay is scaled to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    Own,
    /// As large as fits into these percentages of the image's sides.
    Shares(Option<f64>, Option<f64>),
    /// A width, a height, and how the overlay is fitted to them. A side of 0 px follows from the other one.
    Sides(Side, Side, &'static str),
}

/// A side of an overlay image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Px(u32),
    /// The side of the image below, plus this many pixels.
    Full(i64),
}

impl Side {
    /// Returns the side in px, for an overlay on an image with this side.
    pub(super) fn of(self, side: u32) -> u32 {
        match self {
            Self::Px(px) => px,
            // Clamped to what a side may be.
            Self::Full(more) => i64::from(side).saturating_add(more).clamp(1, 32_768) as u32,
        }
    }

    /// Parses `f`, `full-20`, digits, or an empty text, which is 0 px.
    fn read(text: &str) -> Option<Self> {
        let full = text.strip_prefix("full").or_else(|| text.strip_prefix('f'));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match full {
            Some("") => Some(Self::Full(0)),
            Some(less) => {
                let digits = less.strip_prefix('-').filter(|digits| plain(digits))?;
                digits.parse().ok().map(|px: i64| Self::Full(-px))
            }
            None if text.is_empty() => Some(Self::Px(0)),
            None => plain(text).then(|| text.parse().ok().map(Self::Px))?,
        }
    }
}

impl Overlay {
    /// Reads thumbor's `watermark(url,x,y,alpha[,w%,h%])`. Images from other servers are not fetched.
    pub(super) fn thumbor(list: &Typed<'_>) -> Option<Self> {
        let place = |text: &str| match text {
            "center" => Some(Place::Middle),
            "repeat" => Some(Place::Spread),
            text => {
                let (number, percent) = match text.strip_suffix('p') {
                    Some(number) => (number, true),
                    None => (text, false),
                };
                let digits = number.strip_prefix('-').unwrap_or(number);
                let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                let number: i64 = plain.then(|| number.parse().ok()).flatten()?;
                Some(match (percent, number) {
                    // Its sign alone counts.
                    _ if text.starts_with("-0") && number == 0 => Place::End(0),
                    (true, _) => Place::Percent(number as f64),
                    (false, _) => Place::Px(number),
                })
            }
        };
        let share = |at: usize| match list.text(at) {
            None if list.has(at) => None,
            None | Some("none" | "0") => Some(None),
            Some(_) => list.positive(at).map(|share| Some(f64::from(share))),
        };
        Some(Self {
            file: local(list.text(0)?)?,
            at: (place(list.text(1)?)?, place(list.text(2)?)?),
            opacity: opacity(f64::from(list.positive(3)?)),
            size: match (share(4)?, share(5)?) {
                (None, None) => Size::Own,
                (w, h) => Size::Shares(w, h),
            },
            mode: "normal",
            rounds: true,
            nested: None,
        })
    }

    /// Reads imagor's `watermark`, which supports more places: `left`, `bottom`, shares.
    pub(super) fn imagor(list: &Lenient<'_>) -> Option<Self> {
        let share = |at: usize| match list.text(at)?.as_str() {
            "none" => None,
            _ => Some(list.decimal(at)),
        };
        Some(Self {
            file: local(&image_name(Flavour::Imagor, list.raw(0)?).ok()?)?,
            at: places(list),
            opacity: opacity(list.decimal(3)),
            size: match list.count() {
                // One that is not said is all of that side.
                6.. => Size::Shares(share(4).or(Some(100.0)), share(5).or(Some(100.0))),
                _ => Size::Own,
            },
            mode: "normal",
            rounds: false,
            nested: None,
        })
    }

    /// Reads imagor's `image(path,x,y[,alpha[,blend]])`. The path may scale the overlay, also to the size of the image
    /// below (`f`), and may have filters, with images nested at most `levels` deep.
    pub(super) fn image(list: &Lenient<'_>, levels: usize) -> Option<Self> {
        // As a value of a form, which is what imagor reads.
        let path = unescaped(list.raw(0)?);
        let (rest, sides) = with_sides(path.trim_start_matches('/'));
        let (mut parts, image) = path::read(Flavour::Imagor, &rest);
        let filters = std::mem::take(&mut parts.filters);
        let plain = path::Parts {
            size: parts.size,
            fit: parts.fit,
            stretch: parts.stretch,
            ..path::Parts::default()
        };
        let mode = list.text(4).unwrap_or_default();
        // Other words are `normal` to it.
        let known = MODES.iter().find(|known| **known == mode);
        let is_plain = parts.fit.is_none_or(|fit| fit == path::FitIn::default());
        let is_plain = is_plain && parts == plain && filters.is_empty();
        let shape = match (parts.fit, parts.stretch) {
            (Some(_), _) => "inside",
            (None, true) => "exact",
            (None, false) => "cover",
        };
        let sides = sides.unwrap_or((Side::Px(0), Side::Px(0)));
        let name = image_name(Flavour::Imagor, image).ok()?;
        let file = match colours::of_image(&name) {
            Some(colour) => format!("{}{colour}", Effect::COLOUR),
            None => local(&name)?,
        };
        let nested = match is_plain {
            true => None,
            false => Some(Box::new(Nested::new(parts, sides, filters, levels)?)),
        };
        Some(Self {
            file,
            at: places(list),
            opacity: opacity(list.decimal(3)),
            size: match nested {
                Some(_) => Size::Own,
                None => Size::Sides(sides.0, sides.1, shape),
            },
            mode: known.copied().unwrap_or("normal"),
            rounds: false,
            nested,
        })
    }

    /// Returns the overlay's file, and the files of the filters in its own path.
    pub(super) fn files(&self) -> Vec<String> {
        if self.opacity <= 0.0 {
            return Vec::new();
        }
        let own = (!self.file.starts_with(Effect::COLOUR)).then(|| self.file.clone());
        let nested = self.nested.iter().flat_map(|nested| nested.files());
        own.into_iter().chain(nested).collect()
    }

    /// Returns the step that lays the overlay on an image of this size in px.
    pub(super) fn step(&self, (width, height): (u32, u32)) -> Option<Step> {
        let whole = |px: f64| match self.rounds {
            true => px.round(),
            false => px.trunc(),
        };
        let place = |place: Place, side: u32| match place {
            Place::Px(px) => from_edge(px),
            Place::Percent(percent) => match whole(f64::from(side) * percent / 100.0) {
                0.0 if percent < 0.0 => "100p".to_owned(),
                px => from_edge(px as i64),
            },
            Place::Start(px) => px.to_string(),
            Place::Middle => "50p".to_owned(),
            Place::End(0) => "100p".to_owned(),
            Place::End(px) => format!("100p{px:+}"),
            Place::Spread => "spread".to_owned(),
            Place::Repeat => "repeat".to_owned(),
        };
        let share = |share: Option<f64>, side: u32| {
            share.map_or(0, |share| {
                (whole(f64::from(side) * share / 100.0) as u32).max(1)
            })
        };
        let (size, shape) = match self.size {
            Size::Own => ((0, 0), "exact"),
            Size::Shares(w, h) => ((share(w, width), share(h, height)), "inside"),
            Size::Sides(w, h, shape) => ((w.of(width), h.of(height)), shape),
        };
        effects::Overlay {
            file: self.file.clone(),
            at: (place(self.at.0, width), place(self.at.1, height)),
            opacity: self.opacity,
            size,
            mode: self.mode,
            shape: if size.0 > 0 && size.1 > 0 {
                shape
            } else {
                "exact"
            },
            recipe: match &self.nested {
                Some(nested) => nested.steps((width, height)),
                None => Vec::new(),
            },
        }
        .step()
    }
}

/// The blend modes of imagor that the engine supports, too.
const MODES: [&str; 15] = [
    "normal",
    "multiply",
    "color-burn",
    "darken",
    "screen",
    "color-dodge",
    "lighten",
    "overlay",
    "soft-light",
    "hard-light",
    "difference",
    "exclusion",
    "add",
    "mask",
    "mask-out",
];

/// Replaces the first size in a path, which may depend on the image below (`f-20x100`), by a plain size, and returns
/// the new path and the sides. Only a size before the filters counts.
fn with_sides(path: &str) -> (String, Option<(Side, Side)>) {
    let mut start = 0;
    for segment in path.split('/') {
        if segment.starts_with("filters:") {
            break;
        }
        // A minus in front flips.
        let side = |text: &str| {
            let bare = text.strip_prefix('-');
            Side::read(bare.unwrap_or(text)).map(|side| (bare.map_or("", |_| "-"), side))
        };
        let sides = segment
            .split_once('x')
            .and_then(|(w, h)| side(w).zip(side(h)));
        if let Some(((across, w), (down, h))) = sides {
            let (before, after) = (&path[..start], &path[start + segment.len()..]);
            let plain = format!("{before}{across}1x{down}1{after}");
            return (plain, Some((w, h)));
        }
        start += segment.len() + 1;
    }
    (path.to_owned(), None)
}

/// Converts an alpha of 0 (opaque) to 100 (invisible) to an opacity in percent.
fn opacity(alpha: f64) -> f64 {
    (100.0 - alpha).clamp(0.0, 100.0)
}

/// Returns the path of a file, beginning with `/`; `None` for a URL.
fn local(name: &str) -> Option<String> {
    let path = relative(name);
    let plain = !path.is_empty() && !path.contains('\0') && !name.contains(":/");
    plain.then(|| format!("/{path}"))
}

/// Parses imagor's places of an overlay or text, across and down.
pub(super) fn places(list: &Lenient<'_>) -> (Place, Place) {
    let place = |at: usize| {
        let text = list.text(at).unwrap_or_default();
        // A place by its word or its first letter, and px beyond it.
        let (word, beyond) = match text.split_once('-') {
            Some((word, px)) if !word.is_empty() => (word, px.parse::<i32>().unwrap_or(0).into()),
            _ => (&*text, 0),
        };
        match word {
            "left" | "l" | "top" | "t" => return Place::Start(-beyond),
            "right" | "r" | "bottom" | "b" => return Place::End(beyond),
            _ => {}
        }
        let number = text.strip_prefix('-').unwrap_or(&text);
        match text.as_str() {
            "center" => Place::Middle,
            "repeat" => Place::Repeat,
            // What is no number is 0.
            text if number.starts_with("0.") => Place::Percent(100.0 * text.parse().unwrap_or(0.0)),
            text => match text.strip_suffix('p') {
                Some(percent) => Place::Percent(percent.parse::<i32>().unwrap_or(0).into()),
                None => Place::Px(text.parse::<i32>().unwrap_or(0).into()),
            },
        }
    };
    (place(1), place(2))
}
