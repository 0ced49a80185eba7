//! `draw`: images that are laid over the result, as a JSON array of objects like those that Cloudflare Workers pass.

use andon_recipe::{Cover, Exact, Fit, Gravity, Orient, Step};
use serde::Deserialize;

use crate::effects::Overlay;
use crate::geometry::{self, bounds, length};
use crate::refusal::{Refusal, shorten};
use crate::request::Source;

/// An image that is laid over the result. All lengths are in px of the result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drawing {
    /// An absolute URL, or a path of an origin that begins with `/`.
    url: String,
    width: Option<u32>,
    height: Option<u32>,
    #[serde(default)]
    fit: Fitting,
    opacity: Option<f64>,
    repeat: Option<Repeat>,
    top: Option<f64>,
    left: Option<f64>,
    bottom: Option<f64>,
    right: Option<f64>,
    rotate: Option<u32>,
}

/// How an overlay is fitted to its box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fitting {
    #[default]
    ScaleDown,
    Contain,
    Cover,
    Crop,
    Squeeze,
}

/// In which directions an overlay is repeated: `true` for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Repeat {
    Both(bool),
    One(Axis),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Axis {
    X,
    Y,
}

/// Maximum number of images that one URL may lay over its result.
const MOST: usize = 16;

/// The longest side of an overlay, in px.
const LONGEST: u32 = 12_000;

/// Parses the value of `draw`.
///
/// # Errors
/// A text that is not a JSON array of images, too many images, or an image with an invalid value.
pub(super) fn read(text: &str) -> Result<Vec<Drawing>, Refusal> {
    let drawings: Vec<Drawing> = serde_json::from_str(text).map_err(|error| {
        let why = format!(
            "draw is a JSON array such as [{{\"url\":\"https://example.com/logo.png\",\"bottom\":5,\"right\":5}}]: {error}"
        );
        Refusal::new(&shorten(text), why)
    })?;
    if drawings.len() > MOST {
        let why = format!("draw has {} images, more than {MOST}", drawings.len());
        return Err(Refusal::new(&shorten(text), why));
    }
    match drawings.iter().find_map(Drawing::fault) {
        None => Ok(drawings),
        Some((value, why)) => Err(Refusal::new(&shorten(&value), format!("draw: {why}"))),
    }
}

impl Drawing {
    /// Returns the first invalid value, and what would be valid; `None` if the image can be drawn.
    fn fault(&self) -> Option<(String, &'static str)> {
        let is_place = |px: &f64| px.abs() <= f64::from(LONGEST);
        let places = [self.top, self.left, self.bottom, self.right];
        let sides = [self.width, self.height];
        let mut sides = sides.into_iter().flatten();
        let side = sides.find(|side| !(1..=LONGEST).contains(side));
        let place = places.into_iter().flatten().find(|px| !is_place(px));
        let opacity = self.opacity.filter(|it| !(0.0..=1.0).contains(it));
        let turn = self
            .rotate
            .filter(|it| ![0, 90, 180, 270, 360].contains(it));
        let is_twice = |one: Option<f64>, other: Option<f64>| one.is_some() && other.is_some();
        let faults = [
            (self.file().is_none()).then(|| {
                (
                    self.url.clone(),
                    "url is an absolute URL, or a path that begins with /",
                )
            }),
            side.map(|it| {
                (
                    it.to_string(),
                    "width and height are whole numbers from 1 to 12000",
                )
            }),
            place.map(|it| {
                (
                    it.to_string(),
                    "top, left, bottom and right are from -12000 to 12000",
                )
            }),
            opacity.map(|it| (it.to_string(), "opacity is a number from 0 to 1")),
            turn.map(|it| (it.to_string(), "rotate is 0, 90, 180, 270 or 360")),
            is_twice(self.left, self.right)
                .then(|| (self.url.clone(), "left and right cannot both be set")),
            is_twice(self.top, self.bottom)
                .then(|| (self.url.clone(), "top and bottom cannot both be set")),
        ];
        faults.into_iter().flatten().next()
    }

    fn file(&self) -> Option<String> {
        let is_path = self.url.starts_with('/') && !self.url.starts_with("//");
        let source = match is_path {
            true => Some(Source::from_path(&self.url)),
            false => Source::url(&self.url),
        };
        let source = source.filter(|source| !source.as_str().is_empty())?;
        Some(source.overlay_name())
    }

    /// Returns the name of the overlay image; `None` if the overlay is fully transparent.
    pub(super) fn overlay_name(&self) -> Option<String> {
        self.file().filter(|_| self.opacity != Some(0.0))
    }

    /// Returns the step that lays the image over the result.
    pub(super) fn step(&self) -> Option<Step> {
        let tiles = self.repeat == Some(Repeat::Both(true));
        let place = |start: Option<f64>, end: Option<f64>, axis| match (start, end) {
            _ if self.repeat == Some(Repeat::One(axis)) => "repeat".to_owned(),
            (Some(px), _) => (px.round() as i64).to_string(),
            (None, Some(px)) => format!("100p{:+}", -(px.round() as i64)),
            (None, None) if tiles => "0".to_owned(),
            (None, None) => "50p".to_owned(),
        };
        let recipe: Vec<Step> = self.fit_step().into_iter().collect();
        let turn = geometry::turn(self.rotate.unwrap_or(0)).map(Step::Turn);
        let recipe: Vec<Step> = recipe.into_iter().chain(turn).collect();
        let upright = (!recipe.is_empty()).then_some(Step::Orient(Orient));
        Overlay {
            file: self.file()?,
            at: (
                place(self.left, self.right, Axis::X),
                place(self.top, self.bottom, Axis::Y),
            ),
            opacity: self.opacity.unwrap_or(1.0) * 100.0,
            size: (0, 0),
            mode: if tiles { "tile" } else { "normal" },
            shape: "exact",
            recipe: upright.into_iter().chain(recipe).collect(),
            colour_outside: None,
        }
        .step()
    }

    /// Returns the step that scales the overlay to its box; `None` without a box.
    fn fit_step(&self) -> Option<Step> {
        let [w, h] = [self.width, self.height].map(|side| side.map(f64::from));
        let inside = bounds(w, h)?;
        let enlarge = !matches!(self.fit, Fitting::ScaleDown | Fitting::Crop);
        let fits = Step::Fit(Fit { inside, enlarge });
        let (Some(w), Some(h)) = (w, h) else {
            return Some(fits);
        };
        let (w, h) = (length(w), length(h));
        Some(match self.fit {
            Fitting::ScaleDown | Fitting::Contain => fits,
            Fitting::Squeeze => Step::Exact(Exact { w, h }),
            Fitting::Cover | Fitting::Crop => Step::Cover(Cover {
                w,
                h,
                gravity: Gravity::Centre,
                enlarge,
            }),
        })
    }
}
