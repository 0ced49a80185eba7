//! `shadow:SIGMA+RIGHTxDOWN+COLOUR`: a shadow behind the opaque parts of an image, and behind text.

use std::fmt;

use andon_recipe::{Arg, Colour, Effect, ParseError, Word};

use super::gaussian::Gaussian;
use super::geometry::Geometry;
use super::lay::lay;
use crate::buffers::Buffer;
use crate::color;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Traits};
use crate::limits::Interrupt;
use crate::resize::Resizable;
use crate::samples::{Planes, Sample, by_depth, bytes, count};
use crate::stage::{Context, Op, Stage, wrong};

/// Casts a shadow behind an image with transparency.
pub(super) struct ShadowOp;

/// Arguments of a shadow: its blur, its offset and its colour.
pub(super) const ARGS: [Arg; 4] = [
    Arg::number("sigma", 0.0, 100.0)
        .unit("px")
        .help("standard deviation of the shadow's blur; 0: its edges are sharp"),
    FARTHER
        .after('+')
        .help("how far to the right it falls; less than 0: to the left"),
    Arg {
        name: "down",
        ..FARTHER
            .after('x')
            .help("how far down it falls; less than 0: up")
    },
    Arg::colour("colour")
        .after('+')
        .default("000000")
        .help("of the shadow, which it may make translucent"),
];

const FARTHER: Arg = Arg::whole("right", -1000, 1000).unit("px").default("0");

const WORD: Word = Word {
    name: "shadow",
    args: &ARGS,
    help: "casts a shadow behind what is opaque of an image with transparency; it ends at the sides of the image, so pad \
           comes first",
    example: "shadow:3+4x4+00000080",
};

/// A shadow's parsed arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shadow {
    /// The kernel that the shadow is blurred with; `None` for sharp edges.
    blur: Option<Gaussian>,
    /// Offset of the shadow to the right and down, in px.
    offset: (i64, i64),
    colour: Colour,
}

impl Shadow {
    /// Parses the texts of [`ARGS`]. Returns `None` if the first text is missing, and for a shadow that would be
    /// invisible.
    ///
    /// # Errors
    /// [`ParseError`] for an argument that is wrong.
    pub(super) fn read(texts: [Option<&str>; 4]) -> Result<Option<Self>, ParseError> {
        let [Some(sigma), right, down, colour] = texts else {
            return Ok(None);
        };
        let blur = Geometry {
            radius: 0.0,
            sigma: ARGS[0].read_number(sigma)?,
            amount: None,
            threshold: None,
        };
        let shadow = Self {
            blur: blur.is_visible().then(|| Gaussian::rows_and_columns(&blur)),
            offset: (
                ARGS[1].read_whole(right.unwrap_or("0"))?,
                ARGS[2].read_whole(down.unwrap_or("0"))?,
            ),
            colour: ARGS[3].read_colour(colour.unwrap_or("000000"))?,
        };
        let is_beneath = shadow.blur.is_none() && shadow.offset == (0, 0);
        Ok((shadow.colour.a > 0 && !is_beneath).then_some(shadow))
    }

    /// Returns how far beyond its image the shadow reaches, in px.
    pub(super) fn reach(&self) -> f64 {
        let (right, down) = self.offset;
        let farther = right.abs().max(down.abs()) as f64;
        farther + self.blur.map_or(0.0, |blur| f64::from(blur.reach()))
    }

    /// Whether the shadow has a colour other than gray.
    pub(super) fn is_colourful(&self) -> bool {
        color::is_colourful(self.colour)
    }

    /// Puts the shadow behind an image. The shadow of an opaque image is hidden, so such an image is returned
    /// unchanged.
    pub(super) fn cast<T: Resizable>(
        &self,
        image: Planes<T>,
        interrupt: &dyn Interrupt,
    ) -> Result<Planes<T>> {
        let Some(alpha) = &image.alpha else {
            return Ok(image);
        };
        let mut cover = moved(alpha, self.offset)?;
        if let Some(blur) = &self.blur {
            cover = blur.blurred(cover, interrupt)?;
        }
        fade(&mut cover, f32::from(self.colour.a) / f32::from(u8::MAX));
        let colour = color::sample(self.colour, image.model, image.depth);
        let mut shadow = image.filled_like(image.width, image.height, colour);
        shadow.alpha = Some(cover);
        lay(&mut shadow, &image, 0, 0);
        Ok(shadow)
    }

    /// Returns the estimated cost for an image of this size with alpha.
    pub(super) fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let all = count(width, height, traits.model, true);
        let plane = u64::from(width) * u64::from(height);
        let blurred = self
            .blur
            .map_or(0, |blur| blur.nanos_of_plane(width, height));
        Cost {
            nanos: blurred + all * PICOS_LAID / 1000,
            // The shadow's planes, and its opacity moved, blurred and shrunken.
            scratch: (all + 3 * plane) * bytes(traits.depth),
        }
    }
}

/// Multiplies the samples of an alpha plane by an opacity, 0 to 1.
pub(super) fn fade<T: Sample>(alpha: &mut Grid<T>, opacity: f32) {
    if opacity < 1.0 {
        for alpha in alpha.samples_mut() {
            *alpha = T::round(alpha.float() * opacity);
        }
    }
}

/// Picoseconds per sample to move the opacity, and to composite a translucent image over the shadow.
const PICOS_LAID: u64 = 6_000;

/// Returns a plane moved to the right and down, with samples of 0 in the area that becomes free.
fn moved<T: Sample>(grid: &Grid<T>, (right, down): (i64, i64)) -> Result<Grid<T>> {
    let (width, height) = (grid.width() as usize, grid.height());
    let shift = usize::try_from(right.unsigned_abs())
        .unwrap_or(width)
        .min(width);
    let mut samples = Buffer::with_capacity(width * height as usize);
    let nothing = |count: usize| std::iter::repeat_n(T::default(), count);
    for row in 0..i64::from(height) {
        let from = u32::try_from(row - down).ok().filter(|row| *row < height);
        match from.map(|row| grid.row(row)) {
            None => samples.extend(nothing(width)),
            Some(row) if right < 0 => {
                samples.extend_from_slice(&row[shift..]);
                samples.extend(nothing(shift));
            }
            Some(row) => {
                samples.extend(nothing(shift));
                samples.extend_from_slice(&row[..width - shift]);
            }
        }
    }
    Grid::from_buffer(grid.width(), height, samples)
}

impl Op for ShadowOp {
    fn word(&self) -> &'static Word {
        &WORD
    }

    fn parse(&self, effect: &Effect) -> Result<Option<Box<dyn Stage>>> {
        let shadow = WORD.read(&effect.args).and_then(Shadow::read);
        let shadow = shadow.map_err(|error| wrong(effect, &error))?;
        let effect = effect.clone();
        Ok(shadow.map(|shadow| Box::new(Cast { effect, shadow }) as Box<dyn Stage>))
    }
}

/// The stage that puts a shadow behind the image.
#[derive(Debug)]
struct Cast {
    /// The effect as written in the recipe.
    effect: Effect,
    shadow: Shadow,
}

impl Stage for Cast {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        by_depth!(frame, planes => self.shadow.cast(planes, context.interrupt)?.frame())
    }

    fn adds_colour(&self) -> bool {
        self.shadow.is_colourful()
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        match traits.alpha {
            true => self.shadow.cost(width, height, traits),
            false => Cost::default(),
        }
    }
}

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}
