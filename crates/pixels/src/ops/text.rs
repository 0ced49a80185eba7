//! `text:TEXT:SIZE:COLOUR:GRAVITY:MARGINxDOWN`: text on an image.
//!
//! A codec that makes drawings shapes and draws it, in both writing directions and with the server's fonts.

use std::fmt;

use andon_recipe::{Arg, Colour, Effect, GRAVITIES, ParseError, Word};

use super::lay::lay;
use crate::codec::{Anchor, Text};
use crate::color::{self, remodelled};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Model, Subsampling, Traits};
use crate::samples::{Planes, by_depth, bytes, count};
use crate::stage::{Context, Op, Stage, wrong};

/// The `text` effect, which writes on an image.
pub(super) struct TextOp;

const SIZE: Arg = Arg::number("size", 1.0, 10_000.0)
    .unit("px")
    .help("of the letters: a line is 1.2 times as high");

const COLOUR: Arg = Arg::colour("colour")
    .default("000000")
    .help("of the letters, which it may make translucent");

const GRAVITY: Arg = Arg::choice("gravity", GRAVITIES)
    .default("centre")
    .help("where on the image");

const MARGIN: Arg = Arg::number("margin", -10_000.0, 10_000.0)
    .unit("px")
    .default("0")
    .help("between the text and the left or right side, where it lies at one; less than 0: it hangs over");

const DOWN: Arg = Arg::number("down", -10_000.0, 10_000.0)
    .after('x')
    .unit("px")
    .default("margin")
    .help("between the text and the upper or lower side, likewise");

const WORD: Word = Word {
    name: Effect::TEXT,
    args: &[
        Arg::text("text", "Hello%20world").help("%0A begins a new line"),
        SIZE,
        COLOUR,
        GRAVITY,
        MARGIN,
        DOWN,
    ],
    help: "writes on the image; what does not fit on it is cut off",
    example: "text:Otter:24:ffffffc0:southeast:10",
};

/// The longest text, in bytes.
const LONGEST: usize = 1024;

impl Op for TextOp {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [text, size, colour, gravity, margin, down] = WORD.read(&effect.args)?;
            let margin = MARGIN.read_number(margin.unwrap_or("0"))?;
            Ok::<_, ParseError>(Written {
                effect: effect.clone(),
                text: text.unwrap_or_default().to_owned(),
                size: SIZE.read_number(size.unwrap_or_default())?,
                colour: COLOUR.read_colour(colour.unwrap_or("000000"))?,
                gravity: GRAVITY.read_choice(gravity.unwrap_or("centre"))?,
                margin: (
                    margin,
                    down.map_or(Ok(margin), |down| DOWN.read_number(down))?,
                ),
            })
        };
        let written = read().map_err(|error| wrong(effect, &error))?;
        let length = written.text.len();
        if length > LONGEST {
            return Err(Error::Recipe {
                piece: WORD.name.to_owned(),
                why: format!("a text of {length} bytes is longer than {LONGEST}"),
            });
        }
        let shows = !written.text.trim().is_empty() && written.colour.a > 0;
        Ok(shows.then(|| Box::new(written) as Box<dyn Stage>))
    }
}

#[derive(Debug)]
struct Written {
    /// The effect as written in the recipe.
    effect: Effect,
    text: String,
    /// Font size in px.
    size: f64,
    colour: Colour,
    gravity: &'static str,
    /// Horizontal and vertical margin, in px.
    margin: (f64, f64),
}

/// Line spacing as a multiple of the font size. `ASCENT` and `DESCENT` are the extents above and below the baseline and
/// `CAPITALS` the height of capitals, in the same unit.
const LINE: f64 = 1.2;
const ASCENT: f64 = 0.93;
const DESCENT: f64 = 0.24;
const CAPITALS: f64 = 0.73;

impl Written {
    /// Returns the text as it is to be drawn on an image of this width and height in px.
    fn laid_out(&self, width: u32, height: u32) -> Text<'_> {
        let (w, h, size) = (f64::from(width), f64::from(height), self.size);
        let at = |side: &str| self.gravity.contains(side);
        let (across, below) = self.margin;
        let (anchor, x) = match (at("west"), at("east")) {
            (true, _) => (Anchor::Start, across),
            (_, true) => (Anchor::End, w - across),
            _ => (Anchor::Middle, w / 2.0),
        };
        let lines = self.text.lines().count().max(1);
        let down = LINE * size * (lines - 1) as f64;
        let first = match (at("north"), at("south")) {
            (true, _) => below + ASCENT * size,
            (_, true) => h - below - DESCENT * size - down,
            _ => (h - down + CAPITALS * size) / 2.0,
        };
        let line = |(index, line)| ((x, first + LINE * size * index as f64), line);
        Text {
            width,
            height,
            size,
            colour: self.colour,
            anchor,
            lines: self.text.lines().enumerate().map(line).collect(),
        }
    }
}

impl Stage for Written {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let drawn = (context.draw)(&self.laid_out(frame.width, frame.height))?;
        by_depth!(frame, planes => {
            let unthinned = match planes.model {
                Model::YCbCr { range, matrix, .. } => Model::YCbCr { sub: Subsampling::NONE, range, matrix },
                model => model,
            };
            let letters = remodelled(Planes::of(drawn.frame), unthinned, None, context.interrupt)?;
            lay(&mut planes, &letters, 0, 0);
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
        let laid = count(width, height, traits.model, true);
        let drawn = count(width, height, Model::Rgb, true);
        Cost {
            nanos: NANOS_TO_READ + drawn * PICOS_DRAWN / 1000,
            // Drawn, as it was drawn, and in the image's model.
            scratch: 2 * drawn + laid * 2 * bytes(traits.depth),
        }
    }
}

/// Estimated nanoseconds to search the fonts and shape the letters.
const NANOS_TO_READ: u64 = 3_000_000;

/// Estimated picoseconds per sample that is drawn and laid over the image.
const PICOS_DRAWN: u64 = 6_000;

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}
