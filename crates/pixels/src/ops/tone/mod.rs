//! Tone and colour: effects that change each pixel by itself. Each effect has its own file, with the declaration of its
//! word in recipes and a function that returns its [`Map`]. This module applies maps to frames of any model.
//!
//! Sample values are used as they are in the frame, whatever its colour space. Opacity stays unchanged. Luma is that of
//! Rec. 601, as in gray images.

mod bitonal;
mod brightness;
mod colorize;
mod contrast;
mod duotone;
mod gamma;
mod gray;
mod hue;
mod invert;
mod modulate;
mod rgb;
mod saturation;
mod sepia;
mod tint;

pub(super) use self::{
    bitonal::BITONAL, brightness::BRIGHTNESS, colorize::COLORIZE, contrast::CONTRAST,
    duotone::DUOTONE, gamma::GAMMA, gray::GRAY, hue::HUE, invert::INVERT, modulate::MODULATE,
    rgb::RGB, saturation::SATURATION, sepia::SEPIA, tint::TINT,
};

use std::fmt;

use andon_kernels::cpu::with_modern_instructions;
use andon_recipe::{Effect, ParseError, Word};

use crate::color::remodelled;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Model, Traits};
use crate::samples::{Planes, Sample, by_depth, bytes};
use crate::space::Matrix as Mixing;
use crate::stage::{Context, Op, Stage, wrong};

/// An effect that changes each pixel by itself.
pub(super) struct Tone {
    word: &'static Word,
    /// Returns the map for the effect's arguments; `None` if they change nothing.
    map: fn(&Args<'_>) -> Result<Option<Map>, ParseError>,
}

/// A mapping of red, green and blue in 0..=1. Results are clamped to that range.
enum Map {
    /// Maps each component by the same curve.
    Curve(Box<dyn Fn(f64) -> f64 + Send + Sync>),
    /// Each component becomes a weighted sum of all three, plus an offset.
    Affine(Affine),
    /// Keeps luma, and multiplies the differences of the components from luma by this factor in 0..=1.
    Chroma(f32),
    /// Makes pixels black where luma is below this value, and white elsewhere.
    Threshold(f32),
    /// Applies any other function to each pixel.
    Pixel {
        /// Whether the map may turn gray into a colour.
        colours: bool,
        map: Box<dyn Fn([f32; 3]) -> [f32; 3] + Send + Sync>,
    },
}

/// For each of red, green and blue in the result: the factors of red, green and blue in the input, and an offset as a
/// share of full scale.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Affine([[f32; 4]; 3]);

/// The weights of red, green and blue in luma, by Rec. 601.
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

impl Affine {
    const IDENTITY: Self = Self::scaled(1.0, [0.0; 3]);

    /// Multiplies each component by `factor` and adds a share of full scale to it.
    const fn scaled(factor: f32, plus: [f32; 3]) -> Self {
        let [r, g, b] = plus;
        Self([
            [factor, 0.0, 0.0, r],
            [0.0, factor, 0.0, g],
            [0.0, 0.0, factor, b],
        ])
    }

    /// Maps luma to a gradient from the colour `black` to the colour `white`.
    fn ramp(black: [f32; 3], white: [f32; 3]) -> Self {
        Self([0, 1, 2].map(|c| {
            let [r, g, b] = LUMA.map(|share| share * (white[c] - black[c]));
            [r, g, b, black[c]]
        }))
    }

    /// Interpolates between `other`, at a `share` of 0, and this map, at 1.
    fn mixed(self, share: f32, other: Self) -> Self {
        let mix = |this: f32, other: f32| other + share * (this - other);
        Self([0, 1, 2].map(|row| [0, 1, 2, 3].map(|at| mix(self.0[row][at], other.0[row][at]))))
    }

    #[inline(always)]
    fn of(&self, [r, g, b]: [f32; 3]) -> [f32; 3] {
        self.0
            .map(|[from_r, from_g, from_b, plus]| from_r * r + from_g * g + from_b * b + plus)
    }

    /// Whether the map turns grays into colours. Differences of less than a 16-bit level do not count.
    fn colours(&self) -> bool {
        let [r, g, b] = self.0.map(|[r, g, b, plus]| (r + g + b, plus));
        let differs = |a: f32, b: f32| (a - b).abs() > 1e-5;
        [g, b]
            .into_iter()
            .any(|other| differs(r.0, other.0) || differs(r.1, other.1))
    }
}

impl Map {
    /// Returns the map, or `None` if it changes nothing.
    fn affine(affine: Affine) -> Option<Self> {
        (affine != Affine::IDENTITY).then_some(Self::Affine(affine))
    }

    fn colours(&self) -> bool {
        match self {
            Self::Curve(_) | Self::Chroma(_) | Self::Threshold(_) => false,
            Self::Affine(affine) => affine.colours(),
            Self::Pixel { colours, .. } => *colours,
        }
    }

    /// Returns the model in which the map is applied to images of `model`.
    fn works_in(&self, model: Model) -> Model {
        match (self, model) {
            (_, Model::Gray) if !self.colours() => model,
            (
                Self::Chroma(_),
                Model::YCbCr {
                    matrix: Mixing::Bt601,
                    ..
                },
            ) => model,
            _ => Model::Rgb,
        }
    }

    /// Maps a gray `level` in 0..=1 to the level of the result.
    fn gray(&self, level: f64) -> f64 {
        let pixel = [level as f32; 3];
        let mapped = match self {
            Self::Curve(curve) => return curve(level),
            Self::Chroma(_) => return level,
            Self::Affine(affine) => affine.of(pixel),
            Self::Threshold(least) => return f64::from(u8::from(pixel[0] >= *least)),
            Self::Pixel { map, .. } => map(pixel),
        };
        mapped[0].into()
    }

    fn apply<T: Sample>(&self, planes: &mut Planes<T>) {
        let colours = &mut planes.colours;
        match (self, planes.model) {
            (Self::Chroma(_), Model::Gray) => {}
            (_, Model::Gray) => look_up(colours, |level| self.gray(level)),
            (Self::Curve(curve), _) => look_up(colours, curve),
            (Self::Chroma(factor), Model::YCbCr { .. }) => shrink(&mut colours[1..], *factor),
            (Self::Chroma(factor), _) => {
                let gray = Affine::ramp([0.0; 3], [1.0; 3]);
                let affine = Affine::IDENTITY.mixed(*factor, gray);
                each(colours, |pixel| affine.of(pixel));
            }
            (Self::Affine(affine), _) => each(colours, |pixel| affine.of(pixel)),
            (Self::Threshold(least), _) => each(colours, |[r, g, b]| {
                let luma = LUMA[0] * r + LUMA[1] * g + LUMA[2] * b;
                [if luma >= *least { 1.0 } else { 0.0 }; 3]
            }),
            (Self::Pixel { map, .. }, _) => each(colours, map),
        }
    }

    /// Returns the estimated picoseconds per px to apply the map.
    fn picos(&self) -> u64 {
        match self {
            Self::Chroma(_) => 5_000,
            Self::Curve(_) => 4_500,
            Self::Affine(_) | Self::Threshold(_) => 6_000,
            Self::Pixel { .. } => 80_000,
        }
    }
}

/// Moves chroma towards its neutral value: its difference from that value is multiplied by `factor`.
fn shrink<T: Sample>(chroma: &mut [Grid<T>], factor: f32) {
    let middle = 128.0 * f32::from(T::UNIT);
    for grid in chroma {
        with_modern_instructions(
            #[inline(always)]
            || {
                for sample in grid.samples_mut() {
                    *sample = T::round(middle + factor * (sample.float() - middle));
                }
            },
        );
    }
}

/// Maps every sample by `curve`, with a lookup table. `curve` gets and returns shares of full scale; results are
/// clamped to 0..=1.
fn look_up<T: Sample>(grids: &mut [Grid<T>], curve: impl Fn(f64) -> f64) {
    let full = f64::from(T::MAX.float());
    let levels = 0..=T::MAX.float() as u32;
    let table: Vec<T> = levels
        .map(|level| {
            let value = curve(f64::from(level) / full).clamp(0.0, 1.0);
            T::of((value * full).round() as u16)
        })
        .collect();
    for sample in grids.iter_mut().flat_map(Grid::samples_mut) {
        // Every sample is a valid index, because the table has one entry for each value.
        *sample = table[sample.float() as usize];
    }
}

/// Maps every pixel of red, green and blue planes. `map` gets and returns red, green and blue as shares of full scale.
#[inline(always)]
fn each<T: Sample>(rgb: &mut [Grid<T>], map: impl Fn([f32; 3]) -> [f32; 3]) {
    let [r, g, b] = rgb else { return };
    let full = T::MAX.float();
    let rows = r.samples_mut().iter_mut().zip(g.samples_mut());
    let pixels = rows.zip(b.samples_mut());
    with_modern_instructions(
        #[inline(always)]
        || {
            for ((r, g), b) in pixels {
                let mapped = map([r.float() / full, g.float() / full, b.float() / full]);
                let [red, green, blue] = mapped.map(|value| T::round(value * full));
                (*r, *g, *b) = (red, green, blue);
            }
        },
    );
}

impl Op for Tone {
    fn word(&self) -> &'static Word {
        self.word
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let read = || {
            let texts = self.word.read(&effect.args)?;
            (self.map)(&Args {
                word: self.word,
                texts,
            })
        };
        let map = read().map_err(|error| wrong(effect, &error))?;
        Ok(map.map(|map| {
            Box::new(Toned {
                effect: effect.clone(),
                map,
            }) as Box<dyn Stage>
        }))
    }
}

/// The arguments of an effect, checked against the declaration of the effect's word.
struct Args<'a> {
    word: &'static Word,
    texts: [Option<&'a str>; 3],
}

impl Args<'_> {
    /// Returns argument `at` as written in the recipe, or its default.
    fn text(&self, at: usize) -> &str {
        let default = || self.word.args[at].default.unwrap_or_default();
        self.texts[at].unwrap_or_else(default)
    }

    fn number(&self, at: usize) -> Result<f64, ParseError> {
        self.word.args[at].read_number(self.text(at))
    }

    /// Returns argument `at` as red, green and blue in 0..=1.
    fn colour(&self, at: usize) -> Result<[f32; 3], ParseError> {
        let colour = self.word.args[at].read_colour(self.text(at))?;
        Ok([colour.r, colour.g, colour.b].map(|level| f32::from(level) / 255.0))
    }
}

/// The stage of a tone effect: a map applied to every pixel.
struct Toned {
    /// The effect as written in the recipe.
    effect: Effect,
    map: Map,
}

impl Toned {
    /// Returns the model of the result: the model that the map works in, so that the next effect need not convert
    /// again. A CMYK image is converted back, because the planner has decided that it stays CMYK.
    fn model_after(&self, model: Model) -> Model {
        match model {
            Model::Cmyk => model,
            _ => self.map.works_in(model),
        }
    }
}

impl Stage for Toned {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        let (works_in, after) = (
            self.map.works_in(frame.model),
            self.model_after(frame.model),
        );
        by_depth!(frame, planes => {
            let mut planes = remodelled(planes, works_in, None, context.interrupt)?;
            context.check()?;
            self.map.apply(&mut planes);
            remodelled(planes, after, None, context.interrupt)?.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            model: self.model_after(traits.model),
            ..traits
        }
    }

    fn adds_colour(&self) -> bool {
        self.map.colours()
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let pixels = u64::from(width) * u64::from(height);
        let converts = self.map.works_in(traits.model) != traits.model;
        let picos = self.map.picos() + if converts { PICOS_CONVERTED } else { 0 };
        Cost {
            nanos: pixels * picos / 1000,
            scratch: if converts {
                3 * pixels * bytes(traits.depth)
            } else {
                0
            },
        }
    }
}

/// Estimated picoseconds per px to convert to red, green and blue.
const PICOS_CONVERTED: u64 = 6_000;

impl fmt::Display for Toned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}

impl fmt::Debug for Toned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Toned({self})")
    }
}
