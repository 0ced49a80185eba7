//! Prints a recipe as its text.

use std::fmt;

use super::escape;
use crate::step::{Bounds, Canvas, Crop, Effect, Flip, Gravity, Length, Pad, Step, Turn};
use crate::words;
use crate::{Background, Chroma, Colour, FormatName, Kept, Output, Profile, Recipe, StoredTurn};

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = Pieces { f, first: true };
        for step in &self.steps {
            pieces.put(step)?;
        }
        pieces.output(&self.output)?;
        if pieces.first {
            f.write_str(words::SAME.name)?;
        }
        Ok(())
    }
}

/// Prints pieces separated by commas.
struct Pieces<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    first: bool,
}

impl Pieces<'_, '_> {
    fn put(&mut self, piece: impl fmt::Display) -> fmt::Result {
        if !self.first {
            self.f.write_str(",")?;
        }
        self.first = false;
        write!(self.f, "{piece}")
    }

    fn output(&mut self, output: &Output) -> fmt::Result {
        match output.stored_turn {
            StoredTurn::Applied => {}
            StoredTurn::Kept => self.put(words::STORED.name)?,
            turn @ StoredTurn::Verbatim => {
                let turn = words::of(&StoredTurn::SAID, words::STORED_TURNS, &turn);
                self.put(format_args!("{}:{turn}", words::STORED.name))?;
            }
        }
        match output.background {
            Background::Unsaid => {}
            Background::Colour(colour) => self.put(format_args!("background:{colour}"))?,
            Background::Dropped => self.put("background:none")?,
        }
        if output.profile != Profile::default() {
            let profile = words::of(&Profile::SAID, words::PROFILES, &output.profile);
            self.put(format_args!("profile:{profile}"))?;
        }
        if output.metadata != Kept::default() {
            let kept = words::of(&Kept::SAID, words::METADATA_KEPT, &output.metadata);
            self.put(format_args!("metadata:{kept}"))?;
        }
        if output.drops_gain_map {
            self.put(format_args!("gainmap:{}", words::DROP))?;
        }
        if output.linear {
            self.put(words::LINEAR.name)?;
        }
        if let Some(format) = &output.format {
            self.put(format_args!("as:{format}"))?;
        }
        if let Some(format) = &output.moving {
            self.put(format_args!("moving:{format}"))?;
        }
        for (word, value) in output.shared() {
            self.put(word.name)?;
            unless_empty(self.f, &value)?;
        }
        for (name, value) in &output.options {
            self.put(words::WITH.name)?;
            write!(self.f, ":{name}")?;
            unless_empty(self.f, value)?;
        }
        if let Some(frame) = output.frame {
            self.put(format_args!("frame:{frame}"))?;
        }
        if let Some(most) = output.most_frames {
            self.put(format_args!("frames:{most}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Effect(effect) = self {
            return effect.fmt(f);
        }
        f.write_str(self.word())?;
        match self {
            Self::Original | Self::Orient | Self::Effect(_) => Ok(()),
            Self::Shrink(eighths) => write!(f, ":{eighths}"),
            Self::Turn(turn) => write!(f, ":{}", words::of(&Turn::ALL, words::TURNS, turn)),
            Self::Flip(flip) => write!(f, ":{}", words::of(&Flip::ALL, words::FLIPS, flip)),
            Self::Rotate { degrees, colour } => {
                write!(f, ":{degrees}")?;
                unless_clear(f, *colour)
            }
            // The default is written too: a bare `trim` says little to who reads it.
            Self::Trim(tolerance) => write!(f, ":{tolerance}"),
            Self::Crop(Crop::At { x, y, w, h }) => write!(f, ":{x}:{y}:{w}x{h}"),
            Self::Crop(Crop::Towards { w, h, gravity }) => {
                write!(f, ":{w}x{h}")?;
                kept(f, *gravity)
            }
            Self::Fit { inside, enlarge } => {
                match inside {
                    Bounds::Width(w) => write!(f, ":{w}x"),
                    Bounds::Height(h) => write!(f, ":x{h}"),
                    Bounds::Both(w, h) => write!(f, ":{w}x{h}"),
                }?;
                growing(f, *enlarge)
            }
            Self::Cover {
                w,
                h,
                gravity,
                enlarge,
            } => {
                write!(f, ":{w}x{h}")?;
                kept(f, *gravity)?;
                growing(f, *enlarge)
            }
            Self::Exact { w, h } => write!(f, ":{w}x{h}"),
            Self::Pad(pad) => {
                let Pad {
                    top,
                    right,
                    bottom,
                    left,
                    colour,
                } = pad;
                write!(f, ":{top}:{right}:{bottom}:{left}")?;
                unless_clear(f, *colour)
            }
            Self::Canvas(canvas) => {
                let Canvas { w, h, colour, at } = canvas;
                write!(f, ":{w}x{h}:{colour}")?;
                at.map_or(Ok(()), |(x, y)| write!(f, ":{x}:{y}"))
            }
            Self::Flatten(colour) => write!(f, ":{colour}"),
            Self::Focus { x, y } => write!(f, ":{x}:{y}"),
            Self::Salient => write!(f, ":{}", words::SMART),
            Self::Faces => write!(f, ":{}", words::FACES),
            Self::BlurFaces(sigma) => sigma.map_or(Ok(()), |sigma| write!(f, ":{sigma}")),
            Self::Dpr(ratio) => write!(f, ":{ratio}"),
        }
    }
}

fn unless_empty(f: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    if value.is_empty() {
        return Ok(());
    }
    write!(f, ":{value}")
}

fn unless_clear(f: &mut fmt::Formatter<'_>, colour: Colour) -> fmt::Result {
    if colour == Colour::CLEAR {
        return Ok(());
    }
    write!(f, ":{colour}")
}

fn kept(f: &mut fmt::Formatter<'_>, gravity: Gravity) -> fmt::Result {
    match gravity {
        Gravity::Centre => Ok(()),
        gravity => write!(f, ":{}", gravity.word()),
    }
}

fn growing(f: &mut fmt::Formatter<'_>, enlarge: bool) -> fmt::Result {
    f.write_str(if enlarge { ":enlarge" } else { "" })
}

impl Step {
    /// Creates a crop to a rectangle in whole pixels.
    #[must_use]
    pub fn crop(x: u32, y: u32, w: u32, h: u32) -> Self {
        let px = |px: u32| Length::Px(px.into());
        Self::Crop(Crop::At {
            x: px(x),
            y: px(y),
            w: px(w),
            h: px(h),
        })
    }

    /// Creates a scaling to exactly this size in whole pixels.
    #[must_use]
    pub fn exact(w: u32, h: u32) -> Self {
        Self::Exact {
            w: Length::Px(w.into()),
            h: Length::Px(h.into()),
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for arg in &self.args {
            f.write_str(":")?;
            escape::write(f, arg)?;
        }
        Ok(())
    }
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Chroma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::C444 => "444",
            Self::C422 => "422",
            Self::C420 => "420",
            Self::C440 => "440",
            Self::C411 => "411",
        })
    }
}
