//! From a recipe to its text: canonical order, nothing that says the default.

use std::fmt;

use super::{SAME, escape};
use crate::{
    Canvas, Chroma, Effect, Fit, Flatten, FormatName, Length, Original, Output, Recipe, Region,
    Size, Turn,
};

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stages = Stages { f, first: true };
        match self.original {
            Original::Never => {}
            Original::Always => stages.put("original")?,
            Original::IfSmaller => stages.put("original:smaller")?,
            Original::IfLarger => stages.put("original:larger")?,
        }
        if let Some((w, h)) = self.hint {
            stages.put(format_args!("hint:{w}x{h}"))?;
        }
        stages.flag(self.strip, "strip")?;
        stages.flag(self.orient, "orient")?;
        match self.turn {
            Turn::R0 => {}
            Turn::R90 => stages.put("turn:90")?,
            Turn::R180 => stages.put("turn:180")?,
            Turn::R270 => stages.put("turn:270")?,
        }
        stages.region(&self.region)?;
        stages.size(&self.size)?;
        stages.flag(self.size.enlarge, "enlarge")?;
        if let Some(canvas) = &self.canvas {
            stages.canvas(canvas)?;
        }
        match self.flatten {
            Flatten::IfNeeded => {}
            Flatten::Over(colour) => stages.put(format_args!("flatten:{colour}"))?,
            Flatten::Drop => stages.put("flatten:none")?,
        }
        stages.flag(self.srgb, "srgb")?;
        for effect in &self.effects {
            stages.put(effect)?;
        }
        stages.output(&self.output)?;
        if stages.first {
            f.write_str(SAME)?;
        }
        Ok(())
    }
}

/// Prints stages with commas between them.
struct Stages<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    first: bool,
}

impl Stages<'_, '_> {
    fn put(&mut self, stage: impl fmt::Display) -> fmt::Result {
        if !self.first {
            self.f.write_str(",")?;
        }
        self.first = false;
        write!(self.f, "{stage}")
    }

    fn flag(&mut self, set: bool, word: &str) -> fmt::Result {
        if set { self.put(word) } else { Ok(()) }
    }

    fn region(&mut self, region: &Region) -> fmt::Result {
        if *region == Region::default() {
            return Ok(());
        }
        let Region { x, y, w, h } = region;
        self.put(format_args!(
            "crop:{}:{}:{}x{}",
            Part(x, "_"),
            Part(y, "_"),
            Part(w, "_"),
            Part(h, "_")
        ))
    }

    fn size(&mut self, size: &Size) -> fmt::Result {
        let word = match (size.w, size.h, size.fit) {
            (None, None, _) => return Ok(()),
            (Some(_), Some(_), Fit::Cover) => "cover",
            (Some(_), Some(_), Fit::Exact) => "exact",
            // With one side given there is no box to meet: one text for one meaning.
            _ => "fit",
        };
        self.put(format_args!(
            "{word}:{}x{}",
            Part(&size.w, ""),
            Part(&size.h, "")
        ))
    }

    fn canvas(&mut self, canvas: &Canvas) -> fmt::Result {
        let Canvas { w, h, x, y, colour } = canvas;
        if x.is_none() && y.is_none() {
            self.put(format_args!("canvas:{w}x{h}:{colour}"))
        } else {
            self.put(format_args!(
                "canvas:{w}x{h}:{colour}:{}:{}",
                Part(x, "_"),
                Part(y, "_")
            ))
        }
    }

    fn output(&mut self, output: &Output) -> fmt::Result {
        if let Some(format) = &output.format {
            self.put(format_args!("as:{format}"))?;
        }
        if let Some(quality) = output.quality {
            self.put(format_args!("q:{quality}"))?;
        }
        self.flag(output.progressive, "progressive")?;
        if let Some(chroma) = output.chroma {
            self.put(format_args!("chroma:{chroma}"))?;
        }
        if let Some(effort) = output.effort {
            self.put(format_args!("effort:{effort}"))?;
        }
        if let Some(frame) = output.frame {
            self.put(format_args!("frame:{frame}"))?;
        }
        Ok(())
    }
}

/// A length that may be absent, and what stands for it then.
struct Part<'a>(&'a Option<Length>, &'static str);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(length) => write!(f, "{length}"),
            None => f.write_str(self.1),
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
