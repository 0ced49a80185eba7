//! `text:TEXT:SIZE:COLOUR:GRAVITY:MARGINxDOWN:WIDTHxHEIGHT`…: text on an image.
//!
//! A codec that makes drawings lays it out and draws it, with the server's fonts.

use std::fmt;

use andon_recipe::{Arg, Colour, Effect, GRAVITIES, ParseError, Word};

use super::lay::lay;
use crate::codec::{Align, Anchor, Overflow, Text, Writing};
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

const WIDTH: Arg = Arg::number("width", 0.0, 10_000.0)
    .unit("px")
    .default("0")
    .help("of the box that the text has to fit into, at which lines are broken; 0: lines end only at %0A");

const HEIGHT: Arg = Arg::number("height", 0.0, 10_000.0)
    .after('x')
    .unit("px")
    .default("0")
    .help("of the box; 0: as high as the text");

const OVERFLOW: Arg = Arg::choice("overflow", &["wrap", "shrink", "ellipsis"])
    .default("wrap")
    .help("text that is too long for its box: goes on below it, is made smaller, or is cut off with an ellipsis");

const ALIGN: Arg = Arg::choice(
    "align",
    &[
        "gravity", "left", "middle", "right", "start", "end", "justify",
    ],
)
.default("gravity")
.help("of the lines in the box, or in the longest line; start is the right for Arabic and Hebrew");

const WRITING: Arg = Arg::choice("writing", &["horizontal", "vertical"])
    .default("horizontal")
    .help("vertical: columns from right to left, as in Japanese");

const FONT: Arg = Arg::text("font", "serif,bold")
    .default("sans-serif")
    .help("families and style, with commas: Noto%20Serif,bold,italic; serif, monospace and so on are those of [fonts]");

const WORD: Word = Word {
    name: Effect::TEXT,
    args: &[
        Arg::text("text", "Hello%20world")
            .help("%0A begins a new line; a comma or colon is %2C or %3A, in a URL %252C or %253A"),
        SIZE,
        COLOUR,
        GRAVITY,
        MARGIN,
        DOWN,
        WIDTH,
        HEIGHT,
        OVERFLOW,
        ALIGN,
        WRITING,
        FONT,
    ],
    help: "writes on the image; what does not fit on it is cut off",
    example: "text:Otter:24:ffffffc0:southeast:10",
};

/// Returns the families and the style that a text asks for; `None` for the default ones and for an effect that is wrong.
pub(crate) fn font(effect: &Effect) -> Option<&str> {
    let texts: [Option<&str>; WORD.args.len()] = WORD.read(&effect.args).ok()?;
    texts.last().copied().flatten()
}

/// The longest text, in bytes.
const LONGEST: usize = 1024;

/// Most bytes of the families and the style that a text names.
const LONGEST_FONT: usize = 256;

impl Op for TextOp {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let [
                text,
                size,
                colour,
                gravity,
                margin,
                down,
                width,
                height,
                overflow,
                align,
                writing,
                font,
            ] = WORD.read(&effect.args)?;
            let margin = MARGIN.read_number(margin.unwrap_or("0"))?;
            let gravity = GRAVITY.read_choice(gravity.unwrap_or("centre"))?;
            let gravity = (
                anchor(gravity, "west", "east"),
                anchor(gravity, "north", "south"),
            );
            let writing = writing_named(WRITING.read_choice(writing.unwrap_or("horizontal"))?);
            let along = match writing {
                Writing::Horizontal => gravity.0,
                Writing::Vertical => gravity.1,
            };
            Ok::<_, ParseError>(Written {
                effect: effect.clone(),
                text: text.unwrap_or_default().to_owned(),
                size: SIZE.read_number(size.unwrap_or_default())?,
                colour: COLOUR.read_colour(colour.unwrap_or("000000"))?,
                gravity,
                margin: (
                    margin,
                    down.map_or(Ok(margin), |down| DOWN.read_number(down))?,
                ),
                area: (
                    WIDTH.read_number(width.unwrap_or("0"))?,
                    HEIGHT.read_number(height.unwrap_or("0"))?,
                ),
                overflow: overflow_named(OVERFLOW.read_choice(overflow.unwrap_or("wrap"))?),
                align: align_named(ALIGN.read_choice(align.unwrap_or("gravity"))?, along),
                writing,
                font: font.unwrap_or_default().to_owned(),
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
        let length = written.font.len();
        if length > LONGEST_FONT {
            return Err(Error::Recipe {
                piece: WORD.name.to_owned(),
                why: format!("a font's name of {length} bytes is longer than {LONGEST_FONT}"),
            });
        }
        let shows = !written.text.trim().is_empty() && written.colour.a > 0;
        Ok(shows.then(|| Box::new(written) as Box<dyn Stage>))
    }
}

/// Returns the place along a side that a gravity names; its middle if it names neither end.
fn anchor(gravity: &str, start: &str, end: &str) -> Anchor {
    match (gravity.contains(start), gravity.contains(end)) {
        (true, _) => Anchor::Start,
        (_, true) => Anchor::End,
        _ => Anchor::Middle,
    }
}

fn overflow_named(name: &str) -> Overflow {
    match name {
        "shrink" => Overflow::Shrink,
        "ellipsis" => Overflow::Ellipsis,
        _ => Overflow::Wrap,
    }
}

fn writing_named(name: &str) -> Writing {
    match name {
        "vertical" => Writing::Vertical,
        _ => Writing::Horizontal,
    }
}

/// Returns an alignment. By default it is that of the gravity along the lines.
fn align_named(name: &str, gravity: Anchor) -> Align {
    match (name, gravity) {
        ("left", _) => Align::Left,
        ("middle", _) => Align::Centre,
        ("right", _) => Align::Right,
        ("start", _) => Align::Start,
        ("end", _) => Align::End,
        ("justify", _) => Align::Justify,
        (_, Anchor::Start) => Align::Left,
        (_, Anchor::Middle) => Align::Centre,
        (_, Anchor::End) => Align::Right,
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
    gravity: (Anchor, Anchor),
    /// Horizontal and vertical margin, in px.
    margin: (f64, f64),
    /// Width and height of its box, in px; 0 for none.
    area: (f64, f64),
    overflow: Overflow,
    align: Align,
    writing: Writing,
    font: String,
}

impl Written {
    /// Returns the text as it is to be drawn on an image of this width and height in px.
    fn on(&self, width: u32, height: u32) -> Text<'_> {
        Text {
            text: &self.text,
            width,
            height,
            size: self.size,
            colour: self.colour,
            font: &self.font,
            gravity: self.gravity,
            margin: self.margin,
            area: self.area,
            align: self.align,
            overflow: self.overflow,
            writing: self.writing,
        }
    }
}

impl Stage for Written {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let drawn = (context.draw)(&self.on(frame.width, frame.height))?;
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
            nanos: NANOS_TO_READ
                + self.text.len() as u64 * NANOS_PER_BYTE
                + drawn * PICOS_DRAWN / 1000,
            // Drawn, as it was drawn, and in the image's model.
            scratch: 2 * drawn + laid * 2 * bytes(traits.depth),
        }
    }
}

/// Estimated nanoseconds to open the fonts.
const NANOS_TO_READ: u64 = 3_000_000;

/// Estimated nanoseconds to choose the font of a byte of text, to shape it and to draw its outline.
const NANOS_PER_BYTE: u64 = 20_000;

/// Estimated picoseconds per sample that is drawn and laid over the image.
const PICOS_DRAWN: u64 = 6_000;

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}
