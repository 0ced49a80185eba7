//! The canonical text of the rules: options with the same meaning, in the module's order of processing. Parsed again
//! under the same configuration, it gives the same rules.

use std::fmt;

use andon_recipe::{Background, Colour, Effect, Length, Turn};

use super::{Fit, Original, SmallLightRules};

impl fmt::Display for SmallLightRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("small_light(")?;
        let mut options = Options { f, first: true };
        self.put(&mut options)?;
        f.write_str(")")
    }
}

impl SmallLightRules {
    fn put(&self, to: &mut Options<'_, '_>) -> fmt::Result {
        match self.original {
            Original::Never => {}
            Original::IfSmaller => to.put("pt", "ptss")?,
            Original::IfLarger => to.put("pt", "ptls")?,
        }
        to.flag("rmprof", self.strip)?;
        to.flag("autoorient", self.orient)?;
        match self.turn {
            None => {}
            Some(Turn::R90) => to.put("angle", 90)?,
            Some(Turn::R180) => to.put("angle", 180)?,
            Some(Turn::R270) => to.put("angle", 270)?,
        }
        to.flag("jpeghint", self.hint.is_some())?;
        to.length("sx", self.region.x)?;
        to.length("sy", self.region.y)?;
        to.length("sw", self.region.w)?;
        to.length("sh", self.region.h)?;
        to.length("dw", self.size.w)?;
        to.length("dh", self.size.h)?;
        match self.size.fit {
            Fit::Inside => {}
            Fit::Cover => to.put("da", "s")?,
            Fit::Exact => to.put("da", "n")?,
        }
        if self.size.enlarge {
            to.put("ds", "s")?;
        }
        if let Some(canvas) = &self.canvas {
            to.put("cw", canvas.w)?;
            to.put("ch", canvas.h)?;
            to.colour("cc", canvas.colour)?;
            to.length("dx", canvas.x)?;
            to.length("dy", canvas.y)?;
        }
        if let (None, Background::Colour(colour)) = (&self.canvas, self.output.background) {
            to.put("cc", colour)?;
        }
        to.flag("cmyk2rgb", self.srgb)?;
        for effect in &self.effects {
            to.effect(effect)?;
        }
        if let Some(format) = &self.output.format {
            to.put("of", format)?;
        }
        if let Some(quality) = self.quality {
            to.put("q", quality)?;
        }
        to.flag("progressive", self.output.progressive)
    }
}

/// Writes options, separated by commas.
struct Options<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    first: bool,
}

impl Options<'_, '_> {
    fn put(&mut self, name: &str, value: impl fmt::Display) -> fmt::Result {
        if !self.first {
            self.f.write_str(",")?;
        }
        self.first = false;
        write!(self.f, "{name}={value}")
    }

    fn flag(&mut self, name: &str, set: bool) -> fmt::Result {
        if set { self.put(name, "y") } else { Ok(()) }
    }

    fn length(&mut self, name: &str, length: Option<Length>) -> fmt::Result {
        match length {
            None => Ok(()),
            Some(Length::Px(px)) => self.put(name, px),
            Some(Length::Percent(percent)) => self.put(name, format_args!("{percent}p")),
        }
    }

    fn colour(&mut self, name: &str, colour: Colour) -> fmt::Result {
        let black = Colour {
            a: u8::MAX,
            ..Colour::CLEAR
        };
        if colour == black {
            return Ok(());
        }
        self.put(name, colour)
    }

    /// Writes an effect in the spelling of ImageMagick, whichever engine it was requested from.
    fn effect(&mut self, effect: &Effect) -> fmt::Result {
        match (effect.name.as_str(), effect.args.as_slice()) {
            ("border", [size, colour]) => {
                let (w, h) = size.split_once('x').unwrap_or((size, "0"));
                self.put("bw", w)?;
                self.put("bh", h)?;
                match colour.parse() {
                    Ok(colour) => self.colour("bc", colour),
                    Err(_) => Ok(()),
                }
            }
            (Effect::OVER, [name, x, y]) => {
                self.put("embedicon", name)?;
                self.put("ix", x)?;
                self.put("iy", y)
            }
            (name, [geometry, ..]) => self.put(name, geometry),
            (_, []) => Ok(()),
        }
    }
}
