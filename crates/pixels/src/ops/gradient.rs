//! `gradient:OPACITY:COLOUR:ANGLE:START:STOP`: one colour whose opacity grows from 0 along a line.

use std::fmt;

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::lay::veil;
use crate::color;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Traits};
use crate::samples::{Sample, by_depth, bytes, count};
use crate::stage::{Context, Op, Stage, wrong};

/// Lays a colour of growing opacity over an image, such as a shadow below a caption.
pub(super) struct Gradient;

const OPACITY: Arg = Arg::number("opacity", 0.0, 100.0)
    .unit("per cent")
    .help("of the colour where it is strongest; 0: nothing changes");

const ANGLE: Arg = Arg::number("angle", -360.0, 360.0)
    .unit("degrees clockwise")
    .default("180")
    .help("towards where it grows, as in CSS; 0: the top, 90: the right, 180: the bottom");

const START: Arg = Arg::number("start", -1000.0, 1000.0)
    .unit("per cent")
    .default("0")
    .help("of the way, where the colour begins");

const STOP: Arg = Arg {
    name: "stop",
    default: Some("100"),
    help: "of the way, from where on it is strongest",
    ..START
};

const WORD: Word = Word {
    name: "gradient",
    args: &[
        OPACITY,
        Arg::colour("colour").help("its alpha has no effect"),
        ANGLE,
        START,
        STOP,
    ],
    help: "lays a colour over the image that grows along a line, from one side or corner to the opposite one",
    example: "gradient:80:000000:180:50",
};

impl Op for Gradient {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [opacity, colour, angle, start, stop] = WORD.read(&effect.args)?;
            let number = |arg: Arg, text: Option<&str>| {
                arg.read_number(text.or(arg.default).unwrap_or_default())
            };
            Ok::<_, ParseError>(Ramp {
                effect: effect.clone(),
                opacity: number(OPACITY, opacity)? / 100.0,
                colour: colour.unwrap_or_default().parse()?,
                angle: number(ANGLE, angle)?.to_radians(),
                start: number(START, start)? / 100.0,
                stop: number(STOP, stop)? / 100.0,
            })
        };
        let ramp = read().map_err(|error| wrong(effect, &error))?;
        Ok((ramp.opacity > 0.0).then(|| Box::new(ramp) as Box<dyn Stage>))
    }
}

struct Ramp {
    /// The effect as written in the recipe.
    effect: Effect,
    /// Highest opacity of the colour, 0 to 1.
    opacity: f64,
    colour: Colour,
    /// Direction in which the opacity of the colour grows, in radians clockwise from the top.
    angle: f64,
    /// Where along the gradient the colour begins: 0 is the edge or corner where the gradient starts, 1 the opposite
    /// one.
    start: f64,
    /// Where along the gradient the colour reaches its highest opacity: 0 is the edge or corner where the gradient
    /// starts, 1 the opposite one.
    stop: f64,
}

impl Ramp {
    /// Returns the opacity of the colour at each px.
    fn cover<T: Sample>(&self, width: u32, height: u32, context: &Context<'_>) -> Result<Grid<T>> {
        let (across, down) = (self.angle.sin(), -self.angle.cos());
        let (w, h) = (f64::from(width), f64::from(height));
        // The length of the gradient's line, which passes through the centre and is as long as the image in this
        // direction.
        let length = w * across.abs() + h * down.abs();
        let full = f64::from(T::MAX.float());
        let mut grid = Grid::filled(width, height, T::MAX);
        for y in 0..height {
            if y % 64 == 0 {
                context.check()?;
            }
            let row = (f64::from(y) + 0.5 - h / 2.0) * down;
            for (x, covered) in (0..width).zip(grid.row_mut(y)) {
                let along = (f64::from(x) + 0.5 - w / 2.0) * across + row;
                let way = along / length + 0.5;
                let share = match self.stop - self.start {
                    0.0 => f64::from(u8::from(way >= self.start)),
                    rise => ((way - self.start) / rise).clamp(0.0, 1.0),
                };
                *covered = T::round((full * self.opacity * share) as f32);
            }
        }
        Ok(grid)
    }
}

impl Stage for Ramp {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        by_depth!(frame, planes => {
            let cover = self.cover(planes.width, planes.height, context)?;
            veil(&mut planes, self.colour, cover);
            planes.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        traits
    }

    fn adds_colour(&self) -> bool {
        color::is_colourful(self.colour)
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let samples = count(width, height, traits.model, true);
        Cost {
            nanos: samples * PICOS_LAID / 1000,
            scratch: samples * bytes(traits.depth),
        }
    }
}

/// Estimated picoseconds per sample that the colour is laid over.
const PICOS_LAID: u64 = 4_000;

impl fmt::Display for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}

impl fmt::Debug for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ramp({self})")
    }
}
