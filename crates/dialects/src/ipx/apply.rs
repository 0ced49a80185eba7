//! Translates ipx's modifiers to sharp's options. Values that sharp refuses are refused with its messages.

use andon_recipe::Colour;

use super::options::Modifiers;
use super::value::Value;
use crate::colours;
use crate::effects::{number, rgb};
use crate::sharp::{self, Fit, Pipeline, Position, Upright, expected};

/// The sigma that approximates sharp's own mild blur and mild sharpening, which are 3 by 3 px.
const MILD: f64 = 0.8;

/// The default tolerance of `trim`.
const TOLERANCE: u8 = 10;

/// The result of all modifiers of a URL, and the values that later modifiers depend on.
#[derive(Debug, Default)]
pub(super) struct SharpOptions {
    /// sharp's options.
    pub(super) pipeline: Pipeline,
    /// The quality, if a modifier sets it.
    pub(super) quality: Option<Value>,
    effects: Effects,
    fit: Option<Value>,
    position: Option<Value>,
    background: Option<String>,
    kernel: Option<Value>,
    enlarges: bool,
}

/// Effects that modifiers have set.
#[derive(Debug, Default)]
struct Effects {
    gray: bool,
    threshold: Option<u32>,
    blur: Option<f64>,
    modulate: Option<String>,
    sharpen: Option<String>,
    gamma: Option<f64>,
    tint: Option<Colour>,
    negate: bool,
}

/// The values of a modifier, which are separated by `_`.
struct Args<'a>(&'a str);

impl Args<'_> {
    fn get(&self, index: usize) -> Value {
        let text = self.0.split('_').nth(index);
        text.map_or(Value::Nothing, Value::read)
    }

    fn first(&self) -> Value {
        self.get(0)
    }
}

type Outcome = Result<(), String>;

impl SharpOptions {
    /// Applies modifiers in the order in which they act.
    ///
    /// # Errors
    /// sharp's message about a value that it refuses.
    pub(super) fn of(modifiers: &Modifiers) -> Result<Self, String> {
        let mut options = Self::default();
        for modifier in modifiers.in_order() {
            options.apply(modifier.name, &Args(&modifier.value))?;
        }
        let (words, linear) = options.effects.words();
        options.pipeline.effects = words;
        options.pipeline.linear = linear;
        Ok(options)
    }

    fn apply(&mut self, name: &str, args: &Args<'_>) -> Outcome {
        match name {
            "q" | "quality" => self.quality = Some(args.first()),
            "fit" => self.fit = Some(args.first()),
            "pos" | "position" => self.position = Some(args.first()),
            "b" | "background" => self.background = Some(background(&args.first())),
            "kernel" => self.kernel = Some(args.first()),
            "enlarge" => self.enlarges = true,
            "w" | "width" => return self.side("width", args, |side| (side, None)),
            "h" | "height" => return self.side("height", args, |side| (None, side)),
            "s" | "resize" => return self.resize(args),
            "crop" | "extract" => return self.extract(args),
            "trim" => return self.trim(args),
            "extend" => return self.extend(args),
            "rotate" => return self.rotate(args),
            "flatten" => self.pipeline.ground = Some(self.ground()?.unwrap_or(Colour::BLACK)),
            "flip" => self.pipeline.flip = true,
            "flop" => self.pipeline.flop = true,
            "median" => return median(args),
            name => return self.effects.apply(name, args),
        }
        Ok(())
    }

    /// Returns the background colour, if a modifier sets one.
    ///
    /// # Errors
    /// sharp's message about a text that is not a colour.
    fn ground(&self) -> Result<Option<Colour>, String> {
        match self.background.as_deref() {
            None => Ok(None),
            Some("") => Err(expected("object or string", "background", "", "string")),
            Some(text) => sharp::colour(text).map(Some),
        }
    }

    /// Sets the side of the box that is called `name` (`width` or `height`) to the argument, and removes the other
    /// side. `sides` returns both sides for this value.
    ///
    /// # Errors
    /// sharp's message about a value that is not a positive whole number.
    fn side(
        &mut self,
        name: &str,
        args: &Args<'_>,
        sides: impl Fn(Option<u32>) -> (Option<u32>, Option<u32>),
    ) -> Outcome {
        let side = match args.first() {
            Value::Nothing => None,
            value => Some(positive(name, &value)?),
        };
        let resize = &mut self.pipeline.resize;
        (resize.width, resize.height) = sides(side);
        (resize.enlarge, resize.clamp) = (self.enlarges, false);
        self.turn_first();
        Ok(())
    }

    fn resize(&mut self, args: &Args<'_>) -> Outcome {
        let text = args.first().to_string();
        let mut sides = text.split('x').map(js_number);
        let mut next = || sides.next().filter(|side| *side != 0.0 && !side.is_nan());
        let Some(width) = next() else {
            return Ok(());
        };
        let height = next().unwrap_or(width);
        let width = positive("width", &Value::Number(width))?;
        let height = positive("height", &Value::Number(height))?;
        let background = self.ground()?;
        let resize = &mut self.pipeline.resize;
        (resize.width, resize.height) = (Some(width), Some(height));
        resize.clamp = !self.enlarges;
        match self.fit.clone().unwrap_or(Value::Nothing) {
            Value::Nothing => {}
            value => {
                let fit = Fit::named(&value.to_string());
                let message = || expected("valid fit", "fit", &value.to_string(), value.kind());
                resize.fit = fit.ok_or_else(message)?;
            }
        }
        match self.position.clone().unwrap_or(Value::Nothing) {
            Value::Nothing => {}
            value => resize.position = position(&value)?,
        }
        resize.padding_colour = background.unwrap_or(Colour::BLACK);
        self.check_kernel()?;
        self.turn_first();
        Ok(())
    }

    fn check_kernel(&self) -> Outcome {
        let takes = super::options::OPTIONS.named("kernel").map(|row| row.takes);
        match self.kernel.as_ref().zip(takes) {
            None | Some((Value::Nothing, _)) => Ok(()),
            Some((value, takes)) if takes.accepts(&value.to_string()) => Ok(()),
            Some((value, _)) => {
                let (text, kind) = (value.to_string(), value.kind());
                Err(expected("valid kernel name", "kernel", &text, kind))
            }
        }
    }

    /// If the image is already to be rotated, makes the rotation precede scaling, as in sharp if the size is set after
    /// the rotation.
    fn turn_first(&mut self) {
        self.pipeline.turns_first |= self.pipeline.degrees % 360.0 != 0.0;
    }

    fn extract(&mut self, args: &Args<'_>) -> Outcome {
        let mut part = [0; 4];
        for (index, name) in ["left", "top", "width", "height"].into_iter().enumerate() {
            let value = args.get(index);
            let message = || expected("integer", name, &value.to_string(), value.kind());
            part[index] = value.whole(0.0).ok_or_else(message)?;
        }
        match self.pipeline.part {
            None => self.pipeline.part = Some(part),
            Some(_) => self.pipeline.later_part = Some(part),
        }
        Ok(())
    }

    fn trim(&mut self, args: &Args<'_>) -> Outcome {
        let value = args.first();
        let is_bare = value == Value::Nothing || args.0.is_empty();
        self.pipeline.trim = Some(match value.number() {
            _ if is_bare => TOLERANCE,
            // `as` saturates: colours differ by 255 levels at most.
            Some(levels) if levels >= 0.0 => levels as u8,
            _ => return Err(error("positive number", "threshold", &value)),
        });
        self.turn_first();
        Ok(())
    }

    fn extend(&mut self, args: &Args<'_>) -> Outcome {
        let mut margins = [0; 4];
        for (index, name) in [(0, "top"), (2, "bottom"), (3, "left"), (1, "right")] {
            margins[index] = match args.get(index) {
                Value::Nothing => 0,
                value => value
                    .whole(0.0)
                    .ok_or_else(|| error("positive integer", name, &value))?,
            };
        }
        let colour = self.ground()?.unwrap_or(Colour::BLACK);
        self.pipeline.margins = (margins != [0; 4]).then_some((margins, colour));
        Ok(())
    }

    fn rotate(&mut self, args: &Args<'_>) -> Outcome {
        let value = args.first();
        match value.number().filter(|degrees| degrees.is_finite()) {
            Some(degrees) => {
                self.pipeline.degrees = degrees % 360.0;
                if degrees % 90.0 != 0.0 {
                    self.pipeline.corners = self.ground()?;
                }
            }
            None if value == Value::Nothing => self.pipeline.upright = Some(Upright::AfterPart),
            None => return Err(error("numeric", "angle", &value)),
        }
        Ok(())
    }
}

impl Effects {
    fn apply(&mut self, name: &str, args: &Args<'_>) -> Outcome {
        match name {
            "grayscale" => self.gray = true,
            "negate" => self.negate = true,
            "blur" => return self.blur(&args.first()),
            "sharpen" => return self.sharpen(args),
            "gamma" => return self.gamma(args),
            "threshold" => return self.threshold(&args.first()),
            "modulate" => return self.modulate(args),
            "tint" => {
                self.tint = match args.first() {
                    Value::Nothing => None,
                    Value::Text(text) if !text.is_empty() => Some(sharp::colour(&text)?),
                    value => return Err(error("object or string", "background", &value)),
                };
            }
            // Other modifiers do not change pixels: `format`, `animated`, `normalize`.
            _ => {}
        }
        Ok(())
    }

    fn blur(&mut self, value: &Value) -> Outcome {
        self.blur = match value {
            Value::Nothing | Value::Bool(true) => Some(MILD),
            Value::Bool(false) => None,
            value => {
                let sigma = value
                    .number()
                    .filter(|sigma| (0.3..=1000.0).contains(sigma));
                let value_in_message = match value {
                    Value::Number(_) => value,
                    _ => &Value::Nothing,
                };
                let what = "number between 0.3 and 1000";
                Some(sigma.ok_or_else(|| error(what, "sigma", value_in_message))?)
            }
        };
        Ok(())
    }

    fn sharpen(&mut self, args: &Args<'_>) -> Outcome {
        let within = |value: &Value, least: f64, most: f64| {
            value
                .number()
                .filter(|number| (least..=most).contains(number))
        };
        self.sharpen = match args.first() {
            Value::Nothing | Value::Bool(true) => Some(format!("sharpen-l:{MILD}")),
            Value::Bool(false) => None,
            value => {
                let what = "number between 0.01 and 10000";
                let sigma = within(&value, 0.01, 10_000.0);
                let sigma = sigma.ok_or_else(|| error(what, "sigma", &value))?;
                let strength = |index, name, default| match args.get(index) {
                    Value::Nothing => Ok(default),
                    value => within(&value, 0.0, 10_000.0)
                        .ok_or_else(|| error("number between 0 and 10000", name, &value)),
                };
                let (flat, jagged) = (strength(1, "flat", 1.0)?, strength(2, "jagged", 2.0)?);
                // libvips does not sharpen with a sigma above 10.
                let sigma = number(sigma.min(10.0));
                Some(format!(
                    "sharpen-l:{sigma}:{}:{}",
                    number(flat),
                    number(jagged)
                ))
            }
        };
        Ok(())
    }

    fn gamma(&mut self, args: &Args<'_>) -> Outcome {
        let within = |index, name, default: f64| match args.get(index) {
            Value::Nothing => Ok(default),
            value => {
                let gamma = value.number().filter(|gamma| (1.0..=3.0).contains(gamma));
                gamma.ok_or_else(|| error("number between 1.0 and 3.0", name, &value))
            }
        };
        let input_gamma = within(0, "gamma", 2.2)?;
        let output_gamma = within(1, "gammaOut", input_gamma)?;
        self.gamma = Some(input_gamma / output_gamma);
        Ok(())
    }

    fn threshold(&mut self, value: &Value) -> Outcome {
        self.threshold = match value {
            Value::Nothing | Value::Bool(true) => Some(128),
            Value::Bool(false) => None,
            value => {
                let levels = value.whole(0.0).filter(|levels| *levels <= 255);
                let what = "integer between 0 and 255";
                let levels = levels.ok_or_else(|| error(what, "threshold", value))?;
                Some(levels).filter(|levels| *levels > 0)
            }
        };
        Ok(())
    }

    fn modulate(&mut self, args: &Args<'_>) -> Outcome {
        let factor = |index, name| match args.get(index) {
            Value::Nothing if index > 0 => Ok(1.0),
            value => {
                let factor = value
                    .number()
                    .filter(|factor| *factor >= 0.0 && factor.is_finite());
                factor.ok_or_else(|| error("number above zero", name, &value))
            }
        };
        let (brightness, saturation) = (factor(0, "brightness")?, factor(1, "saturation")?);
        let hue = match args.get(2) {
            Value::Nothing => 0.0,
            value => value
                .number()
                .filter(|hue| hue.is_finite())
                .ok_or_else(|| error("number", "hue", &value))?,
        };
        let hue = number(hue.rem_euclid(360.0).round() % 360.0);
        let word = format!(
            "modulate:{}:{}:{hue}",
            number(brightness),
            number(saturation)
        );
        self.modulate = (word != "modulate:1:1:0").then_some(word);
        Ok(())
    }

    /// Returns the effects as words of a recipe, in sharp's order, and whether the image is scaled in linear light.
    fn words(&self) -> (Vec<String>, bool) {
        let mut words = Vec::new();
        words.extend(self.gray.then(|| "gray:light".to_owned()));
        if let Some(levels) = self.threshold {
            words.extend((!self.gray).then(|| "gray:light".to_owned()));
            let shift = 128 - i64::from(levels);
            words.extend((shift != 0).then(|| format!("brightness:{shift}")));
            words.push("bitonal".to_owned());
        }
        words.extend(self.blur.map(|sigma| format!("blur:0x{}", number(sigma))));
        words.extend(self.modulate.clone());
        words.extend(self.sharpen.clone());
        let gamma = self.gamma.map(number).filter(|ratio| ratio != "1");
        words.extend(gamma.map(|ratio| format!("gamma:{ratio}")));
        words.extend(self.tint.map(|colour| format!("tint:{}", rgb(colour))));
        words.extend(self.negate.then(|| "invert".to_owned()));
        (words, self.gamma.is_some())
    }
}

fn error(what: &str, name: &str, value: &Value) -> String {
    expected(what, name, &value.to_string(), value.kind())
}

fn positive(name: &str, value: &Value) -> Result<u32, String> {
    let side = value.whole(1.0);
    side.ok_or_else(|| error("positive integer", name, value))
}

/// Validates the size of a median filter, which is not applied.
fn median(args: &Args<'_>) -> Outcome {
    match args.first() {
        Value::Nothing => Ok(()),
        value => {
            let size = value.whole(1.0).filter(|size| *size <= 1000);
            let what = "integer between 1 and 1000";
            size.map(|_| ()).ok_or_else(|| error(what, "size", &value))
        }
    }
}

fn position(value: &Value) -> Result<Position, String> {
    let number = value.number();
    match (value, number.and_then(Position::numbered)) {
        (_, Some(position)) => Ok(position),
        (Value::Text(text), None) => Position::named(text),
        (value, None) => Err(Position::error(&value.to_string(), value.kind())),
    }
}

/// Returns a background as a CSS colour. Hexadecimal digits may lack the `#`.
fn background(value: &Value) -> String {
    let text = value.to_string();
    let is_hex = [3, 6].contains(&text.len()) && colours::channels(&text).is_some();
    if is_hex { format!("#{text}") } else { text }
}

/// Parses a decimal number as JavaScript's `Number` does: an empty text is 0, and a text that is not a number is NaN.
fn js_number(text: &str) -> f64 {
    let text = text.trim();
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        text if plain => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}
