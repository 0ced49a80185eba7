//! `sharpen-l:SIGMA:FLAT:JAGGED`: sharpens only lightness, as libvips does.
//!
//! The difference between lightness (0 to 100) and its blur is multiplied by one factor up to a difference of 2, and by
//! another beyond it. At most 10 is added and at most 20 is subtracted. The blur's kernel ends where it falls below a
//! tenth of its middle weight.

use std::fmt;

use andon_recipe::{Arg, Effect, ParseError, Word};

use super::gaussian::{Filter, Gaussian, Response};
use crate::color::{lab, remodelled};
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Model, Traits};
use crate::limits::Interrupt;
use crate::samples::{Planes, Sample, by_depth};
use crate::stage::{Context, OnGainMap, Op, Stage, wrong};

/// The `sharpen-l` effect, which sharpens lightness.
pub(super) struct SharpenL;

const SIGMA: Arg = Arg::number("sigma", 0.0, 1000.0)
    .unit("px")
    .help("standard deviation of the blur; below 0.47: nothing happens");

const FACTOR: Arg = Arg::number("flat", 0.0, 1_000_000.0)
    .default("0")
    .help("factor for small differences: more than 0 sharpens what is flat, noise too");

const WORD: Word = Word {
    name: "sharpen-l",
    args: &[
        SIGMA,
        FACTOR,
        Arg {
            name: "jagged",
            default: Some("3"),
            help: "factor for what goes beyond a difference of 2",
            ..FACTOR
        },
    ],
    help: "sharpens lightness (L of CIELAB) and leaves colours alone, as libvips does",
    example: "sharpen-l:1",
};

impl Op for SharpenL {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [sigma, flat, jagged] = WORD.read(&effect.args)?;
            Ok::<_, ParseError>((
                SIGMA.read_number(sigma.unwrap_or("0"))?,
                FACTOR.read_number(flat.unwrap_or("0"))? as f32,
                FACTOR.read_number(jagged.unwrap_or("3"))? as f32,
            ))
        };
        let (sigma, flat, jagged) = read().map_err(|error| wrong(effect, &error))?;
        let gaussian = Gaussian::above(sigma, 0.1);
        Ok(gaussian.map(|gaussian| {
            Box::new(Lightness(Filter {
                effect: effect.clone(),
                gaussian,
                response: Response::Bent { flat, jagged },
            })) as Box<dyn Stage>
        }))
    }
}

/// The stage that applies a filter only to lightness.
#[derive(Debug)]
struct Lightness(Filter);

impl Lightness {
    fn apply<T: Sample>(&self, rgb: &mut Planes<T>, interrupt: &dyn Interrupt) -> Result<()> {
        let full = T::MAX.float();
        let (width, height) = (rgb.width, rgb.height);
        let pixel = |colours: &[Grid<T>], at: usize| {
            lab::of_rgb([0, 1, 2].map(|index| colours[index].samples()[at].float() / full))
        };
        let pixels = width as usize * height as usize;
        let lightness = (0..pixels).map(|at| u16::round(pixel(&rgb.colours, at)[0] * LEVELS));
        let mut gray = Planes::<u16> {
            model: Model::Gray,
            depth: u16::DEPTH,
            colour: rgb.colour.clone(),
            width,
            height,
            colours: vec![Grid::from_buffer(width, height, lightness.collect())?],
            alpha: rgb.alpha.clone().map(|alpha| u16::grid(T::plane(alpha))),
        };
        self.0.filter(&mut gray, interrupt)?;
        for (at, lightness) in gray.colours[0].samples().iter().enumerate() {
            let [_, a, b] = pixel(&rgb.colours, at);
            let sharp = lab::to_rgb([lightness.float() / LEVELS, a, b]);
            for (grid, value) in rgb.colours.iter_mut().zip(sharp) {
                grid.samples_mut()[at] = T::round(value * full);
            }
        }
        Ok(())
    }
}

/// 16-bit levels per unit of lightness.
const LEVELS: f32 = 655.35;

impl Stage for Lightness {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let after = self.after(frame.traits()).model;
        by_depth!(frame, planes => {
            let mut rgb = remodelled(planes, Model::Rgb, None, context.interrupt)?;
            Self::apply(self, &mut rgb, context.interrupt)?;
            remodelled(rgb, after, None, context.interrupt)?.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        let model = match traits.model {
            Model::YCbCr { .. } => Model::Rgb,
            other => other,
        };
        Traits { model, ..traits }
    }

    fn on_gain_map(&self, _: (u32, u32), _: (u32, u32)) -> OnGainMap {
        OnGainMap::Keeps
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let gray = Traits {
            model: Model::Gray,
            depth: u16::DEPTH,
            ..traits
        };
        let blur = self.0.cost(width, height, gray);
        let pixels = u64::from(width) * u64::from(height);
        Cost {
            nanos: blur.nanos + pixels * NANOS_PER_PIXEL,
            // Red, green and blue; lightness; and opacity.
            scratch: blur.scratch + pixels * 10,
        }
    }
}

/// Estimated nanoseconds per px for two conversions to CIELAB and one back.
const NANOS_PER_PIXEL: u64 = 120;

impl fmt::Display for Lightness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.effect.fmt(f)
    }
}
