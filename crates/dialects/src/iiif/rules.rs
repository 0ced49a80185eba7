//! Resolves region, size, rotation, quality and format of a target for an image.

mod wish;

use std::fmt::{self, Display};
use std::sync::Arc;

use andon_recipe::{
    Colour, Effect, Facts, Flip, Orient, Output, Recipe, ResolveError, Rotate, Rules, Step, Turn,
};

use super::parse::{FORMATS, Quality, Region, Rotation, Shape, Size};
use super::{LargerBox, Version};

/// The parameters of a target, and how they are resolved to a recipe for an image.
#[derive(Clone, Debug)]
pub(super) struct IiifRules {
    pub(super) version: Version,
    pub(super) region: Region,
    pub(super) size: Size,
    pub(super) rotation: Rotation,
    pub(super) quality: Quality,
    pub(super) output: Output,
    pub(super) limits: Limits,
    pub(super) larger_box: LargerBox,
    /// The beginning of the canonical URI, up to the parameters: the prefix, and the identifier as received.
    pub(super) base: Arc<str>,
}

/// Limits of a result: width, height and area in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) area: u64,
}

/// The region (x, y, width and height), and the size that it is scaled to, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    region: (u32, u32, u32, u32),
    size: (u32, u32),
}

impl Limits {
    pub(super) fn allow(self, (w, h): (u32, u32)) -> bool {
        w <= self.width && h <= self.height && u64::from(w) * u64::from(h) <= self.area
    }

    /// Returns the largest size of this shape within the limits. It is larger than the given size only if `grows`. The
    /// area is limited first, with both sides rounded down, then the width, then the height.
    pub(super) fn largest(self, (w, h): (u32, u32), grows: bool) -> (u32, u32) {
        if !grows && self.allow((w, h)) {
            return (w, h);
        }
        let (width, height) = (f64::from(w), f64::from(h));
        let mut size = (width, height);
        if grows || width * height > self.area as f64 {
            let scale = (self.area as f64 / (width * height)).sqrt();
            size = ((width * scale).floor(), (height * scale).floor());
        }
        if size.0 > self.width.into() {
            let across = f64::from(self.width);
            size = (across, (height * across / width).round());
        }
        if size.1 > self.height.into() {
            let down = f64::from(self.height);
            size = ((width * down / height).round(), down);
        }
        ((size.0 as u32).max(1), (size.1 as u32).max(1))
    }
}

impl IiifRules {
    fn layout(&self, facts: &Facts) -> Result<Layout, ResolveError> {
        let whole = facts.orientation.size(facts.width, facts.height);
        let (region, bounds) = self.extract(whole)?;
        let size = self.scale((region.2, region.3), bounds)?;
        Ok(Layout { region, size })
    }

    /// Returns the region (left, top, width and height) in px, and the largest size that does not count as an
    /// enlargement: that of the region, where a side in percent that was rounded down counts as 1 px longer, because
    /// clients may round up.
    #[expect(clippy::type_complexity, reason = "x, y, width, height; width, height")]
    fn extract(
        &self,
        (width, height): (u32, u32),
    ) -> Result<((u32, u32, u32, u32), (u32, u32)), ResolveError> {
        let with_own_size = |region: (u32, u32, u32, u32)| (region, (region.2, region.3));
        Ok(match self.region {
            Region::Full => with_own_size((0, 0, width, height)),
            Region::Square => {
                let side = width.min(height);
                with_own_size(((width - side) / 2, (height - side) / 2, side, side))
            }
            Region::At([x, y, w, h]) => {
                if x >= width || y >= height {
                    let why = format!("it lies outside of the image of {width}x{height} px");
                    return Err(ResolveError::new(self.region, why));
                }
                with_own_size((x, y, w.min(width - x), h.min(height - y)))
            }
            Region::Percent([x, y, w, h]) => {
                let along = |percent: f64, side: u32| f64::from(side) * percent / 100.0;
                // A region in percent may begin at the last pixel at most, so that it is never empty.
                let start =
                    |percent, side: u32| (along(percent, side).round() as u32).min(side - 1);
                let (left, top) = (start(x, width), start(y, height));
                let length = |percent, side: u32, start: u32| {
                    (along(percent, side).round() as u32).clamp(1, side - start)
                };
                let (w_px, h_px) = (length(w, width, left), length(h, height, top));
                let most =
                    |percent, px: u32, side| (along(percent, side).ceil() as u32).min(px + 1);
                let bounds = (
                    most(w, w_px, width).max(w_px),
                    most(h, h_px, height).max(h_px),
                );
                ((left, top, w_px, h_px), bounds)
            }
        })
    }

    fn scale(&self, (w, h): (u32, u32), bounds: (u32, u32)) -> Result<(u32, u32), ResolveError> {
        let (width, height) = (f64::from(w), f64::from(h));
        let grows = self.size.grows;
        let whole = |side: f64| side.round() as u32;
        let size = match self.size.shape {
            Shape::Max => return Ok(self.limits.largest((w, h), grows)),
            Shape::Width(across) => (across, whole(height * f64::from(across) / width)),
            Shape::Height(down) => (whole(width * f64::from(down) / height), down),
            Shape::Exact(across, down) => (across, down),
            Shape::Percent(n) => (whole(width * n / 100.0), whole(height * n / 100.0)),
            Shape::Inside(across, down)
                if !grows && across >= w && down >= h && self.larger_box == LargerBox::Image =>
            {
                (w, h)
            }
            Shape::Inside(across, down) => {
                let (across_px, down_px) = (f64::from(across), f64::from(down));
                if across_px * height <= down_px * width {
                    (across, whole(height * across_px / width))
                } else {
                    (whole(width * down_px / height), down)
                }
            }
        };
        if size.0 == 0 || size.1 == 0 {
            let why = format!("a side of the region of {w}x{h} px rounds to nothing");
            return Err(ResolveError::new(self.size, why));
        }
        if !grows && (size.0 > bounds.0 || size.1 > bounds.1) {
            let why = format!(
                "it is larger than the region of {w}x{h} px; `^` before the size allows enlarging"
            );
            return Err(ResolveError::new(self.size, why));
        }
        if !self.limits.allow(size) {
            let (
                Limits {
                    width,
                    height,
                    area,
                },
                (w, h),
            ) = (self.limits, size);
            let why = format!(
                "{w}x{h} px are over the limits of {width} px across, {height} px down and {area} px \
                 together; info.json names them"
            );
            return Err(ResolveError::new(self.size, why));
        }
        Ok(size)
    }
}

impl Rules for IiifRules {
    fn text(&self) -> String {
        let version = self.version.number();
        let output = Recipe::from(self.output.clone());
        let (region, size, rotation) = (self.region, self.size, self.rotation);
        let (size, quality) = (size.in_version(self.version), self.quality);
        // The text is part of cache keys. The same target is an error or not, depending on the setting.
        let strict = match self.larger_box {
            LargerBox::Image => "",
            LargerBox::Error => ";larger_box=error",
        };
        format!("iiif{version}({region}/{size}/{rotation}/{quality};{output}{strict})")
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let Layout { region, size } = self.layout(facts)?;
        let (x, y, w, h) = region;
        let mut steps = vec![
            Step::Orient(Orient),
            Step::crop(x, y, w, h),
            Step::exact(size.0, size.1),
        ];
        if self.rotation.mirror {
            steps.push(Step::Flip(Flip::Horizontal));
        }
        let format = self.output.format.as_ref();
        let opaque = format.is_some_and(|format| format.as_str() == "jpeg");
        steps.push(match self.rotation.degrees {
            90.0 => Step::Turn(Turn::R90),
            180.0 => Step::Turn(Turn::R180),
            270.0 => Step::Turn(Turn::R270),
            degrees => Step::Rotate(Rotate {
                degrees,
                colour: if opaque { Colour::WHITE } else { Colour::CLEAR },
            }),
        });
        let effect = match self.quality {
            Quality::Default | Quality::Color => None,
            Quality::Gray => Effect::new("gray", Vec::new()).ok(),
            Quality::Bitonal => Effect::new("bitonal", Vec::new()).ok(),
        };
        steps.extend(effect.map(Step::Effect));
        let output = self.output.clone();
        Recipe { steps, output }.resolve(facts)
    }

    crate::rules::kept_output!();

    fn wish(&self) -> Option<andon_recipe::Wish> {
        Some(self.to_wish())
    }

    fn canonical(&self, facts: &Facts) -> Option<String> {
        let Layout { region, size } = self.layout(facts).ok()?;
        let whole = facts.orientation.size(facts.width, facts.height);
        let (x, y, w, h) = region;
        let region = match region == (0, 0, whole.0, whole.1) {
            true => "full".to_owned(),
            false => format!("{x},{y},{w},{h}"),
        };
        let (across, down) = size;
        let largest = |grows| self.limits.largest((w, h), grows) == size;
        let size = match self.version {
            Version::V3 if largest(false) => "max".to_owned(),
            Version::V3 if largest(true) => "^max".to_owned(),
            Version::V3 if across > w || down > h => format!("^{across},{down}"),
            Version::V3 => format!("{across},{down}"),
            Version::V2 if (across, down) == (w, h) => "full".to_owned(),
            Version::V2 => {
                let keeps = f64::from(h) * f64::from(across) / f64::from(w);
                match keeps.round() as u32 == down {
                    true => format!("{across},"),
                    false => format!("{across},{down}"),
                }
            }
        };
        // The default quality keeps the colours of an image in colour, so that `color` is not canonical.
        let quality = match self.quality {
            Quality::Color => Quality::Default,
            quality => quality,
        };
        let format = self.output.format.as_ref()?;
        let row = FORMATS.iter().find(|(_, name)| *name == format.as_str());
        let (extension, _) = row?;
        let (base, rotation) = (&self.base, self.rotation);
        Some(format!(
            "{base}/{region}/{size}/{rotation}/{quality}.{extension}"
        ))
    }
}

impl Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Square => f.write_str("square"),
            Self::At([x, y, w, h]) => write!(f, "{x},{y},{w},{h}"),
            Self::Percent([x, y, w, h]) => write!(f, "pct:{x},{y},{w},{h}"),
        }
    }
}

impl Size {
    /// Returns the size in the syntax of this version: only version 3.0 has `^`.
    pub(super) fn in_version(self, version: Version) -> Self {
        let grows = self.grows && version == Version::V3;
        Self { grows, ..self }
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grows = if self.grows { "^" } else { "" };
        match self.shape {
            Shape::Max => write!(f, "{grows}max"),
            Shape::Width(w) => write!(f, "{grows}{w},"),
            Shape::Height(h) => write!(f, "{grows},{h}"),
            Shape::Exact(w, h) => write!(f, "{grows}{w},{h}"),
            Shape::Inside(w, h) => write!(f, "{grows}!{w},{h}"),
            Shape::Percent(n) => write!(f, "{grows}pct:{n}"),
        }
    }
}

impl Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mirror = if self.mirror { "!" } else { "" };
        write!(f, "{mirror}{}", self.degrees)
    }
}

impl Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, quality)| quality == self);
        f.write_str(name.map_or("default", |(name, _)| name))
    }
}
