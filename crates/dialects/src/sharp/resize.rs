//! How sharp scales an image into a box, and crops or pads it to the size of the box.

use andon_recipe::{Canvas, Colour, ResolveError, Step};

use super::expected;
use crate::effects;
use crate::geometry::keep_salient;

/// A box, and how an image is fitted to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resize {
    /// Width of the box in px; `None` if the width is not limited.
    pub(crate) width: Option<u32>,
    /// Height of the box in px; `None` if the height is not limited.
    pub(crate) height: Option<u32>,
    /// How the image is fitted to the box.
    pub(crate) fit: Fit,
    /// The part of the image that is kept if it exceeds the box, and the place of the image in a larger box.
    pub(crate) position: Position,
    /// Colour of the padding with [`Fit::Contain`].
    pub(crate) padding_colour: Colour,
    /// Whether images smaller than the box are enlarged.
    pub(crate) enlarge: bool,
    /// Whether a box that is larger than the stored image shrinks to it, keeping the box's aspect ratio.
    pub(crate) clamp: bool,
}

impl Default for Resize {
    fn default() -> Self {
        Self {
            width: None,
            height: None,
            fit: Fit::Cover,
            position: Position::Gravity(0),
            padding_colour: Colour::BLACK,
            enlarge: true,
            clamp: false,
        }
    }
}

/// How an image is fitted to a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The image covers the box, and what exceeds the box is cut off.
    Cover,
    /// The image fits inside the box, and the rest of the box is padded with one colour.
    Contain,
    /// The image is stretched to the box.
    Fill,
    /// The image is as large as fits inside the box.
    Inside,
    /// The image is as small as covers the box. What exceeds the box is kept.
    Outside,
}

impl Fit {
    /// The names of all fits.
    pub(crate) const NAMES: &[&str] = &["cover", "contain", "fill", "inside", "outside"];

    /// Returns the fit of this name; `None` for other names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "cover" => Self::Cover,
            "contain" => Self::Contain,
            "fill" => Self::Fill,
            "inside" => Self::Inside,
            "outside" => Self::Outside,
            _ => return None,
        })
    }
}

/// The part of an image that is kept, or its place in a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// One of sharp's gravities: 0 is the middle, 1 to 4 are the sides from the top clockwise, and 5 to 8 the corners
    /// from the upper right one clockwise.
    Gravity(u8),
    /// The most salient part.
    Salient,
}

impl Position {
    /// Parses the name of a position, a gravity or a strategy.
    ///
    /// # Errors
    /// sharp's message about an unknown name.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let gravity = match name {
            "center" | "centre" => 0,
            "top" | "north" => 1,
            "right" | "east" => 2,
            "bottom" | "south" => 3,
            "left" | "west" => 4,
            "right top" | "northeast" => 5,
            "right bottom" | "southeast" => 6,
            "left bottom" | "southwest" => 7,
            "left top" | "northwest" => 8,
            "entropy" | "attention" => return Ok(Self::Salient),
            _ => return Err(Self::error(name, "string")),
        };
        Ok(Self::Gravity(gravity))
    }

    /// Returns the gravity or strategy with this number in sharp; `None` for other numbers.
    pub(crate) fn numbered(number: f64) -> Option<Self> {
        match number {
            number if number.fract() != 0.0 => None,
            0.0..=8.0 => Some(Self::Gravity(number as u8)),
            16.0 | 17.0 => Some(Self::Salient),
            _ => None,
        }
    }

    /// Returns sharp's message about an unknown position.
    pub(crate) fn error(value: &str, kind: &str) -> String {
        expected("valid position/gravity/strategy", "position", value, kind)
    }

    /// Returns where a gravity places an image, across and down: 0 at the start, 1 in the middle, 2 at the end.
    pub(crate) fn halves(self) -> (u32, u32) {
        let gravity = match self {
            Self::Gravity(gravity) => gravity,
            Self::Salient => 0,
        };
        let across = match gravity {
            4 | 7 | 8 => 0,
            2 | 5 | 6 => 2,
            _ => 1,
        };
        let down = match gravity {
            1 | 5 | 8 => 0,
            3 | 6 | 7 => 2,
            _ => 1,
        };
        (across, down)
    }
}

/// Width and height in px.
pub(super) type Size = (u32, u32);

impl Resize {
    /// Whether the box has at least one side.
    pub(super) fn has_side(&self) -> bool {
        self.width.is_some() || self.height.is_some()
    }

    /// Returns a copy whose box, if `clamp` is set, is no larger than the stored image of this size in px.
    ///
    /// # Errors
    /// A box that is so flat that one side would be less than 1 px.
    pub(super) fn clamped(&self, (wide, high): Size) -> Result<Self, ResolveError> {
        let (true, Some(width), Some(height)) = (self.clamp, self.width, self.height) else {
            return Ok(*self);
        };
        let ratio = f64::from(width) / f64::from(height);
        let (mut w, mut h) = (f64::from(width), f64::from(height));
        if w > f64::from(wide) {
            (w, h) = (f64::from(wide), (f64::from(wide) / ratio).round());
        }
        if h > f64::from(high) {
            (w, h) = ((f64::from(high) * ratio).round(), f64::from(high));
        }
        for (name, side) in [("width", w), ("height", h)] {
            if side < 1.0 {
                let why = expected("positive integer", name, &side.to_string(), "number");
                return Err(ResolveError::new(format!("{width}x{height}"), why));
            }
        }
        Ok(Self {
            width: Some(w as u32),
            height: Some(h as u32),
            ..*self
        })
    }

    /// Returns the factors by which both sides of an image of this size in px shrink.
    fn shrink(&self, (width, height): Size) -> (f64, f64) {
        let (wide, high) = (f64::from(width), f64::from(height));
        let across = self.width.map(|w| wide / f64::from(w));
        let down = self.height.map(|h| high / f64::from(h));
        let (mut across, mut down) = match (across, down, self.fit) {
            (Some(across), Some(down), Fit::Cover | Fit::Outside) => {
                (across.min(down), across.min(down))
            }
            (Some(across), Some(down), Fit::Contain | Fit::Inside) => {
                (across.max(down), across.max(down))
            }
            (across, down, Fit::Fill) => (across.unwrap_or(1.0), down.unwrap_or(1.0)),
            (across, down, _) => {
                let shrink = across.or(down).unwrap_or(1.0);
                (shrink, shrink)
            }
        };
        if !self.enlarge {
            (across, down) = (across.max(1.0), down.max(1.0));
        }
        (across.min(wide), down.min(high))
    }

    /// Returns the size in px that an image of this size is scaled to. `shrinks` says whether its decoder can reduce it
    /// by 2, 4 or 8, as that of JPEG does. libvips rounds the reduced size down, and scales that.
    pub(super) fn scaled_size(&self, size: Size, shrinks: bool) -> Size {
        if !self.has_side() {
            return size;
        }
        let (across, down) = self.shrink(size);
        let shrink = across.min(down);
        let factor = match shrink {
            _ if !shrinks => 1,
            8.0.. => 8,
            4.0.. => 4,
            2.0.. => 2,
            _ => 1,
        };
        // If the decoder alone would reach the size, libvips lets it reduce by half the factor only.
        let halves = factor > 1 && shrink as u32 == factor;
        let factor = if halves { factor / 2 } else { factor };
        let size = ((size.0 / factor).max(1), (size.1 / factor).max(1));
        let (across, down) = self.shrink(size);
        // `as` saturates, so that a limit refuses the size.
        let side = |side: u32, shrink: f64| ((f64::from(side) / shrink + 0.5) as u32).max(1);
        (side(size.0, across), side(size.1, down))
    }

    /// Adds the steps that crop or pad a scaled image to the size of the box, and returns the size in px of the result.
    /// `alpha` says whether the image may have transparent pixels.
    pub(super) fn frame(&self, steps: &mut Vec<Step>, size: Size, alpha: bool) -> Size {
        let outer = (self.width.unwrap_or(size.0), self.height.unwrap_or(size.1));
        match self.fit {
            _ if outer == size || !self.has_side() => size,
            Fit::Contain => self.lay(steps, size, outer, alpha),
            Fit::Cover => self.cut(steps, size, outer),
            Fit::Fill | Fit::Inside | Fit::Outside => size,
        }
    }

    fn lay(&self, steps: &mut Vec<Step>, size: Size, outer: Size, alpha: bool) -> Size {
        let ground = (size.0.max(outer.0), size.1.max(outer.1));
        let (across, down) = self.position.halves();
        let at = |halves: u32, outer: u32, inner: u32| match halves {
            0 => 0,
            1 => outer.saturating_sub(inner) / 2,
            _ => outer.saturating_sub(inner),
        };
        let at = (at(across, outer.0, size.0), at(down, outer.1, size.1));
        steps.push(Step::Canvas(Canvas {
            w: ground.0,
            h: ground.1,
            colour: if alpha {
                Colour::CLEAR
            } else {
                self.padding_colour
            },
            at: Some((at.0 as i32, at.1 as i32)),
        }));
        steps.extend(fill_around(at, size, self.padding_colour, alpha));
        ground
    }

    fn cut(&self, steps: &mut Vec<Step>, size: Size, outer: Size) -> Size {
        let part = (size.0.min(outer.0), size.1.min(outer.1));
        if self.position == Position::Salient {
            steps.extend(keep_salient(part));
            return part;
        }
        let (across, down) = self.position.halves();
        let at = |halves: u32, whole: u32, part: u32| match halves {
            0 => 0,
            1 => (whole - part).div_ceil(2),
            _ => whole - part,
        };
        let (x, y) = (at(across, size.0, part.0), at(down, size.1, part.1));
        steps.push(Step::crop(x, y, part.0, part.1));
        part
    }
}

/// Returns the step that fills the canvas around an image at this place and of this size in px with a colour. Only an
/// image with transparent pixels needs it: its canvas is transparent. For others the canvas has the colour.
pub(super) fn fill_around(at: (u32, u32), size: Size, colour: Colour, alpha: bool) -> Vec<Step> {
    let (x, y) = at;
    let word = || format!("around:{x}:{y}:{}x{}:{colour}", size.0, size.1);
    effects::steps([(alpha && colour.a > 0).then(word)])
}
