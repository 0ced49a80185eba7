//! `crop:10:10:50%x50%` and `crop:400x300:north`: crop the image.

use std::fmt;

use super::{Declared, Geometry, Step};
use crate::resolve::Image;
use crate::{Arg, Facts, Gravity, Length, ParseError, Word};

/// The part of the image that a crop keeps, limited to what lies inside the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crop {
    /// A rectangle.
    At {
        /// Distance of the rectangle's left edge from that of the image.
        x: Length,
        /// Distance of the rectangle's top edge from that of the image.
        y: Length,
        /// Width.
        w: Length,
        /// Height.
        h: Length,
    },
    /// A part of a given size, placed by gravity.
    Towards {
        /// Width.
        w: Length,
        /// Height.
        h: Length,
        /// The side or corner of the image at which the part lies.
        gravity: Gravity,
    },
}

const WIDTH: Arg = Arg::length("width").help("width of the part");
const HEIGHT: Arg = Arg::length("height").after('x').help("height of the part");

const AT: Word = Word {
    name: "crop",
    args: &[
        Arg::length("x").help("left edge"),
        Arg::length("y").help("top edge"),
        WIDTH,
        HEIGHT,
    ],
    help: "keeps a rectangle; before scaling it is measured on the source, after scaling on the scaled image",
    example: "crop:10:10:50%x50%",
};

const TOWARDS: Word = Word {
    name: "crop",
    args: &[WIDTH, HEIGHT, Gravity::ARG],
    help: "keeps a part of this size, or all of a side that is shorter",
    example: "crop:400x300:north",
};

impl Step {
    /// Creates a crop to a rectangle in whole pixels.
    #[must_use]
    pub fn crop(x: u32, y: u32, w: u32, h: u32) -> Self {
        let px = |px: u32| Length::Px(px.into());
        Self::Crop(Crop::At {
            x: px(x),
            y: px(y),
            w: px(w),
            h: px(h),
        })
    }
}

impl Declared for Crop {
    const WORDS: &'static [&'static Word] = &[&AT, &TOWARDS];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        if parts.len() < 3 {
            let [w, h, gravity] = TOWARDS.texts(parts)?;
            return Ok(Self::Towards {
                w: w.parse()?,
                h: h.parse()?,
                gravity: Gravity::CHOICES.value(gravity)?,
            });
        }
        let [x, y, w, h] = AT.texts(parts)?;
        Ok(Self::At {
            x: x.parse()?,
            y: y.parse()?,
            w: w.parse()?,
            h: h.parse()?,
        })
    }
}

impl Geometry for Crop {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { x, y, w, h } => write!(f, ":{x}:{y}:{w}x{h}"),
            Self::Towards { w, h, gravity } => write!(f, ":{w}x{h}{}", gravity.suffix()),
        }
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let dpr = if image.scaled { image.dpr } else { 1.0 };
        let across = |length: Length| length.scaled(image.width.into(), dpr);
        let down = |length: Length| length.scaled(image.height.into(), dpr);
        let (at, (w, h)) = match *self {
            Self::At { x, y, w, h } => {
                let (left, right) = edges(across(x), across(w), image.width);
                let (top, bottom) = edges(down(y), down(h), image.height);
                (Some((left, top)), (right - left, bottom - top))
            }
            Self::Towards { w, h, gravity } => {
                let w = (across(w).round() as u32).min(image.width);
                let h = (down(h).round() as u32).min(image.height);
                (image.kept((w, h), gravity), (w, h))
            }
        };
        if w == 0 || h == 0 {
            let (width, height) = (image.width, image.height);
            return Err(format!(
                "nothing of the image is left: it is {width}x{height} px here"
            ));
        }
        image.keep(at, (w, h));
        Ok(())
    }

    fn size(&self, _: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        let (Self::At { w, h, .. } | Self::Towards { w, h, .. }) = *self;
        Some((w.whole()?, h.whole()?))
    }

    fn farthest(&self) -> f64 {
        let px = |length: Length| length.of(0.0);
        match *self {
            Self::At { x, y, w, h } => [x, y, w, h].map(px).into_iter().fold(0.0, f64::max),
            Self::Towards { w, h, .. } => px(w).max(px(h)),
        }
    }
}

/// Returns the range of whole px from `start` to `start + length`, clipped to `0..side`.
fn edges(start: f64, length: f64, side: u32) -> (u32, u32) {
    let start = (start.round() as u32).min(side);
    let end = start.saturating_add(length.round() as u32).min(side);
    (start, end)
}
