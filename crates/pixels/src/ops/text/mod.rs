//! `text:TEXT:SIZE:COLOUR:GRAVITY:MARGINxDOWN:WIDTHxHEIGHT`…: text on an image.
//!
//! A codec that generates drawings lays the text out and draws it with the server's fonts. Shadow, repetition and
//! blending are applied to the drawn text.

mod word;

use std::fmt;

use andon_recipe::{Colour, Effect, ParseError, Word};

use super::blend::Mode;
use super::lay::lay;
use super::overlay::tiled;
use super::shadow::{Shadow, fade};
use crate::codec::{Align, Anchor, Breaks, Cut, Outline, Overflow, Room, Text, Writing};
use crate::color::{self, remodelled};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Depth, Frame, Model, Traits};
use crate::samples::{Planes, by_depth, bytes, count};
use crate::stage::{Context, Op, Stage, wrong};

use word::{
    ALIGN, BLEND, BREAK, COLOUR, CUT, DOWN, FONT_AT, GRAVITY, HEIGHT, LEADING, MARGIN, OPACITY,
    OUTLINE, OUTLINE_COLOUR, OVERFLOW, SIZE, TILE, TILE_DOWN, TRACKING, TURN, TURN_ABOUT, WIDTH,
    WORD, WRITING,
};

/// The `text` effect, which writes on an image.
pub(super) struct TextOp;

/// Returns the font families and the style that a text names; `None` for the default font and for an effect with wrong
/// arguments.
pub(crate) fn font(effect: &Effect) -> Option<&str> {
    let texts: [Option<&str>; WORD.args.len()] = WORD.read(&effect.args).ok()?;
    texts[FONT_AT]
}

/// Longest text, in bytes.
const LONGEST: usize = 1024;

/// Longest list of families and styles that a text may name, in bytes.
const LONGEST_FONT: usize = 256;

impl Op for TextOp {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let stage = TextStage::read(effect).map_err(|error| wrong(effect, &error))?;
        let length = stage.text.len();
        if length > LONGEST {
            return Err(Error::Recipe {
                piece: WORD.name.to_owned(),
                why: format!("a text of {length} bytes is longer than {LONGEST}"),
            });
        }
        let length = stage.font.len();
        if length > LONGEST_FONT {
            return Err(Error::Recipe {
                piece: WORD.name.to_owned(),
                why: format!("a font's name of {length} bytes is longer than {LONGEST_FONT}"),
            });
        }
        let style = &stage.style;
        let is_visible = stage.colour.a > 0 || style.outline.is_some_and(|line| line.colour.a > 0);
        let is_visible = is_visible && style.opacity > 0.0 && !stage.text.trim().is_empty();
        Ok(is_visible.then(|| Box::new(stage) as Box<dyn Stage>))
    }
}

/// Returns the position along a side that a gravity names; the middle if it names neither end.
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
        "clip" => Overflow::Clip,
        _ => Overflow::Wrap,
    }
}

fn writing_named(name: &str) -> Writing {
    match name {
        "vertical" => Writing::Vertical,
        _ => Writing::Horizontal,
    }
}

/// Returns the alignment with this name. For any other name, lines are aligned with the side of the image that the
/// gravity names.
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
struct TextStage {
    /// The effect as written in the recipe.
    effect: Effect,
    text: String,
    /// Font size in px.
    size: f64,
    colour: Colour,
    gravity: (Anchor, Anchor),
    /// Horizontal and vertical margin, in px.
    margin: (f64, f64),
    /// Width and height of the text's box, in px; 0 for a side without a limit.
    area: (f64, f64),
    overflow: Overflow,
    align: Align,
    writing: Writing,
    font: String,
    style: Style,
}

/// The named arguments of a text.
#[derive(Debug)]
struct Style {
    breaks: Breaks,
    cut: Cut,
    /// Additional distance between characters, in px.
    tracking: f64,
    /// Additional distance between lines, in px.
    leading: f64,
    outline: Option<Outline>,
    shadow: Option<Shadow>,
    /// Clockwise angle by which the lines of the text are turned, in degrees.
    turn: f64,
    /// Whether the middle of the text stays in place when its lines are turned.
    keeps_middle: bool,
    /// Distance in px between the copies of a repeated text, across and down.
    tile: Option<(f64, f64)>,
    /// Factor by which the opacity of the whole text is multiplied, 0 to 1.
    opacity: f64,
    blend: Mode,
}

impl Style {
    /// Parses the arguments of a `text` effect that follow the font.
    fn read(texts: [Option<&str>; WORD.args.len() - FONT_AT - 1]) -> Result<Self, ParseError> {
        let [
            breaks,
            cut,
            tracking,
            leading,
            outline,
            outline_colour,
            sigma,
            right,
            down,
            shadow_colour,
            turn,
            about,
            across,
            rows,
            opacity,
            blend,
        ] = texts;
        let width = OUTLINE.read_number(outline.unwrap_or("0"))?;
        let colour = OUTLINE_COLOUR.read_colour(outline_colour.unwrap_or("ffffff"))?;
        let across = across.map(|across| TILE.read_number(across)).transpose()?;
        let rows = TILE_DOWN.read_number(rows.unwrap_or("0"))?;
        Ok(Self {
            breaks: match BREAK.read_choice(breaks.unwrap_or("words"))? {
                "characters" => Breaks::Characters,
                _ => Breaks::Words,
            },
            cut: match CUT.read_choice(cut.unwrap_or("end"))? {
                "start" => Cut::Start,
                "middle" => Cut::Middle,
                _ => Cut::End,
            },
            tracking: TRACKING.read_number(tracking.unwrap_or("0"))?,
            leading: LEADING.read_number(leading.unwrap_or("0"))?,
            outline: (width > 0.0).then_some(Outline { width, colour }),
            shadow: Shadow::read([sigma, right, down, shadow_colour])?,
            turn: TURN.read_number(turn.unwrap_or("0"))?,
            keeps_middle: TURN_ABOUT.read_choice(about.unwrap_or("side"))? == "middle",
            tile: across.map(|across| (across, rows)),
            opacity: OPACITY.read_number(opacity.unwrap_or("100"))? / 100.0,
            blend: Mode::of(BLEND.read_choice(blend.unwrap_or("normal"))?),
        })
    }

    /// Returns the gaps around a repeated text: the distance to the next copy, and the room for outline and shadow.
    /// `None` if the text is not repeated.
    fn room(&self) -> Option<Room> {
        let reach = self.outline.map_or(0.0, |line| line.width.ceil())
            + self.shadow.as_ref().map_or(0.0, Shadow::reach);
        self.tile.map(|(across, down)| Room {
            across: across + 2.0 * reach,
            down: down + 2.0 * reach,
        })
    }
}

impl TextStage {
    fn read(effect: &Effect) -> Result<Self, ParseError> {
        let texts: [Option<&str>; WORD.args.len()] = WORD.read(&effect.args)?;
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
            style @ ..,
        ] = texts;
        let margin = MARGIN.read_number(margin.unwrap_or("0"))?;
        let down = down.map_or(Ok(margin), |down| DOWN.read_number(down))?;
        let width = WIDTH.read_number(width.unwrap_or("0"))?;
        let height = HEIGHT.read_number(height.unwrap_or("0"))?;
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
        Ok(Self {
            effect: effect.clone(),
            text: text.unwrap_or_default().to_owned(),
            size: SIZE.read_number(size.unwrap_or_default())?,
            colour: COLOUR.read_colour(colour.unwrap_or("000000"))?,
            gravity,
            margin: (margin, down),
            area: (width, height),
            overflow: overflow_named(OVERFLOW.read_choice(overflow.unwrap_or("wrap"))?),
            align: align_named(ALIGN.read_choice(align.unwrap_or("gravity"))?, along),
            writing,
            font: font.unwrap_or_default().to_owned(),
            style: Style::read(style)?,
        })
    }

    /// Returns the text to draw on an image of this width and height in px.
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
            breaks: self.style.breaks,
            cut: self.style.cut,
            tracking: self.style.tracking,
            leading: self.style.leading,
            outline: self.style.outline,
            turn: self.style.turn,
            keeps_middle: self.style.keeps_middle,
            tile: self.style.room(),
        }
    }

    /// Returns the letters with their shadow. The result for a repeated text is one tile.
    fn letters(&self, size: (u32, u32), context: &Context<'_>) -> Result<Frame> {
        let letters = (context.draw)(&self.on(size.0, size.1))?.frame;
        let Style {
            shadow, opacity, ..
        } = &self.style;
        if shadow.is_none() && *opacity >= 1.0 {
            return Ok(letters);
        }
        by_depth!(letters, planes => {
            if let Some(shadow) = shadow {
                planes = shadow.cast(planes, context.interrupt)?;
            }
            if let Some(alpha) = &mut planes.alpha {
                fade(alpha, *opacity as f32);
            }
            planes.frame()
        })
    }
}

impl Stage for TextStage {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let size = (frame.width, frame.height);
        let letters = self.letters(size, context)?;
        let blend = self.style.blend;
        let (model, after) = (blend.model(frame.model), blend.model_after(frame.model));
        by_depth!(frame, planes => {
            let mut planes = remodelled(planes, model, None, context.interrupt)?;
            let mut letters = remodelled(Planes::of(letters), model.unthinned(), None, context.interrupt)?;
            if self.style.tile.is_some() {
                letters = tiled(&letters, size, (0, 0))?;
            }
            if let Mode::Blend(blend) = blend {
                blend.apply(&mut letters, &planes, (0, 0));
            }
            lay(&mut planes, &letters, 0, 0);
            remodelled(planes, after, None, context.interrupt)?.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            model: self.style.blend.model_after(traits.model),
            ..traits
        }
    }

    fn adds_colour(&self) -> bool {
        let outline = self.style.outline.map(|line| line.colour);
        let shadow = self.style.shadow.as_ref();
        color::is_colourful(self.colour)
            || outline.is_some_and(color::is_colourful)
            || shadow.is_some_and(Shadow::is_colourful)
            || matches!(self.style.blend, Mode::Blend(_))
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let style = &self.style;
        let laid_samples = count(width, height, traits.model, true);
        let drawn_samples = count(width, height, Model::Rgb, true);
        let letters = Traits {
            model: Model::Rgb,
            alpha: true,
            depth: Depth::U8,
            ..traits
        };
        let shadow = style.shadow.as_ref();
        let shadow = shadow.map(|shadow| shadow.cost(width, height, letters));
        let shadow = shadow.unwrap_or_default();
        let blended_samples = match style.blend {
            Mode::Blend(_) => drawn_samples,
            _ => 0,
        };
        // A tile is at most as large as the image.
        let repeated_samples = match style.tile {
            Some(_) => laid_samples,
            None => 0,
        };
        let per_byte = NANOS_PER_BYTE + style.outline.map_or(0, |_| NANOS_PER_OUTLINED_BYTE);
        Cost {
            nanos: NANOS_TO_READ
                + self.text.len() as u64 * per_byte
                + (drawn_samples + repeated_samples + 3 * blended_samples) * PICOS_DRAWN / 1000
                + shadow.nanos,
            // The drawing, a copy of it or its shadow, and the text in the image's model.
            scratch: (2 * drawn_samples).max(drawn_samples + shadow.scratch)
                + (2 * laid_samples + repeated_samples + 2 * blended_samples) * bytes(traits.depth),
        }
    }
}

/// Estimated nanoseconds to load the fonts.
const NANOS_TO_READ: u64 = 3_000_000;

/// Estimated nanoseconds to choose the font of a byte of text, to shape it and to draw its outline.
const NANOS_PER_BYTE: u64 = 20_000;

/// Estimated nanoseconds per byte of text to draw an outline around its letters.
const NANOS_PER_OUTLINED_BYTE: u64 = 60_000;

/// Estimated picoseconds per sample to draw the text and to composite it over the image.
const PICOS_DRAWN: u64 = 6_000;

impl fmt::Display for TextStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}
