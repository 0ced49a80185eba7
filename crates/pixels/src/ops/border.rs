//! `border:WxH:COLOUR`: bands painted inside the image's edges.
//!
//! The bands frame the image, or a box that may be larger: ngx_small_light frames the requested size, whether or not
//! the image is scaled up to it. Bands that lie outside the image are not visible.

use std::fmt;
use std::ops::Range;

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::lay::{blend, opacity, span};
use crate::color::{is_colourful, sample_as};
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Subsampling, Traits};
use crate::samples::{Planes, Sample, by_depth, count, thinning};
use crate::stage::{Context, Op, Stage, wrong};

/// Paints a border.
pub(super) struct Border;

const WIDTH: Arg = Arg::whole("width", 0, MOST)
    .unit("px")
    .help("of the bands at the left and right");
const HEIGHT: Arg = Arg::whole("height", 0, MOST)
    .after('x')
    .unit("px")
    .help("of the bands at the top and bottom");

/// Largest width or height of a band in px, more than any image has.
const MOST: i64 = 1_000_000;

const WORD: Word = Word {
    name: "border",
    args: &[
        WIDTH,
        HEIGHT,
        Arg::colour("colour").help("of the bands"),
        Arg::whole("boxwidth", 0, MOST)
            .unit("px")
            .default("the image's")
            .help("width of the box that they frame"),
        Arg::whole("boxheight", 0, MOST)
            .after('x')
            .unit("px")
            .default("the image's")
            .help("height of the box that they frame"),
    ],
    help: "paints bands inside the edges of the image, or of a box in its upper left corner",
    example: "border:4x2:ff8800",
};

impl Op for Border {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let bands = Bands::read(effect).map_err(|error| wrong(effect, &error))?;
        let is_visible = (bands.width > 0 || bands.height > 0) && bands.colour.a > 0;
        Ok(is_visible.then(|| Box::new(bands) as Box<dyn Stage>))
    }
}

/// The bands of a border.
#[derive(Debug)]
struct Bands {
    /// The effect as written in the recipe.
    effect: Effect,
    /// Width of the bands at the left and right, in px.
    width: u32,
    /// Height of the bands at the top and bottom, in px.
    height: u32,
    colour: Colour,
    /// Width and height of the box that the bands frame, in px; `None`: the image.
    framed: Option<(u32, u32)>,
}

impl Bands {
    fn read(effect: &Effect) -> Result<Self, ParseError> {
        let [width, height, colour, box_width, box_height] = WORD.read(&effect.args)?;
        let px = |text: Option<&str>| {
            let px = WIDTH.read_whole(text.unwrap_or("0"))?;
            Ok::<_, ParseError>(u32::try_from(px).unwrap_or(0))
        };
        Ok(Self {
            effect: effect.clone(),
            width: px(width)?,
            height: px(height)?,
            colour: colour.unwrap_or_default().parse()?,
            framed: match box_width {
                Some(_) => Some((px(box_width)?, px(box_height)?)),
                None => None,
            },
        })
    }
}

impl Stage for Bands {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        by_depth!(frame, image => {
            self.paint(&mut image);
            image.frame()
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

/// Nanoseconds per sample that is painted, measured on one core.
const NANOS_PER_SAMPLE: u64 = 4;

impl fmt::Display for Bands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}

impl Bands {
    fn paint<T: Sample>(&self, image: &mut Planes<T>) {
        let size = (image.width, image.height);
        let (width, height) = self.framed.unwrap_or(size);
        let across = Banded::new(width, self.width);
        let down = Banded::new(height, self.height);
        let colour = sample_as::<T>(self.colour, image.model).map(T::float);
        let alpha_share = f32::from(self.colour.a) / 255.0;

        for (index, grid) in image.colours.iter_mut().enumerate() {
            let alpha = image.alpha.as_ref();
            let sub = thinning(image.model, index);
            cover(
                grid,
                sub,
                size,
                &across,
                &down,
                |below, share, columns, rows| {
                    let opacity = opacity(alpha, columns, rows);
                    blend(below, opacity, colour[index], share * alpha_share)
                },
            );
        }
        if let Some(alpha) = &mut image.alpha {
            let full = T::MAX.float();
            cover(
                alpha,
                Subsampling::NONE,
                size,
                &across,
                &down,
                |below, share, _, _| below + (full - below) * share * alpha_share,
            );
        }
    }
}

/// One side of the framed box, in px from 0 to `end`. The bands leave the range `free` uncovered.
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

    /// Returns how many of these px lie within the framed box, and how many the bands leave free.
    fn meet(&self, px: &Range<u32>) -> (u32, u32) {
        let overlap = |start: u32, end: u32| px.end.min(end).saturating_sub(px.start.max(start));
        (
            overlap(0, self.end),
            overlap(self.free.start, self.free.end),
        )
    }
}

/// Paints the samples that the bands cover. `paint` gets the sample, the share of its px that are covered, and the
/// columns and rows of those px.
fn cover<T: Sample>(
    grid: &mut Grid<T>,
    sub: Subsampling,
    (width, height): (u32, u32),
    across: &Banded,
    down: &Banded,
    paint: impl Fn(f32, f32, Range<u32>, Range<u32>) -> f32,
) {
    // The columns that are not painted in rows between the upper and the lower band.
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
