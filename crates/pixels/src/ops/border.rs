//! `border:WxH:COLOUR`: bands painted inside the picture's edges.
//!
//! They frame the canvas or, without one, the size that was asked for, which may be larger than a
//! picture that was not scaled up: bands that then lie outside are not seen.

use std::fmt;
use std::ops::Range;

use andon_recipe::{Colour, Effect, Layout};

use super::lay::{blend, opacity, span};
use crate::color::{is_colourful, sample_as};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Grid, Subsampling, Traits};
use crate::samples::{Planes, Sample, by_depth, count, thinning};
use crate::stage::{Context, Op, Stage};

/// Paints a border.
pub(super) struct Border;

impl Op for Border {
    fn name(&self) -> &'static str {
        "border"
    }

    fn help(&self) -> &'static str {
        "WxH:COLOUR: bands of W px at the sides, H px at top and bottom, painted inside"
    }

    fn example(&self) -> &'static str {
        "border:4x2:ff8800"
    }

    fn parse(&self, args: &[String]) -> Result<Option<Box<dyn Stage>>> {
        let effect = super::effect(self, args);
        let wrong = |why: String| Error::Recipe {
            piece: effect.to_string(),
            why,
        };
        let [size, colour] = args else {
            return Err(wrong(
                "it takes a size and a colour, as in 4x2:ff8800".to_owned(),
            ));
        };
        let px = |text: &str| {
            let number = text.parse::<u32>();
            number.map_err(|_| wrong(format!("`{text}` is not a whole number of px")))
        };
        let Some((width, height)) = size.split_once('x') else {
            return Err(wrong(format!("`{size}` is not a size such as 4x2")));
        };
        let (width, height) = (px(width)?, px(height)?);
        let colour: Colour = colour
            .parse()
            .map_err(|_| wrong(format!("`{colour}` is not a colour of 6 or 8 hex digits")))?;
        if (width == 0 && height == 0) || colour.a == 0 {
            return Ok(None);
        }
        Ok(Some(Box::new(Bands {
            effect,
            width,
            height,
            colour,
        })))
    }
}

/// The bands.
#[derive(Debug)]
struct Bands {
    /// As in the recipe.
    effect: Effect,
    /// Of the bands at the sides, in px.
    width: u32,
    /// Of those at top and bottom, in px.
    height: u32,
    colour: Colour,
}

impl Stage for Bands {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        by_depth!(frame, picture => {
            self.paint(&mut picture, context.layout);
            Ok(picture.frame())
        })
    }

    fn adds_colour(&self) -> bool {
        is_colourful(self.colour)
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let sides = 2 * u64::from(self.width.min(width)) * u64::from(height);
        let others = 2 * u64::from(self.height.min(height)) * u64::from(width);
        let planes = count(1, 1, traits.model, traits.alpha);
        Cost {
            nanos: (sides + others) * planes * NANOS_PER_SAMPLE,
            scratch: 0,
        }
    }
}

/// Measured on one core.
const NANOS_PER_SAMPLE: u64 = 4;

impl fmt::Display for Bands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}

impl Bands {
    fn paint<T: Sample>(&self, picture: &mut Planes<T>, layout: &Layout) {
        let size = (picture.width, picture.height);
        let (width, height) = match &layout.canvas {
            Some(canvas) => (canvas.width, canvas.height),
            None => (layout.asked.0 as u32, layout.asked.1 as u32),
        };
        let across = Banded::new(width, self.width);
        let down = Banded::new(height, self.height);
        let colour = sample_as::<T>(self.colour, picture.model).map(T::float);
        let seen = f32::from(self.colour.a) / 255.0;

        for (index, grid) in picture.colours.iter_mut().enumerate() {
            let alpha = picture.alpha.as_ref();
            let sub = thinning(picture.model, index);
            cover(
                grid,
                sub,
                size,
                &across,
                &down,
                |below, share, columns, rows| {
                    let opacity = opacity(alpha, columns, rows);
                    blend(below, opacity, colour[index], share * seen)
                },
            );
        }
        if let Some(alpha) = &mut picture.alpha {
            let full = T::MAX.float();
            cover(
                alpha,
                Subsampling::NONE,
                size,
                &across,
                &down,
                |below, share, _, _| below + (full - below) * share * seen,
            );
        }
    }
}

/// One side of the frame: from 0 to `end`, without what the bands leave free.
struct Banded {
    end: u32,
    free: Range<u32>,
}

impl Banded {
    fn new(end: u32, band: u32) -> Self {
        let start = band.min(end);
        let stop = end.saturating_sub(band).max(start);
        Self {
            end,
            free: start..stop,
        }
    }

    /// How many of these px lie in the frame, and how many of them are free.
    fn meet(&self, px: &Range<u32>) -> (u32, u32) {
        let overlap = |start: u32, end: u32| px.end.min(end).saturating_sub(px.start.max(start));
        (
            overlap(0, self.end),
            overlap(self.free.start, self.free.end),
        )
    }
}

/// Paints the samples that bands cover: `paint` gets the sample, the share of its px that are covered,
/// and those px.
fn cover<T: Sample>(
    grid: &mut Grid<T>,
    sub: Subsampling,
    (width, height): (u32, u32),
    across: &Banded,
    down: &Banded,
    paint: impl Fn(f32, f32, Range<u32>, Range<u32>) -> f32,
) {
    // The columns that a row between the upper and the lower band leaves alone.
    let free = across.free.start.div_ceil(u32::from(sub.h))..across.free.end / u32::from(sub.h);
    for y in 0..grid.height() {
        let rows = span(y, sub.v, height);
        let (tall, tall_free) = down.meet(&rows);
        if tall == 0 {
            break;
        }
        let columns = grid.width();
        let skip = if tall == tall_free && free.start < free.end {
            free.start.min(columns)..free.end.min(columns)
        } else {
            columns..columns
        };
        let samples = grid.row_mut(y);
        for x in (0..skip.start).chain(skip.end..columns) {
            let columns = span(x, sub.h, width);
            let (wide, wide_free) = across.meet(&columns);
            let covered = wide * tall - wide_free * tall_free;
            if covered > 0 {
                let share = covered as f32 / (columns.len() * rows.len()) as f32;
                let sample = &mut samples[x as usize];
                *sample = T::round(paint(sample.float(), share, columns, rows.clone()));
            }
        }
    }
}
