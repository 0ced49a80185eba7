//! `backdrop:KIND:X:Y:WxH:SIGMA`: a background for an image that lies on a transparent canvas.
//!
//! The arguments give the place of the image on the canvas. Transparent areas show that part of the canvas, scaled to
//! the size of the canvas and blurred, or its average colour.

use std::fmt;

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::flatten::Flattened;
use super::gaussian::{Filter, Gaussian, Response};
use super::geometry::Geometry;
use super::lay::lay;
use crate::color::remodelled;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Model, Subsampling, Traits};
use crate::resize::{RegionF, Rescale};
use crate::samples::{Planes, Sample, by_depth, bytes, count};
use crate::stage::{Context, Op, Stage, wrong};

/// Fills the transparent areas of a canvas from the image that lies on it.
pub(super) struct Backdrop;

const KIND: Arg = Arg::choice("kind", &["blur", "mean", "median"])
    .help("blur: the part, enlarged and blurred; mean, median: its colour, over white");

const PLACE: Arg = Arg::whole("x", i32::MIN as i64, i32::MAX as i64)
    .unit("px")
    .help("left edge of the part");

const SIDE: Arg = Arg::whole("width", 1, i32::MAX as i64)
    .unit("px")
    .help("width of the part; what lies outside the image does not count");

const SIGMA: Arg = Arg::number("sigma", 0.0, 1000.0)
    .unit("px")
    .default("50")
    .help("standard deviation of the blur");

const WORD: Word = Word {
    name: "backdrop",
    args: &[
        KIND,
        PLACE,
        Arg {
            name: "y",
            help: "top edge of the part",
            ..PLACE
        },
        SIDE,
        Arg {
            name: "height",
            mark: 'x',
            help: "height of the part",
            ..SIDE
        },
        SIGMA,
    ],
    help: "shows a blurred enlargement or the average colour of a part where the image is transparent; comes after \
           canvas or pad with a transparent colour",
    example: "backdrop:blur:40:0:80x60:20",
};

impl Op for Backdrop {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [kind, x, y, width, height, sigma] = WORD.read(&effect.args)?;
            let place = |text: Option<&str>| PLACE.read_whole(text.unwrap_or_default());
            let side = |text: Option<&str>| SIDE.read_whole(text.unwrap_or_default());
            let sigma = SIGMA.read_number(sigma.unwrap_or("50"))?;
            let (x, y) = (place(x)?, place(y)?);
            Ok::<_, ParseError>(Behind {
                effect: effect.clone(),
                kind: match KIND.read_choice(kind.unwrap_or_default())? {
                    "mean" => Kind::Mean,
                    "median" => Kind::Median,
                    _ => Kind::Blurred(sigma),
                },
                columns: (x, x + side(width)?),
                rows: (y, y + side(height)?),
            })
        };
        let behind = read().map_err(|error| wrong(effect, &error))?;
        Ok(Some(Box::new(behind)))
    }
}

#[derive(Debug)]
struct Behind {
    /// The effect as written in the recipe.
    effect: Effect,
    kind: Kind,
    /// Left and right edge in px of the part of the canvas where the image lies.
    columns: (i64, i64),
    /// Upper and lower edge in px of the part of the canvas where the image lies.
    rows: (i64, i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The part of the canvas where the image lies, scaled to the size of the canvas and blurred with this standard
    /// deviation in px.
    Blurred(f64),
    Mean,
    Median,
}

impl Behind {
    /// Returns the part of a canvas of this size where the image lies, or the whole canvas if the image lies outside.
    fn part(&self, (width, height): (u32, u32)) -> RegionF {
        let within = |(start, end): (i64, i64), side: u32| {
            let (start, end) = (start.clamp(0, side.into()), end.clamp(0, side.into()));
            match start < end {
                true => (start as f64, (end - start) as f64),
                false => (0.0, side.into()),
            }
        };
        let ((x, w), (y, h)) = (within(self.columns, width), within(self.rows, height));
        RegionF { x, y, w, h }
    }

    /// Scales the part of the canvas where the image lies to a size in px.
    fn scaled(&self, frame: Frame, to: (u32, u32), context: &Context<'_>) -> Result<Frame> {
        let size = (frame.width, frame.height);
        let part = self.part(size);
        match Rescale::new((part, part), size, to, true) {
            Some(rescale) => rescale.apply(frame, context),
            None => Ok(frame),
        }
    }

    /// Scales the part of the canvas where the image lies to the size of the canvas and blurs it. Wide blurs are
    /// computed at a smaller size, where the difference is invisible.
    fn blurred(&self, frame: Frame, sigma: f64, context: &Context<'_>) -> Result<Frame> {
        let size = (frame.width, frame.height);
        let by = shrinks(sigma);
        let small = (size.0.div_ceil(by), size.1.div_ceil(by));
        let mut frame = self.scaled(frame, small, context)?;
        let geometry = Geometry {
            radius: 0.0,
            sigma: sigma / f64::from(by),
            amount: None,
            threshold: None,
        };
        if geometry.is_visible() {
            let filter = Filter {
                effect: self.effect.clone(),
                gaussian: Gaussian::rows_and_columns(&geometry),
                response: Response::BLUR,
            };
            frame = by_depth!(frame, planes => {
                filter.filter(&mut planes, context.interrupt)?;
                if let Some(alpha) = planes.alpha.take() {
                    // The filter leaves alpha unchanged, so filter alpha as the gray plane of an image of its own.
                    let mut opacity = Planes {
                        model: Model::Gray,
                        depth: planes.depth,
                        colour: planes.colour.clone(),
                        width: planes.width,
                        height: planes.height,
                        colours: vec![alpha],
                        alpha: None,
                    };
                    filter.filter(&mut opacity, context.interrupt)?;
                    planes.alpha = opacity.colours.pop();
                }
                planes.frame()
            })?;
        }
        let whole = RegionF {
            x: 0.0,
            y: 0.0,
            w: small.0.into(),
            h: small.1.into(),
        };
        match Rescale::new((whole, whole), small, size, true) {
            Some(rescale) => rescale.apply(frame, context),
            None => Ok(frame),
        }
    }

    /// Returns the mean or median colour of the part of the canvas where the image lies, as an image of one px.
    fn colour(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        let part = self.part((frame.width, frame.height));
        // The part consists of whole px of an image, so its sides fit into a u32.
        let frame = self.scaled(frame, (part.w as u32, part.h as u32), context)?;
        let white = Flattened {
            colour: Colour::WHITE,
        };
        let frame = white.apply(frame, context)?;
        by_depth!(frame, planes => {
            let model = planes.model;
            let thick = match model {
                // A mean is the same in YCbCr as in RGB; a median is not.
                Model::YCbCr { .. } if self.kind == Kind::Median => Model::Rgb,
                model => model,
            };
            let mut planes = remodelled(planes, thick, None, context.interrupt)?;
            for grid in &mut planes.colours {
                let sample = match self.kind {
                    Kind::Median => median(grid),
                    _ => mean(grid),
                };
                *grid = Grid::filled(1, 1, sample);
            }
            (planes.width, planes.height) = (1, 1);
            if let Model::YCbCr { sub, .. } = &mut planes.model {
                *sub = Subsampling::NONE;
            }
            remodelled(planes, model.unthinned(), None, context.interrupt)?.frame()
        })
    }
}

/// Returns the factor by which an image is shrunk before a blur.
fn shrinks(sigma: f64) -> u32 {
    // The largest sigma is 1000.
    (sigma / FINE).clamp(1.0, 1000.0) as u32
}

/// Smallest standard deviation, in px, that a blur may have on the shrunken image.
const FINE: f64 = 6.0;

/// Returns a background as large as `image`, filled with the colour of the first px of `colour`.
fn filled<T: Sample>(image: &Planes<T>, colour: &Planes<T>) -> Planes<T> {
    let mut samples = [0; 4];
    for (sample, grid) in samples.iter_mut().zip(&colour.colours) {
        // Levels of either depth fit into 16 bits.
        *sample = grid.row(0)[0].float() as u16;
    }
    image.filled_like(image.width, image.height, samples)
}

fn mean<T: Sample>(grid: &Grid<T>) -> T {
    let sum: f64 = grid.samples().iter().map(|v| f64::from(v.float())).sum();
    T::round((sum / grid.samples().len().max(1) as f64) as f32)
}

/// Returns the median: the lowest level that at least half of the samples do not exceed.
fn median<T: Sample>(grid: &Grid<T>) -> T {
    let mut counts = vec![0_u64; T::MAX.float() as usize + 1];
    for sample in grid.samples() {
        counts[sample.float() as usize] += 1;
    }
    let half = (grid.samples().len() as u64).div_ceil(2);
    let mut below = 0;
    let level = counts.iter().position(|count| {
        below += count;
        below >= half
    });
    T::round(level.unwrap_or_default() as f32)
}

impl Stage for Behind {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        if frame.alpha.is_none() {
            return Ok(frame);
        }
        let ground = match self.kind {
            Kind::Blurred(sigma) => self.blurred(frame.clone(), sigma, context)?,
            Kind::Mean | Kind::Median => self.colour(frame.clone(), context)?,
        };
        by_depth!(frame, image => {
            let mut ground = match self.kind {
                Kind::Blurred(_) => Planes::of(ground),
                Kind::Mean | Kind::Median => filled(&image, &Planes::of(ground)),
            };
            lay(&mut ground, &image, 0, 0);
            ground.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            alpha: traits.alpha && matches!(self.kind, Kind::Blurred(_)),
            ..traits
        }
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let samples = count(width, height, traits.model, true);
        Cost {
            nanos: if traits.alpha {
                samples * PICOS_PER_SAMPLE / 1000
            } else {
                0
            },
            // The scaled part, and the background.
            scratch: 2 * samples * bytes(traits.depth),
        }
    }
}

/// Estimated picoseconds per sample to shrink the part of the canvas where the image lies, to blur and enlarge it, and
/// to composite the image over it.
const PICOS_PER_SAMPLE: u64 = 11_000;

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}
