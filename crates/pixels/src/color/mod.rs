//! Colour models: the meaning of a frame's planes, and conversion between models.
//!
//! [`Convert`] takes the shortest path: subsampling and range are changed plane by plane, and gray becomes YCbCr by
//! adding two flat planes; everything else goes through RGB, where colour spaces are converted, too.

mod cmyk;
pub(crate) mod lab;
pub mod levels;
mod managed;
mod recognised;
mod ycbcr;

use std::fmt;

use andon_recipe::Colour;

use self::managed::Managed;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Depth, Frame, Grid, Model, Subsampling, Traits};
use crate::limits::Interrupt;
use crate::resize::Resizable;
use crate::samples::{Planes, Sample, bytes, count};
use crate::space::{Matrix, Range, Space, Transfer};
use crate::stage::{Context, Stage};

/// Converts a frame to another model, matrix, range, subsampling, depth or colour space, and adds or drops alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convert {
    /// Traits of the output. Dropping alpha does not flatten the image: colours hidden by transparency become visible.
    pub to: Traits,
    /// Colour space of the input. If it differs from that of `to`, colours are converted by the frame's profile or code
    /// points. A frame without a readable profile or code points is taken for sRGB, to which CMYK is converted by the
    /// naive formula.
    pub from: Space,
}

impl Stage for Convert {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        // Reduce the depth first: the later steps are then cheaper, and at most one level less accurate.
        match self.to.depth {
            // Linear light of 8 bits has too few levels for dark tones, so convert in 16 bits first.
            Depth::U8 if self.from.transfer == Transfer::Linear && self.recolours().is_some() => {
                let to = Traits {
                    depth: Depth::U16,
                    ..self.to
                };
                let wide = Self { to, ..*self }.apply(frame, context)?;
                let from = self.to.space;
                Self { from, ..*self }.apply(wide, context)
            }
            Depth::U8 => self.converted(Planes::<u8>::of(frame), context.interrupt),
            _ => self.converted(Planes::<u16>::of(frame), context.interrupt),
        }
    }

    fn after(&self, _: Traits) -> Traits {
        self.to
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let pixels = u64::from(width) * u64::from(height);
        let picos = match (traits.model, self.to.model) {
            _ if self.recolours().is_some() => PICOS_MANAGED,
            (from, to) if from == to => 0,
            (Model::YCbCr { matrix, .. }, Model::YCbCr { matrix: to, .. }) if matrix != to => {
                PICOS_MIXED
            }
            (Model::YCbCr { .. } | Model::Gray, Model::YCbCr { .. }) => PICOS_PLANEWISE,
            _ => PICOS_MIXED,
        };
        let mut cost = Cost {
            nanos: pixels * picos / 1000,
            scratch: 0,
        };
        if picos > 0 {
            // The RGB planes between the two models.
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

/// Picoseconds per px of a conversion by a profile, measured on one core of an AVX2 machine.
const PICOS_MANAGED: u64 = 15_000;

/// Picoseconds per px of a conversion that mixes planes, measured on one core of an AVX2 machine.
const PICOS_MIXED: u64 = 4_000;

/// Picoseconds per px of a conversion that handles one plane after the other, measured on one core of an AVX2 machine.
const PICOS_PLANEWISE: u64 = 1_000;

/// Picoseconds per sample of a change of depth, measured on one core of an AVX2 machine.
const PICOS_NARROWED: u64 = 150;

impl fmt::Display for Convert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "convert {}", name(self.to))?;
        match self.recolours() {
            Some(space) => write!(f, " {space}"),
            None => Ok(()),
        }
    }
}

impl Convert {
    /// Returns the target colour space if it differs from the source's.
    fn recolours(&self) -> Option<Space> {
        (self.to.space != self.from).then_some(self.to.space)
    }

    fn converted<T: Resizable + Managed>(
        &self,
        planes: Planes<T>,
        interrupt: &dyn Interrupt,
    ) -> Result<Frame> {
        let mut planes = remodelled(planes, self.to.model, self.recolours(), interrupt)?;
        planes.depth = self.to.depth;
        planes.alpha = planes.alpha.filter(|_| self.to.alpha);
        if self.to.alpha && planes.alpha.is_none() {
            planes.alpha = Some(Grid::filled(planes.width, planes.height, T::MAX));
        }
        planes.frame()
    }
}

/// Converts planes to another model, and to colour space `space` if it is given. Alpha does not change.
pub(crate) fn remodelled<T: Resizable + Managed>(
    planes: Planes<T>,
    to: Model,
    space: Option<Space>,
    interrupt: &dyn Interrupt,
) -> Result<Planes<T>> {
    let Some(space) = space else {
        return reshaped(planes, to, interrupt);
    };
    // CMYK and gray with a profile of its own are converted without a detour by RGB, because their profiles apply to
    // them.
    let directly = match planes.model {
        Model::Gray | Model::Cmyk => managed::to_rgb(&planes.colours, &planes.colour, space),
        Model::Rgb | Model::YCbCr { .. } => None,
    };
    let rgb = match directly {
        Some(rgb) => rgb,
        None => {
            let size = (planes.width, planes.height);
            let rgb = to_rgb(planes.colours, planes.model, size, interrupt)?;
            // Without a readable profile, the colours are taken for sRGB.
            managed::to_rgb(&rgb, &planes.colour, space)
                .or_else(|| {
                    let plain = Space::SRGB.into();
                    let widened = || managed::to_rgb(&rgb, &plain, space);
                    (!space.is_srgb()).then(widened).flatten()
                })
                .unwrap_or(rgb)
        }
    };
    Ok(Planes {
        model: to,
        colours: from_rgb(rgb, to, interrupt)?,
        colour: space.into(),
        ..planes
    })
}

/// Converts planes to another model within their colour space; alpha is left as it is.
fn reshaped<T: Resizable>(
    planes: Planes<T>,
    to: Model,
    interrupt: &dyn Interrupt,
) -> Result<Planes<T>> {
    let size = (planes.width, planes.height);
    let mut colours = planes.colours;
    match (planes.model, to) {
        (from, to) if from == to => {}
        (
            Model::YCbCr { sub, range, matrix },
            Model::YCbCr {
                sub: to_sub,
                range: to_range,
                matrix: to_matrix,
            },
        ) if matrix == to_matrix => {
            for grid in colours.drain(1..).collect::<Vec<_>>() {
                colours.push(ycbcr::change_thinning(grid, size, sub, to_sub, interrupt)?);
            }
            for (index, grid) in colours.iter_mut().enumerate() {
                ycbcr::change_range(grid, index, matrix, range, to_range);
            }
        }
        (Model::Gray, Model::YCbCr { sub, range, matrix }) if matrix != Matrix::Identity => {
            ycbcr::change_range(&mut colours[0], 0, matrix, Range::Full, range);
            let (width, height) = sub.chroma_size(size.0, size.1);
            colours.extend([0, 1].map(|_| Grid::filled(width, height, T::of(128 * T::UNIT))));
        }
        (Model::YCbCr { range, matrix, .. }, Model::Gray) if matrix != Matrix::Identity => {
            colours.truncate(1);
            ycbcr::change_range(&mut colours[0], 0, matrix, range, Range::Full);
        }
        (from, to) => {
            let rgb = to_rgb(colours, from, size, interrupt)?;
            colours = from_rgb(rgb, to, interrupt)?;
        }
    }
    Ok(Planes {
        model: to,
        colours,
        ..planes
    })
}

fn to_rgb<T: Resizable>(
    mut colours: Vec<Grid<T>>,
    model: Model,
    size: (u32, u32),
    interrupt: &dyn Interrupt,
) -> Result<Vec<Grid<T>>> {
    Ok(match model {
        Model::Rgb => colours,
        Model::Gray => {
            colours.resize(3, colours[0].clone());
            colours
        }
        Model::YCbCr { sub, range, matrix } => {
            for grid in colours.drain(1..).collect::<Vec<_>>() {
                let full = ycbcr::change_thinning(grid, size, sub, Subsampling::NONE, interrupt)?;
                colours.push(full);
            }
            ycbcr::to_rgb(colours, range, matrix)
        }
        Model::Cmyk => cmyk::to_rgb(&colours)?,
    })
}

fn from_rgb<T: Resizable>(
    rgb: Vec<Grid<T>>,
    model: Model,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Grid<T>>> {
    Ok(match model {
        Model::Rgb => rgb,
        Model::Gray => vec![ycbcr::mixed(&rgb, |r, g, b| ycbcr::gray([r, g, b]))?],
        Model::YCbCr { sub, range, matrix } => ycbcr::from_rgb(rgb, sub, range, matrix, interrupt)?,
        Model::Cmyk => cmyk::from_rgb(&rgb),
    })
}

/// Returns the short name of a frame's traits, as plans print it: `ycbcr420`, `rgba`, `gray16`, `ycbcr420-limited`,
/// `ycbcr420-10-limited-709`.
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
    if traits.depth != Depth::U8 {
        if name.ends_with(|c: char| c.is_ascii_digit()) {
            name.push('-');
        }
        name.push_str(&traits.depth.bits().to_string());
    }
    if let Model::YCbCr { range, matrix, .. } = traits.model {
        name.push_str(match range {
            Range::Full => "",
            Range::Limited => "-limited",
        });
        name.push_str(match matrix {
            Matrix::Identity => "-identity",
            Matrix::Bt601 => "",
            Matrix::Bt709 => "-709",
            Matrix::Bt2020 => "-2020",
        });
    }
    name
}

pub(crate) use managed::profile_of;
pub use recognised::profile_of_gamma;

/// Whether a colour is anything but a shade of gray.
pub(crate) fn is_colourful(colour: Colour) -> bool {
    colour.r != colour.g || colour.g != colour.b
}

/// Returns the samples of a colour in a model, in units of `depth`, without alpha; unused entries are 0.
#[must_use]
pub fn sample(colour: Colour, model: Model, depth: Depth) -> [u16; 4] {
    match depth {
        Depth::U8 => sample_as::<u8>(colour, model).map(u16::from),
        _ => sample_as::<u16>(colour, model),
    }
}

/// Returns the samples of a colour in a model, without alpha; unused entries are 0.
pub(crate) fn sample_as<T: Sample>(colour: Colour, model: Model) -> [T; 4] {
    let light = [colour.r, colour.g, colour.b].map(|level| T::of(u16::from(level) * T::UNIT));
    let light = light.map(T::float);
    let colours = match model {
        Model::Gray => [ycbcr::gray(light), 0.0, 0.0, 0.0],
        Model::Rgb => [light[0], light[1], light[2], 0.0],
        Model::YCbCr { range, matrix, .. } => {
            let [y, cb, cr] = ycbcr::sample::<T>(light, range, matrix);
            [y, cb, cr, 0.0]
        }
        Model::Cmyk => cmyk::mix(light, T::MAX.float()),
    };
    colours.map(T::round)
}
