//! `blur-area:X:Y:WxH:SIGMA`: a Gaussian blur of one rectangle.

use std::fmt;
use std::ops::Range;

use andon_recipe::{Arg, Effect, ParseError, Word};

use super::gaussian::{Filter, Gaussian, Response};
use super::geometry::{Geometry, SIGMA};
use super::lay::span;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Traits};
use crate::samples::{Planes, Sample, by_depth, bytes, count};
use crate::stage::{Context, Op, Stage, wrong};

/// Makes a part of an image unrecognisable.
pub(super) struct BlurArea;

const PLACE: Arg = Arg::whole("x", i32::MIN as i64, i32::MAX as i64)
    .unit("px")
    .help("left edge of the area");

const WORD: Word = Word {
    name: Effect::BLUR_AREA,
    args: &[
        PLACE,
        Arg {
            name: "y",
            help: "top edge of the area",
            ..PLACE
        },
        Arg {
            name: "width",
            help: "width of the area; what lies outside the image does not count",
            ..Arg::whole("", 0, i32::MAX as i64).unit("px")
        },
        Arg {
            name: "height",
            mark: 'x',
            help: "height of the area",
            ..Arg::whole("", 0, i32::MAX as i64).unit("px")
        },
        Arg {
            mark: ':',
            default: None,
            ..SIGMA
        },
    ],
    help: "blurs a rectangle of the image",
    example: "blur-area:40:30:80x60:8",
};

impl Op for BlurArea {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let texts: [Option<&str>; 5] = WORD.read(&effect.args)?;
            let whole = |at: usize| WORD.args[at].read_whole(texts[at].unwrap_or_default());
            let geometry = Geometry {
                radius: 0.0,
                sigma: WORD.args[4].read_number(texts[4].unwrap_or_default())?,
                amount: None,
                threshold: None,
            };
            Ok::<_, ParseError>(([whole(0)?, whole(1)?, whole(2)?, whole(3)?], geometry))
        };
        let ([x, y, w, h], geometry) = read().map_err(|error| wrong(effect, &error))?;
        let is_visible = w > 0 && h > 0 && geometry.is_visible();
        Ok(is_visible.then(|| {
            Box::new(Area {
                columns: x..x + w,
                rows: y..y + h,
                filter: Filter {
                    effect: effect.clone(),
                    gaussian: Gaussian::rows_and_columns(&geometry),
                    response: Response::BLUR,
                },
            }) as Box<dyn Stage>
        }))
    }
}

/// A blur of one rectangle of the image.
#[derive(Debug)]
struct Area {
    columns: Range<i64>,
    rows: Range<i64>,
    filter: Filter,
}

/// Strongest chroma subsampling along one axis, in px per sample. Parts that begin at a multiple of it begin at a
/// sample of each plane.
const THINNEST: u32 = 4;

impl Area {
    /// Returns the rectangle cut to an image of this size.
    fn on(&self, (width, height): (u32, u32)) -> (Range<u32>, Range<u32>) {
        let inside = |range: &Range<i64>, side: u32| {
            // The position is clamped to 0..=side, so it fits into a u32.
            let within = |at: i64| at.clamp(0, side.into()) as u32;
            within(range.start)..within(range.end)
        };
        (inside(&self.columns, width), inside(&self.rows, height))
    }

    /// Returns the part of the image that is needed to blur a rectangle: the rectangle and everything around it that
    /// the filter reaches.
    fn source_part(&self, (columns, rows): (&Range<u32>, &Range<u32>), size: (u32, u32)) -> Part {
        let reach = self.filter.gaussian.reach();
        let grown = |range: &Range<u32>, side: u32| {
            let start = range.start.saturating_sub(reach);
            start - start % THINNEST..range.end.saturating_add(reach).min(side)
        };
        Part {
            columns: grown(columns, size.0),
            rows: grown(rows, size.1),
        }
    }
}

/// A rectangle of an image, in px.
struct Part {
    columns: Range<u32>,
    rows: Range<u32>,
}

impl Part {
    fn of<T: Sample>(&self, planes: &Planes<T>) -> Planes<T> {
        let cut = |grid: &Grid<T>, h: u8, v: u8| {
            grid.part(self.samples(&self.columns, h), self.samples(&self.rows, v))
        };
        let colours = planes.colours.iter().enumerate().map(|(index, grid)| {
            let sub = planes.thinning(index);
            cut(grid, sub.h, sub.v)
        });
        Planes {
            model: planes.model,
            depth: planes.depth,
            colour: planes.colour.clone(),
            width: self.columns.end - self.columns.start,
            height: self.rows.end - self.rows.start,
            colours: colours.collect(),
            alpha: planes.alpha.as_ref().map(|alpha| cut(alpha, 1, 1)),
        }
    }

    fn samples(&self, px: &Range<u32>, thin: u8) -> Range<u32> {
        px.start / u32::from(thin)..px.end.div_ceil(u32::from(thin))
    }
}

impl Stage for Area {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let size = (frame.width, frame.height);
        let (columns, rows) = self.on(size);
        if columns.is_empty() || rows.is_empty() {
            return Ok(frame);
        }
        let part = self.source_part((&columns, &rows), size);
        by_depth!(frame, planes => {
            let mut blurred = part.of(&planes);
            self.filter.filter(&mut blurred, context.interrupt)?;
            for index in 0..planes.colours.len() {
                let sub = planes.thinning(index);
                // A subsampled sample belongs to the area if its middle lies inside.
                let inside = |area: &Range<u32>, at: u32, thin: u8, side: u32| {
                    let px = span(at, thin, side);
                    area.contains(&((px.start + px.end - 1) / 2))
                };
                let (left, top) = (part.columns.start / u32::from(sub.h), part.rows.start / u32::from(sub.v));
                let grid = &mut planes.colours[index];
                let source = &blurred.colours[index];
                for y in 0..source.height() {
                    if !inside(&rows, top + y, sub.v, size.1) {
                        continue;
                    }
                    let out = &mut grid.row_mut(top + y)[left as usize..];
                    for (x, (out, sample)) in out.iter_mut().zip(source.row(y)).enumerate() {
                        if inside(&columns, left + x as u32, sub.h, size.0) {
                            *out = *sample;
                        }
                    }
                }
            }
            planes.frame()
        })
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let size = (width, height);
        let (columns, rows) = self.on(size);
        let part = self.source_part((&columns, &rows), size);
        let (width, height) = (
            part.columns.end.saturating_sub(part.columns.start),
            part.rows.end.saturating_sub(part.rows.start),
        );
        let blur = self.filter.cost(width, height, traits);
        let part_bytes = count(width, height, traits.model, traits.alpha) * bytes(traits.depth);
        Cost {
            nanos: blur.nanos,
            scratch: blur.scratch + part_bytes,
        }
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter.effect.fmt(f)
    }
}
