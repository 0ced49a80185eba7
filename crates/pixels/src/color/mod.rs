//! Colour models: what a frame's planes mean, and how they come to mean something else.
//!
//! [`Convert`] takes the shortest way: another thinning or range is made plane by plane, gray becomes
//! YCbCr by adding two flat planes; only what cannot be said otherwise goes through RGB.

mod cmyk;
mod ycbcr;

use std::fmt;

use andon_recipe::Colour;

use self::cmyk::Managed;
use crate::codec::Traits;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Depth, Frame, Grid, Model, Range, Subsampling};
use crate::limits::Interrupt;
use crate::resize::Resizable;
use crate::samples::{Planes, Sample, bytes, count};
use crate::stage::{Context, Stage};

/// Brings a frame to another model, range, thinning or depth; adds or drops alpha.
#[derive(Clone, Debug, PartialEq)]
pub struct Convert {
    /// What comes out. Alpha that is dropped is not flattened: hidden colours show.
    pub to: Traits,
    /// The ICC profile of the incoming CMYK frame. Absent, or not readable: the naive formula.
    pub icc: Option<Vec<u8>>,
}

impl Stage for Convert {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        // Narrowed first: what follows is then cheaper, and no more than a level worse.
        match self.to.depth {
            Depth::U8 => self.converted(Planes::<u8>::of(frame), context.interrupt),
            Depth::U16 => self.converted(Planes::<u16>::of(frame), context.interrupt),
        }
    }

    fn after(&self, _: Traits) -> Traits {
        self.to
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let pixels = u64::from(width) * u64::from(height);
        let picos = match (traits.model, self.to.model) {
            (from, to) if from == to => 0,
            (Model::Cmyk, _) if self.icc.is_some() => PICOS_MANAGED,
            (Model::YCbCr { .. } | Model::Gray, Model::YCbCr { .. }) => PICOS_PLANEWISE,
            _ => PICOS_MIXED,
        };
        let mut cost = Cost {
            nanos: pixels * picos / 1000,
            scratch: 0,
        };
        if picos > 0 {
            // RGB planes between the two models.
            cost.scratch += 3 * pixels * bytes(self.to.depth);
        }
        if traits.depth != self.to.depth {
            let samples = count(width, height, traits.model, traits.alpha);
            cost.nanos += samples * PICOS_NARROWED / 1000;
            cost.scratch += samples * bytes(self.to.depth);
        }
        cost
    }
}

/// Picoseconds per px, measured on one core of an AVX2 machine: through a profile.
const PICOS_MANAGED: u64 = 15_000;

/// Mixing planes.
const PICOS_MIXED: u64 = 4_000;

/// One plane after the other.
const PICOS_PLANEWISE: u64 = 1_000;

/// A sample brought to the other depth.
const PICOS_NARROWED: u64 = 150;

impl fmt::Display for Convert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "convert {}", name(self.to))?;
        if self.icc.is_some() {
            f.write_str(" icc")?;
        }
        Ok(())
    }
}

impl Convert {
    fn converted<T: Resizable + Managed>(
        &self,
        planes: Planes<T>,
        interrupt: &dyn Interrupt,
    ) -> Result<Frame> {
        let mut planes = remodelled(planes, self.to.model, self.icc.as_deref(), interrupt)?;
        planes.alpha = planes.alpha.filter(|_| self.to.alpha);
        if self.to.alpha && planes.alpha.is_none() {
            planes.alpha = Some(Grid::filled(planes.width, planes.height, T::MAX));
        }
        Ok(planes.frame())
    }
}

/// Planes in another model; alpha stays as it is.
pub(crate) fn remodelled<T: Resizable + Managed>(
    planes: Planes<T>,
    to: Model,
    icc: Option<&[u8]>,
    interrupt: &dyn Interrupt,
) -> Result<Planes<T>> {
    let from = planes.model;
    let size = (planes.width, planes.height);
    let colours = match (from, to) {
        _ if from == to => planes.colours,
        (
            Model::YCbCr { sub, range },
            Model::YCbCr {
                sub: to_sub,
                range: to_range,
            },
        ) => {
            let mut colours = planes.colours;
            for grid in colours.drain(1..).collect::<Vec<_>>() {
                colours.push(ycbcr::change_thinning(grid, size, sub, to_sub, interrupt)?);
            }
            for (index, grid) in colours.iter_mut().enumerate() {
                ycbcr::change_range(grid, index, range, to_range);
            }
            colours
        }
        (Model::Gray, Model::YCbCr { sub, range }) => {
            let mut colours = planes.colours;
            ycbcr::change_range(&mut colours[0], 0, Range::Full, range);
            let (width, height) = sub.chroma_size(size.0, size.1);
            colours.extend([0, 1].map(|_| Grid::filled(width, height, T::of(128 * T::UNIT))));
            colours
        }
        (Model::YCbCr { range, .. }, Model::Gray) => {
            let mut colours = planes.colours;
            colours.truncate(1);
            ycbcr::change_range(&mut colours[0], 0, range, Range::Full);
            colours
        }
        _ => {
            let rgb = to_rgb(planes.colours, from, size, icc, interrupt)?;
            from_rgb(rgb, to, interrupt)?
        }
    };
    Ok(Planes {
        model: to,
        colours,
        ..planes
    })
}

fn to_rgb<T: Resizable + Managed>(
    mut colours: Vec<Grid<T>>,
    model: Model,
    size: (u32, u32),
    icc: Option<&[u8]>,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Grid<T>>> {
    Ok(match model {
        Model::Rgb => colours,
        Model::Gray => {
            colours.resize(3, colours[0].clone());
            colours
        }
        Model::YCbCr { sub, range } => {
            for grid in colours.drain(1..).collect::<Vec<_>>() {
                let full = ycbcr::change_thinning(grid, size, sub, Subsampling::NONE, interrupt)?;
                colours.push(full);
            }
            ycbcr::to_rgb(&colours, range)
        }
        Model::Cmyk => icc
            .and_then(|icc| cmyk::to_srgb_by(icc, &colours))
            .unwrap_or_else(|| cmyk::to_rgb(&colours)),
    })
}

fn from_rgb<T: Resizable>(
    rgb: Vec<Grid<T>>,
    model: Model,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Grid<T>>> {
    Ok(match model {
        Model::Rgb => rgb,
        Model::Gray => {
            let scale = ycbcr::Scale::of::<T>(Range::Full);
            vec![ycbcr::mixed(&rgb, |r, g, b| scale.y(r, g, b))]
        }
        Model::YCbCr { sub, range } => ycbcr::from_rgb(rgb, sub, range, interrupt)?,
        Model::Cmyk => cmyk::from_rgb(&rgb),
    })
}

/// The short name of a frame's traits, as plans print it: `ycbcr420`, `rgba`, `gray16`,
/// `ycbcr420-limited`.
#[must_use]
pub fn name(traits: Traits) -> String {
    let mut name = match traits.model {
        Model::Gray => "gray".to_owned(),
        Model::Rgb => "rgb".to_owned(),
        Model::Cmyk => "cmyk".to_owned(),
        Model::YCbCr { sub, .. } => match (sub.h, sub.v) {
            (1, 1) => "ycbcr444".to_owned(),
            (2, 1) => "ycbcr422".to_owned(),
            (2, 2) => "ycbcr420".to_owned(),
            (1, 2) => "ycbcr440".to_owned(),
            (4, 1) => "ycbcr411".to_owned(),
            (h, v) => format!("ycbcr-{h}x{v}"),
        },
    };
    if traits.alpha {
        name.push('a');
    }
    if traits.depth == Depth::U16 {
        name.push_str(if name.ends_with(|c: char| c.is_ascii_digit()) {
            "-16"
        } else {
            "16"
        });
    }
    if matches!(
        traits.model,
        Model::YCbCr {
            range: Range::Limited,
            ..
        }
    ) {
        name.push_str("-limited");
    }
    name
}

/// Is it more than a shade of gray?
pub(crate) fn is_colourful(colour: Colour) -> bool {
    colour.r != colour.g || colour.g != colour.b
}

/// A colour's samples in a model, in the units of `depth`; alpha aside, unused entries are 0.
#[must_use]
pub fn sample(colour: Colour, model: Model, depth: Depth) -> [u16; 4] {
    match depth {
        Depth::U8 => sample_as::<u8>(colour, model).map(u16::from),
        Depth::U16 => sample_as::<u16>(colour, model),
    }
}

/// A colour's samples in a model.
pub(crate) fn sample_as<T: Sample>(colour: Colour, model: Model) -> [T; 4] {
    let light = [colour.r, colour.g, colour.b].map(|level| T::of(u16::from(level) * T::UNIT));
    let [r, g, b] = light.map(T::float);
    let colours = match model {
        Model::Gray => [ycbcr::Scale::of::<T>(Range::Full).y(r, g, b), 0.0, 0.0, 0.0],
        Model::Rgb => [r, g, b, 0.0],
        Model::YCbCr { range, .. } => {
            let scale = ycbcr::Scale::of::<T>(range);
            [scale.y(r, g, b), scale.cb(r, g, b), scale.cr(r, g, b), 0.0]
        }
        Model::Cmyk => cmyk::mix([r, g, b], T::MAX.float()),
    };
    colours.map(T::round)
}
