//! `pixelate:PX`: fills squares with the mean colour of their pixels.

use std::fmt;

use andon_recipe::{Arg, Effect, Word};

use crate::color::remodelled;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Model, Subsampling, Traits};
use crate::resize::thinned;
use crate::samples::{Planes, Sample, by_depth, bytes, count};
use crate::stage::{Context, Op, Stage, wrong};

/// The `pixelate` effect, which makes details unrecognisable.
pub(super) struct Pixelate;

const WORD: Word = Word {
    name: "pixelate",
    args: &[Arg::whole("side", 0, 1_000_000)
        .unit("px")
        .help("of the squares, the first of which lies in the upper left corner; 0 and 1: nothing happens")],
    help: "makes squares of one colour each, the mean of what they cover",
    example: "pixelate:12",
};

impl Op for Pixelate {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [side] = WORD.read(&effect.args)?;
            WORD.args[0].read_whole(side.unwrap_or_default())
        };
        let side = read().map_err(|error| wrong(effect, &error))?;
        // A side that does not fit into a u32 exceeds every image, as `u32::MAX` does.
        let side = u32::try_from(side).unwrap_or(u32::MAX);
        Ok((side > 1).then(|| Box::new(Squares { side }) as Box<dyn Stage>))
    }
}

/// The stage that fills squares of `side` px with their mean colour.
#[derive(Debug)]
struct Squares {
    side: u32,
}

impl Squares {
    /// Returns the model to work in: chroma stays subsampled if each of its samples lies within one square.
    fn model(&self, model: Model) -> Model {
        match model {
            Model::YCbCr { sub, .. }
                if [sub.h, sub.v]
                    .into_iter()
                    .any(|thin| !self.side.is_multiple_of(thin.into())) =>
            {
                model.unthinned()
            }
            model => model,
        }
    }

    fn draw<T: Sample>(
        &self,
        planes: &mut Planes<T>,
        context: &Context<'_>,
        thin: impl Fn(&Grid<T>, Subsampling) -> Result<Grid<T>>,
    ) -> Result<()> {
        let translucent = planes.translucent();
        let thinnings: Vec<_> = (0..planes.colours.len())
            .map(|index| planes.thinning(index))
            .collect();
        let alpha = planes.alpha.as_ref().filter(|_| translucent);
        for (grid, sub) in planes.colours.iter_mut().zip(thinnings) {
            context.check()?;
            let side = (self.side / u32::from(sub.h), self.side / u32::from(sub.v));
            let weights = alpha.map(|alpha| thin(alpha, sub)).transpose()?;
            level(grid, side, weights.as_ref());
        }
        if let Some(alpha) = &mut planes.alpha {
            level(alpha, (self.side, self.side), None);
        }
        Ok(())
    }
}

/// Fills rectangles of this size with their mean, in which each sample counts by its weight, if there are weights.
fn level<T: Sample>(grid: &mut Grid<T>, (across, down): (u32, u32), weights: Option<&Grid<T>>) {
    let (width, height) = (grid.width(), grid.height());
    let squares = width.div_ceil(across) as usize;
    for top in (0..height).step_by(down as usize) {
        let rows = top..height.min(top.saturating_add(down));
        let mut sums = vec![(0.0_f64, 0.0_f64); squares];
        for y in rows.clone() {
            let samples = grid.row(y).chunks(across as usize);
            let weighed = weights.map(|weights| weights.row(y));
            for (index, (sum, samples)) in sums.iter_mut().zip(samples).enumerate() {
                let start = index * across as usize;
                let plain = || {
                    samples
                        .iter()
                        .map(|sample| (f64::from(sample.float()), 1.0))
                };
                let (colour, weight) = match weighed {
                    None => plain().fold((0.0, 0.0), added),
                    Some(row) => plain()
                        .zip(&row[start..])
                        .map(|((colour, _), weight)| {
                            let weight = f64::from(weight.float());
                            (colour * weight, weight)
                        })
                        .fold((0.0, 0.0), added),
                };
                *sum = added(*sum, (colour, weight));
            }
        }
        let means: Vec<T> = sums
            .iter()
            .map(|(colour, weight)| T::round((colour / weight.max(1.0)) as f32))
            .collect();
        for y in rows {
            let squares = grid.row_mut(y).chunks_mut(across as usize);
            for (samples, mean) in squares.zip(&means) {
                samples.fill(*mean);
            }
        }
    }
}

fn added(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 + b.0, a.1 + b.1)
}

impl Stage for Squares {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let model = self.model(frame.model);
        by_depth!(frame, planes => {
            let mut planes = remodelled(planes, model, None, context.interrupt)?;
            self.draw(&mut planes, context, |alpha, sub| thinned(alpha, sub, context.interrupt))?;
            planes.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            model: self.model(traits.model),
            ..traits
        }
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let after = self.after(traits);
        let samples = count(width, height, after.model, traits.alpha);
        let weighed = u64::from(traits.alpha) * u64::from(width) * u64::from(height);
        Cost {
            nanos: samples * PICOS_PER_SAMPLE / 1000,
            scratch: weighed * bytes(traits.depth),
        }
    }
}

/// Estimated picoseconds per sample to replace squares by their mean colour.
const PICOS_PER_SAMPLE: u64 = 2_500;

impl fmt::Display for Squares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", WORD.name, self.side)
    }
}
