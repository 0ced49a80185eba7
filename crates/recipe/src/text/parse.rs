//! From a text to a recipe: stages in any order, each at most once, effects as often as they stand.

use std::str::FromStr;

use super::number::whole;
use super::{ParseError, SAME, escape};
use crate::{
    Canvas, Chroma, Colour, Effect, Fit, Flatten, FormatName, Length, Original, Recipe, Region,
    Size, Turn,
};

impl FromStr for Recipe {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == SAME {
            return Ok(Self::default());
        }
        let mut reader = Reader::default();
        for piece in text.split(',') {
            reader.stage(piece)?;
        }
        Ok(reader.recipe)
    }
}

#[derive(Default)]
struct Reader {
    recipe: Recipe,
    seen: Vec<&'static str>,
}

impl Reader {
    fn stage(&mut self, piece: &str) -> Result<(), ParseError> {
        let (word, args) = match piece.split_once(':') {
            Some((word, args)) => (word, Some(args)),
            None => (piece, None),
        };
        let args = Args { piece, args };
        let recipe = &mut self.recipe;
        let slot = match word {
            "" => {
                return Err(ParseError::new(
                    piece,
                    "a stage such as `fit:250x250`; the text that changes nothing is `same`",
                ));
            }
            SAME => {
                return Err(ParseError::new(
                    piece,
                    "`same` to stand alone, without other stages",
                ));
            }
            "original" => {
                recipe.original = match args.args {
                    None => Original::Always,
                    Some("smaller") => Original::IfSmaller,
                    Some("larger") => Original::IfLarger,
                    Some(_) => {
                        return Err(
                            args.expected("`original`, `original:smaller` or `original:larger`")
                        );
                    }
                };
                "original"
            }
            "hint" => {
                recipe.hint = Some(args.pixels("`hint:WIDTHxHEIGHT`")?);
                "hint"
            }
            "strip" => {
                recipe.strip = args.none()?;
                "strip"
            }
            "orient" => {
                recipe.orient = args.none()?;
                "orient"
            }
            "turn" => {
                recipe.turn = match args.args {
                    Some("90") => Turn::R90,
                    Some("180") => Turn::R180,
                    Some("270") => Turn::R270,
                    _ => return Err(args.expected("`turn:90`, `turn:180` or `turn:270`")),
                };
                "turn"
            }
            "crop" => {
                recipe.region = args.region()?;
                "crop"
            }
            "fit" | "cover" | "exact" => {
                recipe.size = Size {
                    enlarge: recipe.size.enlarge,
                    ..args.size(word)?
                };
                "fit, cover or exact"
            }
            "enlarge" => {
                recipe.size.enlarge = args.none()?;
                "enlarge"
            }
            "canvas" => {
                recipe.canvas = Some(args.canvas()?);
                "canvas"
            }
            "flatten" => {
                recipe.flatten = args.flatten()?;
                "flatten"
            }
            "srgb" => {
                recipe.srgb = args.none()?;
                "srgb"
            }
            "as" => {
                recipe.output.format = Some(FormatName::new(args.one("`as:FORMAT`")?)?);
                "as"
            }
            "q" => {
                let quality = whole(args.one("`q:QUALITY`")?, 1..=1000, "a quality")?;
                recipe.output.quality = u16::try_from(quality).ok();
                "q"
            }
            "progressive" => {
                recipe.output.progressive = args.none()?;
                "progressive"
            }
            "chroma" => {
                recipe.output.chroma = Some(match args.args {
                    Some("444") => Chroma::C444,
                    Some("422") => Chroma::C422,
                    Some("420") => Chroma::C420,
                    Some("440") => Chroma::C440,
                    Some("411") => Chroma::C411,
                    _ => return Err(args.expected("`chroma:` and 444, 422, 420, 440 or 411")),
                });
                "chroma"
            }
            "frame" => {
                let frame = whole(
                    args.one("`frame:NUMBER`")?,
                    1..=1_000_000,
                    "a frame's number",
                )?;
                recipe.output.frame = Some(frame);
                "frame"
            }
            "effort" => {
                let effort = whole(args.one("`effort:NUMBER`")?, 0..=9, "an effort")?;
                recipe.output.effort = u8::try_from(effort).ok();
                "effort"
            }
            _ => {
                recipe.effects.push(args.effect(word)?);
                return Ok(());
            }
        };
        if self.seen.contains(&slot) {
            return Err(args.expected(&format!("{slot} at most once")));
        }
        self.seen.push(slot);
        Ok(())
    }
}

/// What follows a stage's word.
struct Args<'a> {
    /// The whole stage, for errors.
    piece: &'a str,
    /// Everything after the first colon.
    args: Option<&'a str>,
}

impl<'a> Args<'a> {
    fn expected(&self, expected: &str) -> ParseError {
        ParseError::new(self.piece, expected)
    }

    /// No argument may follow; the answer is that the stage is set.
    fn none(&self) -> Result<bool, ParseError> {
        match self.args {
            None => Ok(true),
            Some(_) => Err(self.expected("this word without arguments")),
        }
    }

    fn one(&self, form: &str) -> Result<&'a str, ParseError> {
        self.args.ok_or_else(|| self.expected(form))
    }

    fn pixels(&self, form: &str) -> Result<(u32, u32), ParseError> {
        let (w, h) = self
            .args
            .and_then(|args| args.split_once('x'))
            .ok_or_else(|| self.expected(form))?;
        pixels(w, h)
    }

    fn region(&self) -> Result<Region, ParseError> {
        let form = "`crop:X:Y:WIDTHxHEIGHT` with `_` for what is not given, at least one given";
        let parts: Vec<&str> = self.args.unwrap_or_default().splitn(4, ':').collect();
        let [x, y, size] = parts[..] else {
            return Err(self.expected(form));
        };
        let (w, h) = size.split_once('x').ok_or_else(|| self.expected(form))?;
        let region = Region {
            x: part(x, "_")?,
            y: part(y, "_")?,
            w: part(w, "_")?,
            h: part(h, "_")?,
        };
        if region == Region::default() {
            return Err(self.expected(form));
        }
        Ok(region)
    }

    fn size(&self, word: &str) -> Result<Size, ParseError> {
        let form = format!("`{word}:WIDTHxHEIGHT` with at least one side");
        let (w, h) = self
            .args
            .and_then(|args| args.split_once('x'))
            .ok_or_else(|| self.expected(&form))?;
        let (w, h) = (part(w, "")?, part(h, "")?);
        let fit = match (w, h, word) {
            (None, None, _) => return Err(self.expected(&form)),
            (Some(_), Some(_), "cover") => Fit::Cover,
            (Some(_), Some(_), "exact") => Fit::Exact,
            _ => Fit::Inside,
        };
        Ok(Size {
            w,
            h,
            fit,
            enlarge: false,
        })
    }

    fn canvas(&self) -> Result<Canvas, ParseError> {
        let form = "`canvas:WIDTHxHEIGHT:RRGGBB`, with `:X:Y` when it is not centred";
        let parts: Vec<&str> = self.args.unwrap_or_default().splitn(5, ':').collect();
        let (size, colour, x, y) = match parts[..] {
            [size, colour] => (size, colour, "_", "_"),
            [size, colour, x, y] => (size, colour, x, y),
            _ => return Err(self.expected(form)),
        };
        let (w, h) = size.split_once('x').ok_or_else(|| self.expected(form))?;
        let (w, h) = pixels(w, h)?;
        Ok(Canvas {
            w,
            h,
            x: part(x, "_")?,
            y: part(y, "_")?,
            colour: colour.parse()?,
        })
    }

    fn flatten(&self) -> Result<Flatten, ParseError> {
        match self.one("`flatten:RRGGBB` or `flatten:none`")? {
            "none" => Ok(Flatten::Drop),
            colour => Ok(Flatten::Over(Colour {
                a: 255,
                ..colour.parse()?
            })),
        }
    }

    fn effect(&self, word: &str) -> Result<Effect, ParseError> {
        let args = match self.args {
            None => Vec::new(),
            Some(args) => args
                .split(':')
                .map(escape::read)
                .collect::<Result<_, _>>()?,
        };
        Effect::new(word, args)
    }
}

fn pixels(w: &str, h: &str) -> Result<(u32, u32), ParseError> {
    let side = |text| whole(text, 1..=Length::MAX_PX as u32, "whole pixels");
    Ok((side(w)?, side(h)?))
}

/// A length, or `None` where `absent` stands.
fn part(text: &str, absent: &str) -> Result<Option<Length>, ParseError> {
    if text == absent {
        Ok(None)
    } else {
        text.parse().map(Some)
    }
}
