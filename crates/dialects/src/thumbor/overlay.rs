//! Overlay images of filters: `watermark`, and imagor's `image`.

use andon_recipe::{Effect, Step};

use super::args::Args;
use super::colours;
use super::flavour::{Flavour, unescape};
use super::path::{self, FitIn, Parts};
use super::place::Place;
use crate::effects::{self, from_edge};
use crate::request::{Source, relative};

/// An overlay: an image or a colour that is laid over the image.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Overlay {
    /// A path below the origins that begins with `/`, a URL, or a colour.
    file: String,
    at: (Place, Place),
    /// Opacity in percent.
    opacity: f64,
    size: Size,
    mode: &'static str,
    /// Whether shares of a side are rounded to whole px. Otherwise they are truncated.
    rounds: bool,
}

/// The size that an overlay is scaled to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    Own,
    /// The largest size within these percentages of width and height of the image below. `None`: the side follows from
    /// the other one.
    Shares(Option<f64>, Option<f64>),
    /// Width, height, and how the overlay is fitted to them. A side of 0 px follows from the other one.
    Sides(Side, Side, &'static str),
}

/// The requested width or height of an overlay image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Px(u32),
    /// The side of the image below, plus this many px.
    Full(i64),
}

impl Side {
    /// Returns the side in px, for an overlay on an image with the side `side`.
    pub(super) fn of(self, side: u32) -> u32 {
        match self {
            Self::Px(px) => px,
            // The result is clamped to the lengths that a side may have.
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

/// The operations in the path of an overlay: its parts, and the sides that replace the size in them.
type Path = (Parts, (Side, Side));

impl Overlay {
    /// Parses the filter `watermark(url,x,y,alpha[,w%,h%])`.
    pub(super) fn watermark(args: &Args<'_>) -> Option<Self> {
        let name = match args.flavour {
            Flavour::Thumbor => args.text(0)?.into_owned(),
            Flavour::Imagor => args.flavour.image_name(args.raw(0)?).ok()?,
        };
        let (at, alpha, size) = match args.flavour {
            Flavour::Thumbor => {
                let share = |at: usize| match args.text(at).as_deref() {
                    None if args.has(at) => None,
                    None | Some("none" | "0") => Some(None),
                    Some(_) => args.size(at).map(|share| Some(f64::from(share))),
                };
                let at = (Place::thumbor(args, 1)?, Place::thumbor(args, 2)?);
                (at, args.size(3)?.into(), Some((share(4)?, share(5)?)))
            }
            Flavour::Imagor => {
                let has_value = |at: usize| args.text(at).as_deref() != Some("none");
                let share = |at: usize| args.decimal(at).filter(|_| has_value(at));
                // The default of a side is 100 %.
                let share_or_all = |at: usize| share(at).or(Some(100.0));
                let size = args.has(5).then(|| (share_or_all(4), share_or_all(5)));
                (Place::both(args), args.decimal(3)?, size)
            }
        };
        Some(Self {
            file: file(&name)?,
            at,
            opacity: opacity(alpha),
            size: match size {
                None | Some((None, None)) => Size::Own,
                Some((w, h)) => Size::Shares(w, h),
            },
            mode: "normal",
            rounds: args.flavour == Flavour::Thumbor,
        })
    }

    /// Parses imagor's `image(path,x,y[,alpha[,blend]])`. The path may scale the overlay, also to the size of the image
    /// below (`f`). If the path does more than that, it is returned as well.
    pub(super) fn image(args: &Args<'_>) -> Option<(Self, Option<Path>)> {
        // imagor decodes the path like the value of a form.
        let path = unescape(args.raw(0)?);
        let (rest, sides) = with_sides(path.trim_start_matches('/'));
        let (parts, image) = path::read(Flavour::Imagor, &rest);
        let plain = Parts {
            size: parts.size,
            fit: parts.fit.map(|_| FitIn::default()),
            stretch: parts.stretch,
            ..Parts::default()
        };
        let shape = match (parts.fit, parts.stretch) {
            (Some(_), _) => "inside",
            (None, true) => "exact",
            (None, false) => "cover",
        };
        let sides = sides.unwrap_or((Side::Px(0), Side::Px(0)));
        let name = Flavour::Imagor.image_name(image).ok()?;
        let mode = args.text(4).unwrap_or_default();
        let nested = (parts != plain).then_some((parts, sides));
        let overlay = Self {
            file: match colours::of_image(&name) {
                Some(colour) => format!("{}{colour}", Effect::COLOUR),
                None => file(&name)?,
            },
            at: Place::both(args),
            opacity: opacity(args.decimal(3)?),
            size: match nested {
                Some(_) => Size::Own,
                None => Size::Sides(sides.0, sides.1, shape),
            },
            mode: blend_mode(&mode),
            rounds: false,
        };
        Some((overlay, nested))
    }

    /// Whether the overlay is visible.
    pub(super) fn shows(&self) -> bool {
        self.opacity > 0.0
    }

    /// Returns the path or URL of the overlay; `None` if it is a colour.
    pub(super) fn file(&self) -> Option<&str> {
        Some(&*self.file).filter(|file| !file.starts_with(Effect::COLOUR))
    }

    /// Returns the overlay with `prefix` (a scheme and two slashes) in front of a name that has no scheme.
    pub(super) fn with_scheme(mut self, prefix: &str) -> Self {
        if let Some(path) = self.file.strip_prefix('/') {
            self.file = format!("{prefix}{path}");
        }
        self
    }

    /// Returns the step that lays the overlay on an image of this size in px. `recipe` has the steps that are applied
    /// to the overlay first.
    pub(super) fn step(&self, (width, height): (u32, u32), recipe: Vec<Step>) -> Option<Step> {
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
            recipe,
            colour_outside: None,
        }
        .step()
    }
}

/// Returns the engine's word for a blend mode. An unknown mode is `normal`, as in imagor.
pub(super) fn blend_mode(word: &str) -> &'static str {
    let mode = MODES.iter().find(|mode| **mode == word);
    mode.copied().unwrap_or("normal")
}

/// The blend modes of imagor that the engine supports.
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

/// Replaces the first size in a path, which may depend on the image below (`f-20x100`), by a placeholder, and returns
/// the new path and the sides. Only a size before the filters counts.
fn with_sides(path: &str) -> (String, Option<(Side, Side)>) {
    let mut start = 0;
    for segment in path.split('/') {
        if segment.starts_with("filters:") {
            break;
        }
        // A leading minus flips the image along that side.
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

/// Returns the name of an overlay image in the form that recipes have: a URL, or a path that begins with `/`.
fn file(name: &str) -> Option<String> {
    let source = Source::url(name).unwrap_or_else(|| Source::Path(relative(name)));
    let plain = !source.as_str().is_empty() && !name.contains('\0');
    plain.then(|| source.overlay_name())
}
