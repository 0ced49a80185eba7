//! Parses a text into a recipe.

use std::str::FromStr;

use super::{ParseError, escape};
use crate::args::Word;
use crate::step::{Bounds, Canvas, Crop, Effect, Flip, Gravity, Length, Pad, Step, Turn};
use crate::words::{self, GRAVITIES};
use crate::{
    Background, Chroma, Colour, FormatName, Goal, Kept, Profile, Recipe, StoredTurn, options,
};

impl FromStr for Recipe {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == words::SAME.name {
            return Ok(Self::default());
        }
        let mut reader = Reader::default();
        for piece in text.split(',') {
            reader.piece(piece)?;
        }
        let recipe = reader.recipe;
        if recipe.is_original() && recipe != Self::original() {
            return Err(ParseError::new(
                words::ORIGINAL.name,
                "`original` to stand alone, without other steps",
            ));
        }
        if recipe.output.lossless && recipe.output.goal.is_some() {
            return Err(ParseError::new(
                options::LOSSLESS.name,
                "`lossless` without `q`, `max` and `score`",
            ));
        }
        if recipe.output.stored_turn != StoredTurn::Applied && recipe.steps.contains(&Step::Orient)
        {
            return Err(ParseError::new(
                words::ORIENT.name,
                "`orient` or `stored`, not both",
            ));
        }
        Ok(recipe)
    }
}

#[derive(Default)]
struct Reader {
    recipe: Recipe,
    /// Words read so far that may occur only once.
    seen: Vec<&'static str>,
}

impl Reader {
    fn piece(&mut self, piece: &str) -> Result<(), ParseError> {
        let mut parts = piece.split(':');
        let word = parts.next().unwrap_or_default();
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        if word.is_empty() {
            return Err(ParseError::new(
                piece,
                "a step such as `fit:250x250`; the text that changes nothing is `same`",
            ));
        }
        if self.output(word, &parts)? {
            return Ok(());
        }
        let step = step(piece, word, &parts)?;
        if let Some(word) = at_most_once(&step) {
            self.once(word, piece)?;
        }
        if self.recipe.steps.len() == Recipe::MOST_STEPS {
            return Err(ParseError::new(
                piece,
                format!("at most {} steps", Recipe::MOST_STEPS),
            ));
        }
        self.recipe.steps.push(step);
        Ok(())
    }

    /// Reads a word that sets part of the output. Returns `false` if it is no such word.
    fn output(&mut self, word: &str, parts: &[String]) -> Result<bool, ParseError> {
        let output = &mut self.recipe.output;
        let read = match word {
            "as" => {
                let [name] = words::AS.read(parts)?;
                output.format = Some(FormatName::new(name.unwrap_or_default())?);
                &words::AS
            }
            "moving" => {
                let [name] = words::MOVING.read(parts)?;
                output.moving = Some(FormatName::new(name.unwrap_or_default())?);
                &words::MOVING
            }
            "stored" => {
                let [turn] = words::STORED.read(parts)?;
                let turn = turn.unwrap_or(words::STORED_TURNS[0]);
                output.stored_turn = among(&StoredTurn::SAID, words::STORED_TURNS, Some(turn));
                &words::STORED
            }
            "background" => {
                let [colour] = words::BACKGROUND.read(parts)?;
                output.background = match colour.unwrap_or_default() {
                    "none" => Background::Dropped,
                    colour => Background::Colour(Colour {
                        a: u8::MAX,
                        ..colour.parse()?
                    }),
                };
                &words::BACKGROUND
            }
            "profile" => {
                let [space] = words::PROFILE.read(parts)?;
                output.profile = among(&Profile::SAID, words::PROFILES, space);
                &words::PROFILE
            }
            "metadata" => {
                let [kept] = words::METADATA.read(parts)?;
                output.metadata = among(&Kept::SAID, words::METADATA_KEPT, kept);
                &words::METADATA
            }
            "gainmap" => {
                let [choice] = words::GAIN_MAP.read(parts)?;
                output.drops_gain_map = choice == Some(words::DROP);
                &words::GAIN_MAP
            }
            "linear" => {
                let [] = words::LINEAR.read(parts)?;
                output.linear = true;
                &words::LINEAR
            }
            "q" if parts == [AUTO] => {
                self.goal(word, Goal::Score(AUTO_SCORE))?;
                &options::SCORE
            }
            "q" => {
                let quality = whole(&options::QUALITY, parts)?;
                self.goal(
                    word,
                    Goal::Quality(u8::try_from(quality).unwrap_or(u8::MAX)),
                )?;
                &options::QUALITY
            }
            "max" => {
                let [bytes, beyond] = options::MAX.read(parts)?;
                let bytes = options::MAX.args[0].read_whole(bytes.unwrap_or_default())?;
                let bytes = bytes.unsigned_abs();
                let goal = match beyond {
                    Some(options::SHORTEST) => Goal::BytesOrShortest(bytes),
                    _ => Goal::Bytes(bytes),
                };
                self.goal(word, goal)?;
                &options::MAX
            }
            "score" => {
                let score = whole(&options::SCORE, parts)?;
                self.goal(word, Goal::Score(u8::try_from(score).unwrap_or(u8::MAX)))?;
                &options::SCORE
            }
            "lossless" => {
                let [] = options::LOSSLESS.read(parts)?;
                output.lossless = true;
                &options::LOSSLESS
            }
            "depth" => {
                let [bits] = options::DEPTH.read(parts)?;
                output.depth = bits.and_then(|bits| bits.parse().ok());
                &options::DEPTH
            }
            "progressive" => {
                let [] = options::PROGRESSIVE.read(parts)?;
                output.progressive = true;
                &options::PROGRESSIVE
            }
            "chroma" => {
                let [chroma] = options::CHROMA.read(parts)?;
                output.chroma = match chroma {
                    Some("444") => Some(Chroma::C444),
                    Some("422") => Some(Chroma::C422),
                    Some("420") => Some(Chroma::C420),
                    Some("440") => Some(Chroma::C440),
                    _ => Some(Chroma::C411),
                };
                &options::CHROMA
            }
            "effort" => {
                output.effort = u8::try_from(whole(&options::EFFORT, parts)?).ok();
                &options::EFFORT
            }
            "with" => {
                self.with(parts)?;
                return Ok(true);
            }
            "frame" => {
                output.frame = u32::try_from(whole(&words::FRAME, parts)?).ok();
                &words::FRAME
            }
            "frames" => {
                output.most_frames = u32::try_from(whole(&words::FRAMES, parts)?).ok();
                &words::FRAMES
            }
            _ => return Ok(false),
        };
        self.once(read.name, word)?;
        Ok(true)
    }

    /// Sets what the encoder aims at. An encoder has one goal, so a second one is an error.
    fn goal(&mut self, piece: &str, goal: Goal) -> Result<(), ParseError> {
        match self.recipe.output.goal.replace(goal) {
            Some(_) => Err(ParseError::new(
                piece,
                "one of `q`, `max` and `score`, once",
            )),
            None => Ok(()),
        }
    }

    /// Reads an option of the format's own, as in `with:level:6`.
    fn with(&mut self, parts: &[String]) -> Result<(), ParseError> {
        let [name, value] = words::WITH.read(parts)?;
        let (name, value) = (name.unwrap_or_default(), value.unwrap_or_default());
        if name.is_empty() || ![name, value].into_iter().all(is_plain) {
            return Err(words::WITH.form(parts));
        }
        if words::is_taken(name) {
            return Err(ParseError::new(
                name,
                format!("an option of the format's own: `{name}` is a word by itself"),
            ));
        }
        let options = &mut self.recipe.output.options;
        match options.insert(name.to_owned(), value.to_owned()) {
            Some(_) => Err(ParseError::new(name, format!("`with:{name}` at most once"))),
            None => Ok(()),
        }
    }

    fn once(&mut self, word: &'static str, piece: &str) -> Result<(), ParseError> {
        if self.seen.contains(&word) {
            return Err(ParseError::new(piece, format!("`{word}` at most once")));
        }
        self.seen.push(word);
        Ok(())
    }
}

/// Whether a text consists only of lower-case letters, digits, `-`, `_` and `.`, none of which has to be escaped.
fn is_plain(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    text.bytes().all(plain)
}

/// Returns the word of a step whose place does not matter, so that repeating it is a mistake; `None` for other steps.
fn at_most_once(step: &Step) -> Option<&'static str> {
    match step {
        Step::Original => Some(words::ORIGINAL.name),
        _ => None,
    }
}

fn step(piece: &str, word: &str, parts: &[String]) -> Result<Step, ParseError> {
    Ok(match word {
        "same" => {
            return Err(ParseError::new(
                piece,
                "`same` to stand alone, without other steps",
            ));
        }
        "original" => bare(&words::ORIGINAL, parts, Step::Original)?,
        "orient" => bare(&words::ORIENT, parts, Step::Orient)?,
        "shrink" => Step::Shrink(u8::try_from(whole(&words::SHRINK, parts)?).unwrap_or(8)),
        "turn" => {
            let [angle] = words::TURN.read(parts)?;
            let turn = words::at(&Turn::ALL, words::TURNS, angle.unwrap_or_default());
            Step::Turn(turn.ok_or_else(|| words::TURN.form(parts))?)
        }
        "flip" => {
            let [direction] = words::FLIP.read(parts)?;
            let flip = words::at(&Flip::ALL, words::FLIPS, direction.unwrap_or_default());
            Step::Flip(flip.ok_or_else(|| words::FLIP.form(parts))?)
        }
        "rotate" => {
            let [degrees, colour] = words::ROTATE.read(parts)?;
            Step::Rotate {
                degrees: number(&words::ROTATE, degrees)?,
                colour: colour_of(colour)?,
            }
        }
        "trim" => {
            let [tolerance] = words::TRIM.read(parts)?;
            let tolerance = words::TRIM.args[0].read_whole(tolerance.unwrap_or(TRIMMED))?;
            Step::Trim(u8::try_from(tolerance).unwrap_or(u8::MAX))
        }
        "crop" => Step::Crop(crop(parts)?),
        "fit" => {
            let [w, h, enlarge] = words::FIT.read(parts)?;
            let inside = match (side(w)?, side(h)?) {
                (Some(w), Some(h)) => Bounds::Both(w, h),
                (Some(w), None) => Bounds::Width(w),
                (None, Some(h)) => Bounds::Height(h),
                (None, None) => {
                    return Err(ParseError::new(
                        piece,
                        "`fit:WIDTHxHEIGHT` with at least one side",
                    ));
                }
            };
            Step::Fit {
                inside,
                enlarge: enlarge.is_some(),
            }
        }
        "cover" => {
            let [w, h, gravity, enlarge] = words::COVER.read(parts)?;
            Step::Cover {
                w: length(w)?,
                h: length(h)?,
                gravity: gravity_of(gravity),
                enlarge: enlarge.is_some(),
            }
        }
        "exact" => {
            let [w, h] = words::EXACT.read(parts)?;
            Step::Exact {
                w: length(w)?,
                h: length(h)?,
            }
        }
        "focus" if parts == [words::SMART] => Step::Salient,
        "focus" if parts == [words::FACES] => Step::Faces,
        "focus" => {
            let [x, y] = words::FOCUS.read(parts)?;
            Step::Focus {
                x: length(x)?,
                y: length(y)?,
            }
        }
        "blur-faces" => {
            let [sigma] = words::BLUR_FACES.read(parts)?;
            let sigma = sigma.map(|sigma| words::BLUR_FACES.args[0].read_number(sigma));
            Step::BlurFaces(sigma.transpose()?)
        }
        "pad" => {
            let [top, right, bottom, left, colour] = words::PAD.read(parts)?;
            Step::Pad(Pad {
                top: px(top)?,
                right: px(right)?,
                bottom: px(bottom)?,
                left: px(left)?,
                colour: colour_of(colour)?,
            })
        }
        "canvas" => {
            let [w, h, colour, x, y] = words::CANVAS.read(parts)?;
            let at = match (x, y) {
                (None, None) => None,
                (Some(x), Some(y)) => Some((place(x)?, place(y)?)),
                _ => return Err(words::CANVAS.form(parts)),
            };
            Step::Canvas(Canvas {
                w: px(w)?,
                h: px(h)?,
                colour: colour_of(colour)?,
                at,
            })
        }
        "flatten" => {
            let [colour] = words::FLATTEN.read(parts)?;
            let colour = colour_of(colour)?;
            if colour.a < u8::MAX {
                return Err(ParseError::new(
                    piece,
                    "an opaque colour, as in `flatten:ffffff`",
                ));
            }
            Step::Flatten(colour)
        }
        "dpr" => {
            let [ratio] = words::DPR.read(parts)?;
            Step::Dpr(number(&words::DPR, ratio)?)
        }
        _ => {
            // Only effects take texts in which anything may stand.
            let args = parts.iter().map(|part| escape::read(part));
            Step::Effect(Effect::new(word, args.collect::<Result<_, _>>()?)?)
        }
    })
}

/// Reads a crop in either of its forms: a rectangle, or a size with a gravity.
fn crop(parts: &[String]) -> Result<Crop, ParseError> {
    if parts.len() < 3 {
        let [w, h, gravity] = words::CROP_TOWARDS.read(parts)?;
        return Ok(Crop::Towards {
            w: length(w)?,
            h: length(h)?,
            gravity: gravity_of(gravity),
        });
    }
    let [x, y, w, h] = words::CROP.read(parts)?;
    Ok(Crop::At {
        x: length(x)?,
        y: length(y)?,
        w: length(w)?,
        h: length(h)?,
    })
}

/// Parses a length from the text of an argument that its declaration has checked already, so an error here only repeats
/// what that check would report.
fn length(text: Option<&str>) -> Result<Length, ParseError> {
    text.unwrap_or_default().parse()
}

fn side(text: Option<&str>) -> Result<Option<Length>, ParseError> {
    let text = text.filter(|text| !text.is_empty());
    text.map(str::parse).transpose()
}

fn among<T: Copy + Default>(values: &[T], words: &[&str], text: Option<&str>) -> T {
    text.and_then(|text| words::at(values, words, text))
        .unwrap_or_default()
}

fn gravity_of(text: Option<&str>) -> Gravity {
    among(&Gravity::ALL, GRAVITIES, text)
}

fn colour_of(text: Option<&str>) -> Result<Colour, ParseError> {
    text.map_or(Ok(Colour::CLEAR), str::parse)
}

fn px(text: Option<&str>) -> Result<u32, ParseError> {
    let text = text.unwrap_or_default();
    text.parse()
        .map_err(|_| ParseError::new(text, "whole pixels"))
}

fn place(text: &str) -> Result<i32, ParseError> {
    text.parse()
        .map_err(|_| ParseError::new(text, "whole pixels"))
}

fn number(word: &Word, text: Option<&str>) -> Result<f64, ParseError> {
    word.args[0].read_number(text.unwrap_or_default())
}

/// Reads the only argument of a word, a whole number.
fn whole(word: &Word, parts: &[String]) -> Result<i64, ParseError> {
    let [text] = word.read(parts)?;
    word.args[0].read_whole(text.unwrap_or_default())
}

fn bare(word: &Word, parts: &[String], step: Step) -> Result<Step, ParseError> {
    let [] = word.read(parts)?;
    Ok(step)
}

/// Tolerance of a bare `trim`: the default in its declaration.
const TRIMMED: &str = match words::TRIM.args[0].default {
    Some(text) => text,
    None => "0",
};
/// Argument of `q:auto`, which asks for an image that is good enough for a web page.
const AUTO: &str = "auto";
const AUTO_SCORE: u8 = 75;
