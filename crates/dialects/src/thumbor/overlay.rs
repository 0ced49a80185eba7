//! Pictures that filters lay over others: `watermark`, and imagor's `image`.

use andon_recipe::Step;

use super::filters::{Lenient, Typed};
use super::path;
use super::{Flavour, image_name};
use crate::effects::{self, from_edge};
use crate::request::relative;

/// A picture over another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Overlay {
    /// Below `/`, where the origins are.
    file: String,
    at: (Place, Place),
    /// Per cent.
    opacity: f64,
    size: Size,
    mode: &'static str,
    /// Are shares of a side rounded? Otherwise they are cut.
    rounds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Less than none: from the other edge.
    Px(i64),
    /// The same, in per cent of the picture's side.
    Percent(f64),
    Start,
    Middle,
    End,
    /// As many as there is room for, evenly.
    Spread,
    /// One beside the other.
    Repeat,
}

/// How large it becomes, in its own shape.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    Own,
    /// As large as fits into these shares of the picture's sides, in per cent.
    Shares(Option<f64>, Option<f64>),
    /// The largest size that fits into a width and height in px; 0 leaves a side to the other one.
    Px(u32, u32),
}

impl Overlay {
    /// thumbor's `watermark(url,x,y,alpha[,w%,h%])`. Pictures of other servers are not fetched.
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
                    _ if text.starts_with("-0") && number == 0 => Place::End,
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
        })
    }

    /// imagor's, which has more places: `left`, `bottom`, shares.
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
        })
    }

    /// imagor's `image(path,x,y[,alpha[,blend]])`, whose path may bring the picture inside a size.
    pub(super) fn image(list: &Lenient<'_>) -> Option<Self> {
        let (parts, image) = path::read(Flavour::Imagor, list.raw(0)?.trim_start_matches('/'));
        let (w, h) = parts.size.unwrap_or_default();
        let plain = path::Parts {
            size: parts.size,
            fit: parts.fit,
            ..path::Parts::default()
        };
        let mode = list.text(4).filter(|mode| !mode.is_empty());
        let mode = mode.as_deref().unwrap_or("normal");
        let mode = MODES.iter().find(|known| **known == mode)?;
        (parts == plain).then_some(())?;
        Some(Self {
            file: local(&image_name(Flavour::Imagor, image).ok()?)?,
            at: places(list),
            opacity: opacity(list.decimal(3)),
            size: Size::Px(w.px(), h.px()),
            mode,
            rounds: false,
        })
    }

    pub(super) fn file(&self) -> Option<&str> {
        (self.opacity > 0.0).then_some(&self.file)
    }

    /// What it comes to on a picture of this size.
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
            Place::Start => "0".to_owned(),
            Place::Middle => "50p".to_owned(),
            Place::End => "100p".to_owned(),
            Place::Spread => "spread".to_owned(),
            Place::Repeat => "repeat".to_owned(),
        };
        let share = |share: Option<f64>, side: u32| {
            share.map_or(0, |share| {
                (whole(f64::from(side) * share / 100.0) as u32).max(1)
            })
        };
        let size = match self.size {
            Size::Own => (0, 0),
            Size::Shares(w, h) => (share(w, width), share(h, height)),
            Size::Px(w, h) => (w, h),
        };
        effects::Overlay {
            file: self.file.clone(),
            at: (place(self.at.0, width), place(self.at.1, height)),
            opacity: self.opacity,
            size,
            mode: self.mode,
            inside: size.0 > 0 && size.1 > 0,
        }
        .step()
    }
}

/// The blend modes that the engine has, too.
const MODES: [&str; 11] = [
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
];

/// 0 covers, 100 is clear.
fn opacity(alpha: f64) -> f64 {
    (100.0 - alpha).clamp(0.0, 100.0)
}

/// The name of a file below `/`; none of a URL.
fn local(name: &str) -> Option<String> {
    let path = relative(name);
    let plain = !path.is_empty() && !path.contains('\0') && !name.contains(":/");
    plain.then(|| format!("/{path}"))
}

/// imagor's places, across and down.
fn places(list: &Lenient<'_>) -> (Place, Place) {
    let place = |at: usize| {
        let text = list.text(at).unwrap_or_default();
        let number = text.strip_prefix('-').unwrap_or(&text);
        match text.as_str() {
            "center" => Place::Middle,
            "left" | "top" => Place::Start,
            "right" | "bottom" => Place::End,
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
